//! Laws of a world: the same events give the same motion, and going back really goes back.

#![allow(clippy::unwrap_used, reason = "a test may panic, also in the functions it shares")]

use glam::{Vec2, Vec3};
use pomp_controllers::ControllerKind;
use pomp_generator::{Dynamics, GeneratorConfig, Steering};
use pomp_model::Model;
use pomp_motion::{Gait, Recording};
use pomp_studio::protocol::{FrameMessage, PushRequest, ThrowRequest};
use pomp_studio::world::{Bump, SceneRequest, World, WorldLimits, repeated, replay};
use std::path::Path;
use std::sync::{Arc, LazyLock};

static MODEL: LazyLock<Arc<Model>> = LazyLock::new(|| {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../data/models/compact");
    Arc::new(Model::load(&folder, &Default::default()).unwrap())
});

const LIMITS: WorldLimits = WorldLimits { recording_s: 20.0, rewind_s: 5.0 };
const AHEAD: Steering = Steering::toward(Vec2::Y, Gait::Walk);
const SHOVE: PushRequest =
    PushRequest { body: 11, impulse_ns: Vec3::new(60.0, 0.0, 0.0), point_local: Vec3::ZERO };

fn scene() -> SceneRequest {
    SceneRequest::first(&MODEL, &GeneratorConfig::default(), "flat", 3)
}

fn world(scene: SceneRequest) -> World {
    World::new(Arc::clone(&MODEL), &GeneratorConfig::default(), scene, LIMITS).unwrap()
}

fn run(world: &mut World, frames: usize) {
    for _ in 0..frames {
        world.step().unwrap();
    }
}

/// The last frame without what the clock says, and whether it is a repetition.
fn shown(world: &World) -> FrameMessage {
    let frame = world.frame_message().unwrap();
    FrameMessage { step_ms: 0.0, fallen: false, replaying: false, recovered: false, ..frame }
}

fn pelvis(world: &World) -> Vec3 {
    let recording = world.recording().unwrap();
    recording.positions[recording.frames() - 1][0]
}

#[test]
fn it_walks_where_it_is_steered_and_stops_when_let_go() {
    let mut world = world(scene());
    run(&mut world, 30);
    world.steer(AHEAD).unwrap();
    run(&mut world, 240);
    let walked = pelvis(&world);
    assert!(walked.z > 2.0, "four seconds of walking ahead led to {walked}");
    world.steer(Steering::toward(Vec2::X, Gait::Walk)).unwrap();
    run(&mut world, 240);
    let turned = pelvis(&world);
    assert!(turned.x > walked.x + 1.5, "four seconds to the left led from {walked} to {turned}");
    world.steer(Steering::STILL).unwrap();
    run(&mut world, 120);
    let stopped = pelvis(&world);
    run(&mut world, 60);
    let later = pelvis(&world);
    assert!(later.distance(stopped) < 0.4, "it stands: {stopped} and a second later {later}");
    assert!(!world.generator().has_fallen());
}

#[test]
fn it_crouches_where_it_stands_and_rises_again_when_let_go_and_hops_when_asked_to_jump() {
    let heights = |gait: Gait| {
        let mut world = world(scene());
        run(&mut world, 60);
        let standing = pelvis(&world).y;
        world.steer(Steering::toward(Vec2::ZERO, gait)).unwrap();
        run(&mut world, 180);
        let asked = world.recording().unwrap();
        let asked: Vec<f32> = (100..asked.frames()).map(|frame| asked.positions[frame][0].y).collect();
        world.steer(Steering::STILL).unwrap();
        run(&mut world, 180);
        let lowest = asked.iter().copied().fold(f32::INFINITY, f32::min);
        let highest = asked.iter().copied().fold(f32::NEG_INFINITY, f32::max);
        println!(
            "{gait:?}: stands at {standing:.2} m, {lowest:.2} to {highest:.2} m, then {:.2} m",
            pelvis(&world).y
        );
        (standing, lowest, highest, pelvis(&world).y)
    };
    let (standing, lowest, _, after) = heights(Gait::Crouch);
    assert!(lowest < standing - 0.15 && after > standing - 0.1);
    let (standing, _, highest, after) = heights(Gait::Jump);
    assert!(highest > standing + 0.03 && after > standing - 0.1);
}

#[test]
fn the_events_of_a_scene_reproduce_it_bit_for_bit() {
    let mut first = world(scene());
    first.steer(AHEAD).unwrap();
    run(&mut first, 40);
    first.push(SHOVE).unwrap();
    run(&mut first, 20);
    first.set_assist(0.8).unwrap();
    first.set_denoising_steps(2).unwrap();
    run(&mut first, 30);
    let link = serde_json::to_string(&first.scene_with_events().unwrap()).unwrap();
    let mut second = world(serde_json::from_str(&link).unwrap());
    assert!(second.is_replaying());
    run(&mut second, 90);
    assert_eq!(shown(&first), shown(&second));
    assert_eq!(second.scene_with_events(), first.scene_with_events());
    let pushes = second.recording().unwrap().generation.unwrap().pushes;
    assert_eq!((pushes.len(), pushes[0].impulse_ns), (1, SHOVE.impulse_ns));
}

#[test]
fn styles_act_at_once_are_events_and_are_taken_back() {
    let mut first = world(scene());
    let names = first.offered_styles();
    let number = |name: &str| names.iter().position(|style| style == name).unwrap();
    first.steer(AHEAD).unwrap();
    run(&mut first, 60);
    first.set_style(number("zombie"), 0.7).unwrap();
    run(&mut first, 60);
    let styled = shown(&first);
    first.set_style(number("stealthy"), 0.5).unwrap();
    let weights = first.style_weights();
    assert_eq!((weights[number("zombie")], weights[number("stealthy")]), (0.5, 0.5), "the other gives way");
    run(&mut first, 30);
    let link = serde_json::to_string(&first.scene_with_events().unwrap()).unwrap();
    let mut second = world(serde_json::from_str(&link).unwrap());
    run(&mut second, 150);
    assert_eq!(shown(&first), shown(&second));
    let again = replay(&first.recording().unwrap(), Arc::clone(&MODEL), || ()).unwrap().unwrap();
    assert_eq!(again.differences, []);
    first.rewind(0.5).unwrap();
    assert_eq!(shown(&first), styled);
    assert_eq!(first.style_weights()[number("zombie")], 0.7);
    let refused = first.set_style(names.len(), 0.5).unwrap_err().to_string();
    assert!(refused.contains("zombie"), "{refused}");
    assert!(first.set_style(0, 1.5).is_err() && first.set_style(0, f32::NAN).is_err());
    let unknown = SceneRequest { style: Some([("zmobie".to_owned(), 0.5)].into()), ..scene() };
    let refused = unknown.validate(&MODEL, &GeneratorConfig::default()).unwrap_err().to_string();
    assert!(refused.contains("zmobie") && refused.contains("stealthy"), "{refused}");
}

#[test]
fn going_back_takes_everything_back() {
    let mut world = world(scene());
    world.steer(AHEAD).unwrap();
    run(&mut world, 100);
    let before = shown(&world);
    world.set_denoising_steps(1).unwrap();
    world.set_assist(0.5).unwrap();
    world.push(SHOVE).unwrap();
    run(&mut world, 60);
    let pushed = pelvis(&world);
    world.rewind(1.0).unwrap();
    assert_eq!(world.frame(), 100);
    assert_eq!(shown(&world), before, "the frame a second ago is shown again");
    assert_eq!((world.assist(), world.denoising_steps()), (1.0, scene().denoising_steps));
    run(&mut world, 60);
    let unpushed = pelvis(&world);
    println!("after a push {pushed}, without it {unpushed}");
    assert!(pushed.x - unpushed.x > 0.005, "the push that was taken back had moved it");
    assert_eq!(world.recording().unwrap().frames(), 160);
    assert!(world.recording().unwrap().generation.unwrap().pushes.is_empty());
}

#[test]
fn going_back_further_than_possible_goes_as_far_as_it_can() {
    let mut world = world(scene());
    run(&mut world, 20);
    world.rewind(1e6).unwrap();
    assert_eq!(world.frame(), 1);
    for seconds in [0.0, -1.0, f32::NAN, f32::INFINITY] {
        assert!(world.rewind(seconds).is_err(), "{seconds} s");
    }
}

#[test]
fn a_hand_on_the_controls_ends_a_replay() {
    let mut first = world(scene());
    first.steer(AHEAD).unwrap();
    run(&mut first, 10);
    first.steer(Steering::STILL).unwrap();
    run(&mut first, 1);
    let mut second = world(first.scene_with_events().unwrap());
    run(&mut second, 5);
    second.steer(AHEAD).unwrap();
    assert!(!second.is_replaying());
}

#[test]
fn a_link_remembers_where_it_faced() {
    let mut first = world(scene());
    run(&mut first, 20);
    // Turns to the left on the spot.
    first.steer(Steering { facing: Some(Vec2::X), ..Steering::STILL }).unwrap();
    run(&mut first, 100);
    let place = first.generator().root_position();
    assert!(place.length() < 0.4, "it is to stay where it is, and is at {place}");
    let heading = first.generator().root_yaw();
    assert!(heading > 0.8, "heading {heading} rad after 1.7 s");
    first.steer(Steering::STILL).unwrap();
    run(&mut first, 5);
    let scene = first.scene_with_events().unwrap();
    assert!(
        serde_json::to_string(&scene.events)
            .unwrap()
            .contains(r#"{"steer_facing":[20,0.0,0.0,"walk",[1.0,0.0]]}"#)
    );
    let mut second = world(scene);
    run(&mut second, 125);
    assert_eq!(shown(&second), shown(&first));
}

#[test]
fn a_scene_is_moved_by_the_controller_that_it_names_and_a_link_keeps_it() {
    let pfnn = SceneRequest { controller: Some(ControllerKind::Pfnn), ..scene() };
    let base = GeneratorConfig { dynamics: Dynamics::KinematicOnly, ..GeneratorConfig::default() };
    let moved = |scene: &SceneRequest| {
        let mut world = World::new(Arc::clone(&MODEL), &base, scene.clone(), LIMITS).unwrap();
        world.steer(AHEAD).unwrap();
        run(&mut world, 90);
        world
    };
    let [by_pfnn, by_pomp] = [&pfnn, &scene()].map(moved);
    assert_eq!((by_pfnn.controller(), by_pomp.controller()), (ControllerKind::Pfnn, ControllerKind::Pomp));
    let [a, b] = [&by_pfnn, &by_pomp].map(|world| world.recording().unwrap().positions);
    assert!(a != b, "another controller moves it otherwise");
    // The link names the controller, and the scene that it is read as moves alike.
    let link = serde_json::to_string(&by_pfnn.scene_with_events().unwrap()).unwrap();
    assert!(link.contains(r#""controller":"pfnn""#), "{link}");
    let mut again =
        World::new(Arc::clone(&MODEL), &base, serde_json::from_str(&link).unwrap(), LIMITS).unwrap();
    run(&mut again, 90);
    assert_eq!(again.recording().unwrap().positions, a);
    // What is recorded says so, and is made again by the same controller alone.
    let recording = by_pfnn.recording().unwrap();
    assert!(recording.source.contains("controller pfnn"), "{}", recording.source);
    assert!(replay(&recording, Arc::clone(&MODEL), || ()).unwrap().unwrap().differences.is_empty());
    // A scene without one is written as before.
    assert!(!serde_json::to_string(&scene()).unwrap().contains("controller"));
}

#[test]
fn rejects_scenes_out_of_range_by_the_name_of_the_field() {
    let field = |change: fn(&mut SceneRequest)| {
        let mut scene = scene();
        change(&mut scene);
        scene.validate(&MODEL, &GeneratorConfig::default()).unwrap_err().to_string()
    };
    assert!(field(|s| s.terrain = "../../etc/passwd".to_owned()).contains("terrain"));
    assert!(field(|s| s.friction = f32::NAN).contains("friction"));
    assert!(field(|s| s.mass_kg = 1e9).contains("mass_kg"));
    assert!(field(|s| s.seed = u64::MAX).contains("seed"));
    assert!(field(|s| s.denoising_steps = 0).contains("denoising_steps"));
    assert!(field(|s| s.assist = 2.0).contains("assist"));
    let missing = field(|s| s.controller = Some(ControllerKind::Matching));
    assert!(missing.contains("controller matching") || missing.contains("controller"), "{missing}");
    assert!(
        missing.contains("pomp, phase, pfnn, mann, local-phases, nsm, learned-matching"),
        "it says which there are: {missing}"
    );
    assert!(
        field(|s| s.events = serde_json::from_str(r#"[{"push":[3,99,[1,0,0],[0,0,0]]}]"#).unwrap())
            .contains("body")
    );
    assert!(
        field(|s| s.events = serde_json::from_str(r#"[{"assist":[3,1]},{"assist":[2,1]}]"#).unwrap())
            .contains("frame")
    );
    assert!(
        field(|s| s.events = serde_json::from_str(r#"[{"steer":[3,0,1,"lie"]}]"#).unwrap()).contains("gait")
    );
    assert!(
        field(|s| s.events = serde_json::from_str(r#"[{"steer_facing":[3,0,1,"walk",[9,0]]}]"#).unwrap())
            .contains("direction")
    );
}

#[test]
fn boxes_and_bumps_are_part_of_a_link_and_of_what_is_taken_back() {
    let mut first = world(scene());
    run(&mut first, 20);
    let thrown = ThrowRequest {
        side_m: 0.3,
        mass_kg: 8.0,
        position: Vec3::new(0.2, 1.3, 2.0),
        velocity: Vec3::new(0.0, 1.0, -9.0),
    };
    let bump = Bump { x: 1.5, z: 1.5, radius_m: 0.8, height_m: 0.05 };
    first.throw(thrown).unwrap();
    first.bump(bump).unwrap();
    first.bump(bump).unwrap();
    run(&mut first, 5);
    let patch = first.take_changed_ground().unwrap();
    assert!(first.take_changed_ground().is_none() && patch.rows.len() < 20);
    assert!((first.generator().terrain().height(1.5, 1.5) - 0.1).abs() < 1e-5);
    run(&mut first, 45);
    assert_eq!(first.generator().boxes().len(), 1);
    let link = serde_json::to_string(&first.scene_with_events().unwrap()).unwrap();
    let mut second = world(serde_json::from_str(&link).unwrap());
    run(&mut second, 70);
    assert_eq!(shown(&first), shown(&second));
    assert_eq!(first.generator().terrain(), second.generator().terrain());
    let scene_so_far = first.scene_with_events().unwrap();
    let again = repeated(Arc::clone(&MODEL), &GeneratorConfig::default(), scene_so_far.clone(), 70).unwrap();
    assert_eq!(again.positions, first.recording().unwrap().positions, "the same model repeats it to the bit");
    let endless = repeated(Arc::clone(&MODEL), &GeneratorConfig::default(), scene_so_far, 100_000);
    assert!(endless.unwrap_err().to_string().contains("keep it shorter"));
    let mut calm = world(scene());
    run(&mut calm, 70);
    let pushed = (pelvis(&first) - pelvis(&calm)).length();
    println!("the box moved the pelvis by {pushed:.3} m");
    assert!(pushed > 0.01);
    first.rewind(1.0).unwrap();
    assert!(first.generator().boxes().is_empty());
    assert_eq!(first.generator().terrain().min_max(), (0.0, 0.0));
    assert!(first.take_changed_ground().is_some(), "the page is told that the bumps are gone");
    run(&mut first, 60);
    assert_eq!(shown(&first), shown(&calm), "it is as if nothing had been thrown");
}

#[test]
fn a_box_that_cannot_fly_is_refused_in_words_and_the_world_goes_on() {
    let mut world = world(scene());
    run(&mut world, 5);
    let inside = ThrowRequest { side_m: 0.3, mass_kg: 8.0, position: Vec3::Y, velocity: Vec3::ZERO };
    world.throw(inside).unwrap();
    run(&mut world, 1);
    let refusals = world.take_refusals();
    assert!(refusals.len() == 1 && refusals[0].contains("farther away"), "{refusals:?}");
    assert!(world.scene_with_events().unwrap().events.is_empty());
    assert!(world.throw(ThrowRequest { mass_kg: 1e6, ..inside }).unwrap_err().to_string().contains("mass"));
    assert!(world.bump(Bump { x: 0.0, z: 0.0, radius_m: 99.0, height_m: 0.01 }).is_err());
    run(&mut world, 5);
}

/// A world in which everything happened that can: steering, a push, a box, bumps, other assist and steps, and a way back.
fn eventful(limits: WorldLimits) -> World {
    let mut world = World::new(Arc::clone(&MODEL), &GeneratorConfig::default(), scene(), limits).unwrap();
    world.steer(AHEAD).unwrap();
    run(&mut world, 40);
    world.push(SHOVE).unwrap();
    let thrown = ThrowRequest {
        side_m: 0.3,
        mass_kg: 8.0,
        position: Vec3::new(2.0, 1.3, 1.0),
        velocity: Vec3::new(-7.0, 1.0, 0.3),
    };
    world.throw(thrown).unwrap();
    run(&mut world, 25);
    world.bump(Bump { x: 0.2, z: 1.5, radius_m: 0.8, height_m: 0.05 }).unwrap();
    world.set_assist(0.7).unwrap();
    world.set_denoising_steps(2).unwrap();
    run(&mut world, 20);
    world.rewind(0.3).unwrap();
    world.push(PushRequest { body: 0, ..SHOVE }).unwrap();
    run(&mut world, 30);
    world
}

/// The recording as it comes back from a file.
fn on_disk(world: &World) -> Recording {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("rollout.npz");
    pomp_formats::write_recording(&path, &world.recording().unwrap()).unwrap();
    pomp_formats::read_recording(&path).unwrap()
}

#[test]
fn a_recording_of_the_studio_is_made_again_bit_for_bit_from_its_file() {
    let world = eventful(LIMITS);
    let recorded = on_disk(&world);
    assert!(
        recorded.generation.as_ref().unwrap().pushes.len() == 2 && recorded.frames() as u32 == world.frame()
    );
    let mut frames = 0;
    let again = replay(&recorded, Arc::clone(&MODEL), || frames += 1).unwrap().unwrap();
    assert_eq!((again.differences.as_slice(), frames), (&[][..], recorded.frames()));
    let terrain = again.recording.terrain.as_ref().unwrap();
    assert!(terrain.heights.values().iter().any(|height| *height > 0.01), "the ground has its bump");

    // A recording that has lost its beginning is the end of the same run.
    let short = eventful(WorldLimits { recording_s: 0.5, ..LIMITS });
    let recorded = on_disk(&short);
    assert_eq!(recorded.frames(), 30);
    let mut frames = 0;
    let again = replay(&recorded, Arc::clone(&MODEL), || frames += 1).unwrap().unwrap();
    assert_eq!((again.differences.as_slice(), frames), (&[][..], short.frame()));
}

#[test]
fn rejects_a_recording_whose_recipe_was_changed_or_is_of_another_model_and_tells_what_differs() {
    let recorded = on_disk(&eventful(LIMITS));
    let changed = |from: &str, to: &str| {
        let mut changed = recorded.clone();
        let recipe = changed.recipe.as_mut().unwrap();
        assert!(recipe.settings.contains(from), "{}", recipe.settings);
        recipe.settings = recipe.settings.replacen(from, to, 1);
        replay(&changed, Arc::clone(&MODEL), || ())
    };
    let found = changed("\"seed\":3", "\"seed\":4").unwrap().unwrap().differences;
    assert!(!found.is_empty(), "another seed is another motion");
    assert!(changed("\"assist\":1.0,", "").is_err());
    assert!(changed("\"throw\":[40,0.3", "\"throw\":[40,30.0").unwrap_err().to_string().contains("box"));
    let hash = MODEL.files_sha256.clone().unwrap();
    assert!(changed(&hash, "0123").unwrap_err().to_string().contains("0123"));
    let mut none = recorded.clone();
    none.recipe = None;
    assert!(replay(&none, Arc::clone(&MODEL), || ()).unwrap().is_none(), "it is none of the studio's");
}

#[test]
fn the_model_of_all_directions_is_steered_aside_on_its_own_feet_with_the_steps_of_its_own_loop() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../data/models/compact_unrolled");
    let model = Arc::new(Model::load(&folder, &Default::default()).unwrap());
    let (assisted, own_feet) = (GeneratorConfig::default(), GeneratorConfig::own_feet_unrolled());
    let steps = |scene: SceneRequest| scene.led_by(&assisted, &own_feet).denoising_steps;
    let of_compact = scene();
    assert_eq!(steps(of_compact.clone()), own_feet.sampler.steps, "nobody chose those of the other loop");
    assert_eq!(steps(SceneRequest { denoising_steps: 3, ..of_compact }), 3, "a page chose them");

    let scene = SceneRequest::first(&model, &own_feet, "flat", 3);
    let limits = WorldLimits { recording_s: 5.0, rewind_s: 1.0 };
    let mut world = World::new(model, &own_feet, scene, limits).unwrap();
    let aside = Steering { facing: Some(Vec2::Y), ..Steering::toward(Vec2::X, Gait::Walk) };
    world.steer(aside).unwrap();
    for frame in 0..240 {
        world.step().unwrap();
        assert!(!world.frame_message().unwrap().fallen, "it falls in frame {frame}");
    }
    let recording = world.recording().unwrap();
    let simulation = recording.simulation.as_ref().unwrap();
    assert!(simulation.assist_force.iter().all(|force| *force == Vec3::ZERO), "nothing outside holds it");
    let at = pelvis(&world);
    assert!(at.x > 1.0 && at.z.abs() < 1.0, "it went to {at}");

    let march = world.offered_styles().iter().position(|style| style == "march").expect("it has styles");
    world.set_style(march, 0.7).unwrap();
    world.step().unwrap();
    assert_eq!(world.style_weights()[march], 0.7);
}
