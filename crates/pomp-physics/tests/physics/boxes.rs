//! Boxes that are thrown: momentum, rest, reach, and worlds that are kept and taken up again.

use crate::support::*;
use pomp_motion::Pose;
use pomp_motion::glam::{Quat, Vec3};
use pomp_physics::{DynamicConfig, DynamicModule, PoseVelocity, ThrownBox, WorldSnapshot};

fn parcel(position: Vec3, velocity: Vec3) -> ThrownBox {
    ThrownBox {
        size_m: Vec3::new(0.35, 0.3, 0.25),
        mass_kg: 6.0,
        position,
        rotation: Quat::from_rotation_y(0.3),
        velocity,
        spin: Vec3::new(1.0, 0.5, 0.0),
    }
}

fn at_chest(speed: f32) -> ThrownBox {
    parcel(Vec3::new(0.0, 1.3, 1.5), Vec3::NEG_Z * speed)
}

fn standing(config: &DynamicConfig) -> DynamicModule {
    let mut module = module_with(config, &flat());
    module.reset(&stand(), &PoseVelocity::zero(22)).expect("a finite pose");
    module
}

#[test]
fn what_a_box_loses_of_its_momentum_the_body_gains() {
    let config = DynamicConfig { gravity_m_s2: 0.0, ..DynamicConfig::default() };
    let mut module = module_with(&config, &ground(3.0, -3.0, 3.0, |_, _| -40.0));
    module.set_assist_scale(0.0);
    module.reset(&stand(), &PoseVelocity::zero(22)).unwrap();
    module.throw(&at_chest(8.0)).unwrap();
    let box_momentum = |module: &DynamicModule| module.boxes()[0].velocity * module.boxes()[0].mass_kg;
    let (start, body_start) = (box_momentum(&module), module.momentum());
    let (mut reported, mut worst) = (Vec3::ZERO, 0.0f32);
    for _ in 0..40 {
        let before = box_momentum(&module);
        let frame = module.step(&stand(), &stand(), &[]).unwrap();
        assert!(frame.recovered.is_none());
        let on_body: Vec3 = frame.box_impulse.iter().copied().sum();
        worst = worst.max((box_momentum(&module) - before + on_body).length());
        reported += on_body;
        assert_eq!(frame.contact_impulse.iter().copied().sum::<Vec3>(), Vec3::ZERO, "the ground is far");
    }
    let (lost, gained) = (start - box_momentum(&module), module.momentum() - body_start);
    println!("box lost {lost}, body gained {gained}, reported {reported}; worst in a frame {worst:.5} N s");
    assert!(lost.length() > 30.0, "it hit");
    assert!((lost - gained).length() < 0.05 && (lost - reported).length() < 0.05 && worst < 0.02);
}

#[test]
fn a_box_at_rest_stays_where_it_lies() {
    let mut module = standing(&DynamicConfig::default());
    let still = ThrownBox {
        rotation: Quat::IDENTITY,
        spin: Vec3::ZERO,
        ..parcel(Vec3::new(1.2, 0.15, 0.4), Vec3::ZERO)
    };
    module.throw(&still).unwrap();
    for _ in 0..300 {
        module.step(&stand(), &stand(), &[]).unwrap();
    }
    let lies = module.boxes()[0];
    println!("after 5 s it lies at {}, moving at {}", lies.position, lies.velocity);
    let moved = lies.position - still.position;
    assert!(moved.x.hypot(moved.z) < 0.002 && moved.y.abs() < 0.01 && lies.velocity.length() < 0.01);
}

#[test]
fn a_box_at_the_chest_moves_the_pelvis_more_the_faster_it_is_and_one_that_misses_does_not() {
    let pelvis = |thrown: Option<ThrownBox>| {
        let mut module = standing(&DynamicConfig::default());
        if let Some(thrown) = thrown {
            module.throw(&thrown).unwrap();
        }
        let mut farthest = 0.0f32;
        for _ in 0..90 {
            let frame = module.step(&stand(), &stand(), &[]).unwrap();
            assert!(frame.recovered.is_none());
            farthest = farthest.max(-frame.pose.positions[0].z);
        }
        farthest
    };
    let beside = ThrownBox { position: Vec3::new(1.5, 1.3, 1.5), ..at_chest(10.0) };
    let [none, missed, slow, fast] =
        [None, Some(beside), Some(at_chest(5.0)), Some(at_chest(10.0))].map(pelvis);
    println!("pelvis: no box {none:.4} m, missed {missed:.4} m, 5 m/s {slow:.4} m, 10 m/s {fast:.4} m");
    // Contacts are solved in another order when there are more of them.
    assert!((none - missed).abs() < 5e-4);
    assert!(slow > none + 0.005 && fast > slow * 1.5);
}

#[test]
fn no_box_passes_through_body_or_ground_however_fast() {
    for speed in [5.0, 15.0, 30.0] {
        let mut module = standing(&DynamicConfig::default());
        let small = ThrownBox { size_m: Vec3::splat(0.1), mass_kg: 0.5, ..at_chest(speed) };
        module.throw(&small).unwrap();
        let down = ThrownBox { position: Vec3::new(1.5, 2.0, 1.5), velocity: Vec3::NEG_Y * speed, ..small };
        module.throw(&down).unwrap();
        let mut hit = Vec3::ZERO;
        for _ in 0..90 {
            hit += module.step(&stand(), &stand(), &[]).unwrap().box_impulse.iter().copied().sum::<Vec3>();
            assert!(module.boxes()[1].position.y > -0.6, "{speed} m/s: far below the ground");
        }
        let [thrown, down] = [0, 1].map(|i| module.boxes()[i].position);
        println!("{speed} m/s: {hit} N s on the body, boxes at {thrown} and {down}");
        assert!((down.y - 0.05).abs() < 0.02, "{speed} m/s: it lies on the ground");
        assert!(hit.z < -0.4 * speed * 0.5, "{speed} m/s: {hit}");
    }
}

#[test]
fn a_world_with_boxes_continues_from_its_snapshot_bit_for_bit() {
    let mut module = standing(&DynamicConfig::default());
    module.throw(&at_chest(8.0)).unwrap();
    for _ in 0..6 {
        module.step(&stand(), &stand(), &[]).unwrap();
    }
    // One flies, one waits.
    module.throw(&parcel(Vec3::new(0.1, 2.5, 0.0), Vec3::NEG_Y)).unwrap();
    let bytes = module.save().to_bytes().unwrap();
    let run = |module: &mut DynamicModule| {
        let frames: Vec<_> =
            (0..60).map(|_| module.step(&stand(), &stand(), &[]).unwrap().pose.positions).collect();
        (frames, module.boxes())
    };
    let first = run(&mut module);
    let mut other = standing(&DynamicConfig::default());
    for module in [&mut module, &mut other] {
        module.restore(&WorldSnapshot::from_bytes(&bytes).unwrap()).unwrap();
        assert_eq!(module.boxes().len(), 2);
        assert_eq!(run(module), first);
    }
    // The control: without its boxes the world goes on otherwise.
    other.reset(&stand(), &PoseVelocity::zero(22)).unwrap();
    assert!(other.boxes().is_empty());
    assert_ne!(run(&mut other).0, first.0);
}

#[test]
fn boxes_are_taken_away_when_they_are_old_or_far_and_the_world_stays_whole() {
    let mut module = standing(&DynamicConfig::default());
    module.throw(&parcel(Vec3::new(1.2, 0.5, 0.4), Vec3::ZERO)).unwrap();
    // Over the edge of the ground.
    module.throw(&parcel(Vec3::new(6.9, 1.0, 0.0), Vec3::X * 20.0)).unwrap();
    let mut gone = [None; 2];
    let frames = (ThrownBox::LIFETIME_S * 60.0) as usize + 5;
    for frame in 0..frames {
        module.step(&stand(), &stand(), &[]).unwrap();
        let there: Vec<u32> = module.boxes().iter().map(|b| b.number).collect();
        for (number, gone) in (0..).zip(&mut gone) {
            if !there.contains(&number) && gone.is_none() {
                *gone = Some(frame);
            }
        }
    }
    println!("gone in frames {gone:?}");
    assert!(gone[1].unwrap() < 300 && gone[0].unwrap() > 1190);
    let snapshot = module.save();
    module.restore(&snapshot).unwrap();
    assert_eq!(module.throw(&at_chest(5.0)).unwrap(), 2, "boxes are counted on");
}

#[test]
fn rejects_boxes_out_of_range_within_the_body_or_too_many() {
    let mut module = standing(&DynamicConfig::default());
    type Spoil = fn(&mut ThrownBox);
    let cases: [(&str, Spoil); 7] = [
        ("size_m", |b| b.size_m.y = 0.0),
        ("size_m", |b| b.size_m.x = f32::NAN),
        ("mass_kg", |b| b.mass_kg = 1e4),
        ("velocity", |b| b.velocity = Vec3::X * 31.0),
        ("spin", |b| b.spin = Vec3::INFINITY),
        ("position", |b| b.position.z = f32::NAN),
        ("rotation", |b| b.rotation = Quat::from_xyzw(0.0, 0.0, 0.0, 0.0)),
    ];
    for (field, spoil) in cases {
        let mut thrown = at_chest(5.0);
        spoil(&mut thrown);
        let message = module.throw(&thrown).unwrap_err().to_string();
        assert!(message.contains(field), "{message}");
    }
    let inside = ThrownBox { position: Vec3::new(0.0, 1.2, 0.0), ..at_chest(5.0) };
    assert!(module.throw(&inside).unwrap_err().to_string().contains("farther away"));
    for _ in 0..ThrownBox::MOST {
        module.throw(&at_chest(5.0)).unwrap();
    }
    let message = module.throw(&at_chest(5.0)).unwrap_err().to_string();
    assert!(message.contains("16"), "{message}");
}

#[test]
fn a_ground_that_rises_lifts_the_body_and_a_snapshot_brings_the_old_ground_back() {
    let mut module = standing(&DynamicConfig::default());
    let settle = |module: &mut DynamicModule, pose: &Pose| {
        for _ in 0..60 {
            module.step(pose, pose, &[]).unwrap();
        }
        module.pose().positions[0].y
    };
    let low = settle(&mut module, &stand());
    let snapshot = module.save().to_bytes().unwrap();
    // A ground that jumped by more than a foot is thick would leave the feet below it.
    let hill = ground(3.0, -3.0, 3.0, |_, _| 0.04);
    module.set_terrain(&hill).unwrap();
    let raised = Pose { root_position: stand().root_position + Vec3::Y * 0.04, ..stand() };
    let between = module.save().to_bytes().unwrap();
    let high = settle(&mut module, &raised);
    module.restore(&WorldSnapshot::from_bytes(&between).unwrap()).unwrap();
    let again = settle(&mut module, &raised);
    module.restore(&WorldSnapshot::from_bytes(&snapshot).unwrap()).unwrap();
    let back = settle(&mut module, &stand());
    module.reset(&stand(), &PoseVelocity::zero(22)).unwrap();
    let anew = settle(&mut module, &stand());
    println!("pelvis at {low:.4} m, on raised ground {high:.4} m, back {back:.4} m");
    assert_eq!(high, again, "a snapshot between the change and the next frame knows of it");
    assert!((high - low - 0.04).abs() < 0.005 && (back - low).abs() < 0.002 && (anew - low).abs() < 0.002);
    let mut broken = hill;
    broken.heights[2][3] = f32::NAN;
    assert!(module.set_terrain(&broken).unwrap_err().to_string().contains("row 2, column 3"));
}
