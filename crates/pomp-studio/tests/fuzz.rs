//! Fuzz target of the page's messages: whatever bytes come, they are refused or one message of the protocol, and a world does
//! what it says or refuses it, and goes on.

#![allow(clippy::unwrap_used, reason = "a test may panic, also in the functions it shares")]

#[path = "../../../tests/fuzz_input.rs"]
mod fuzz_input;

use fuzz_input::{FuzzInput, ITERATIONS, bounded};
use glam::{Vec2, Vec3};
use pomp_generator::{GeneratorConfig, Steering};
use pomp_model::Model;
use pomp_motion::Gait;
use pomp_studio::StudioError;
use pomp_studio::protocol::{FromPage, PushRequest, ThrowRequest};
use pomp_studio::world::{Bump, Event, SceneRequest, World, WorldLimits};
use std::path::Path;
use std::sync::{Arc, Mutex};

const LIMITS: WorldLimits = WorldLimits { recording_s: 2.0, rewind_s: 1.0 };
/// A world moves on a frame after one in so many messages.
const MESSAGES_PER_FRAME: u64 = 10;

fn examples(scene: &SceneRequest) -> Vec<FromPage> {
    let shove = PushRequest { body: 11, impulse_ns: Vec3::new(80.0, 0.0, 0.0), point_local: Vec3::ZERO };
    let (position, velocity) = (Vec3::new(1.0, 2.0, 3.0), Vec3::new(0.0, 1.0, -9.0));
    let events = vec![
        Event::Steer(3, 0.5, -0.5, Gait::Walk),
        Event::SteerFacing(3, 0.5, -0.5, Gait::Walk, [0.6, 0.8]),
        Event::Push(9, 2, [1.0, 0.0, 0.0], [0.0, 0.0, 0.1]),
        Event::Assist(9, 0.5),
        Event::Denoise(10, 2),
        Event::Style(11, 0, 0.5),
        Event::Throw(12, 0.3, 5.0, [1.0, 2.0, 3.0], [0.0, 1.0, -9.0]),
        Event::Bump(20, 0.5, 0.5, 1.0, 0.03),
    ];
    vec![
        FromPage::Steer { sequence: 7, direction: Vec2::new(0.6, 0.8), gait: Gait::Walk, facing: None },
        FromPage::Steer {
            sequence: 8,
            direction: Vec2::X,
            gait: Gait::Walk,
            facing: Some(Vec2::new(0.6, 0.8)),
        },
        FromPage::Push(shove),
        FromPage::Throw(ThrowRequest { side_m: 0.3, mass_kg: 5.0, position, velocity }),
        FromPage::Bump(Bump { x: 0.5, z: -0.5, radius_m: 1.5, height_m: 0.04 }),
        FromPage::Reset { scene: None },
        FromPage::Reset { scene: Some(SceneRequest { events, ..scene.clone() }) },
        FromPage::Pause {},
        FromPage::Resume {},
        FromPage::Step {},
        FromPage::Pace { factor: 0.25 },
        FromPage::Rewind { seconds: 0.1 },
        FromPage::Assist { scale: 0.5 },
        FromPage::Denoise { steps: 4 },
        FromPage::Style { style: 0, weight: 0.5 },
        FromPage::Link {},
    ]
}

/// The numbers of a message that [`FromPage::parse`] promises to be finite.
fn checked_numbers(message: &FromPage) -> Vec<f32> {
    match message {
        FromPage::Steer { direction, facing, .. } => {
            let directions = [*direction, facing.unwrap_or_default()];
            assert!(directions.iter().all(|direction| direction.length() < 1.01), "{directions:?}");
            directions.iter().flat_map(Vec2::to_array).collect()
        }
        FromPage::Push(push) => [push.impulse_ns.to_array(), push.point_local.to_array()].concat(),
        FromPage::Throw(throw) => {
            let sizes = [throw.side_m, throw.mass_kg, 0.0];
            [sizes, throw.position.to_array(), throw.velocity.to_array()].concat()
        }
        FromPage::Bump(bump) => vec![bump.x, bump.z, bump.radius_m, bump.height_m],
        _ => Vec::new(),
    }
}

/// What the server does with a message, but for the clock's part.
fn obey(world: &mut World, model: &Arc<Model>, message: FromPage) -> Result<(), StudioError> {
    match message {
        FromPage::Steer { direction, gait, facing, .. } => world.steer(Steering { direction, gait, facing }),
        FromPage::Push(push) => world.push(push),
        FromPage::Throw(throw) => world.throw(throw),
        FromPage::Bump(bump) => world.bump(bump),
        FromPage::Reset { scene: Some(scene) } => scene.validate(model, &GeneratorConfig::default()),
        FromPage::Rewind { seconds } => world.rewind(seconds),
        FromPage::Assist { scale } => world.set_assist(scale),
        FromPage::Denoise { steps } => world.set_denoising_steps(steps),
        FromPage::Style { style, weight } => world.set_style(style, weight),
        FromPage::Reset { scene: None }
        | FromPage::Pause {}
        | FromPage::Resume {}
        | FromPage::Step {}
        | FromPage::Pace { .. }
        | FromPage::Link {} => Ok(()),
    }
}

#[test]
fn any_message_is_refused_or_done_by_a_world_that_goes_on() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../data/models/compact");
    let model = Arc::new(Model::load(&folder, &Default::default()).unwrap());
    let scene = SceneRequest::first(&model, &GeneratorConfig::default(), "flat", 3);
    let examples = examples(&scene);
    let packed: Vec<Vec<u8>> = examples.iter().map(FromPage::to_bytes).collect();
    let texts: Vec<Vec<u8>> = examples.iter().map(|message| serde_json::to_vec(message).unwrap()).collect();
    let words = [
        "\u{81}",
        "\0",
        "\x7f",
        "steer",
        "push",
        "scene",
        "events",
        "hills",
        "run",
        "jump",
        "do",
        "impulse_ns",
    ];
    let world = World::new(Arc::clone(&model), &GeneratorConfig::default(), scene, LIMITS).unwrap();
    let state = Mutex::new((model, world, 0_u64, 0_u64));
    bolero::check!().with_iterations(ITERATIONS).with_type::<FuzzInput>().for_each(|input| {
        // Changes of the text change values and fields of a message that is packed well.
        let bytes = if input.choice(3) == 0 {
            input.bytes(&packed, &words)
        } else {
            match serde_json::from_slice::<serde_json::Value>(&input.bytes(&texts, &words)) {
                Ok(value) => rmp_serde::to_vec_named(&value).unwrap(),
                Err(_) => return,
            }
        };
        // An array of a declared length reserves up to 1 MiB, at each of the 16 levels that a message may have.
        let message = match bounded(17, || FromPage::parse(&bytes)) {
            Ok(message) => message,
            Err(error) => return assert!(!error.to_string().is_empty()),
        };
        assert!(checked_numbers(&message).iter().all(|number| number.is_finite()), "{message:?}");
        let written = FromPage::parse(&message.to_bytes());
        // A number that is not finite is left to the world in some messages; NaN is not equal to itself.
        assert_eq!(
            format!("{:?}", written.unwrap()),
            format!("{message:?}"),
            "it differs once it is written"
        );

        let (model, world, parsed, done) = &mut *state.lock().unwrap();
        *parsed += 1;
        match obey(world, model, message) {
            Ok(()) => *done += 1,
            Err(error) => assert!(!error.to_string().is_empty()),
        }
        if parsed.is_multiple_of(MESSAGES_PER_FRAME) {
            let stepped = world.step();
            let _shown = (world.take_refusals(), world.take_changed_ground());
            if stepped.is_err() || world.frame() > 600 {
                *world = world.begin_again().unwrap();
            }
            if let Some(frame) = world.frame_message() {
                assert!(!pomp_studio::protocol::ToPage::Frame(Box::new(frame)).to_bytes().is_empty());
            }
        }
    });
    let (_, _, parsed, done) = state.into_inner().unwrap();
    println!("{parsed} of the inputs are messages, {done} were done");
    assert!(done > 0, "no message was done");
}
