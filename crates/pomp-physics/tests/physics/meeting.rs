//! Several ragdolls in one world: what one does to another, and that each is what it is alone.

use crate::support::*;
use pomp_motion::glam::{Quat, Vec3};
use pomp_motion::{Pose, Skeleton, TerrainGrid};
use pomp_physics::{DynamicConfig, DynamicModule, Frame, MemberStep, PhysicsError, PoseVelocity, Push};

fn together(config: &DynamicConfig, terrain: &TerrainGrid, count: usize) -> Vec<DynamicModule> {
    let skeleton = skeleton();
    let parts: Vec<(&Skeleton, &DynamicConfig)> = (0..count).map(|_| (&skeleton, config)).collect();
    DynamicModule::together(&parts, terrain).expect("valid parts")
}

/// Standing at a place, facing `yaw`.
fn stand_at(x: f32, z: f32, yaw: f32) -> Pose {
    let mut pose = stand();
    pose.root_position += Vec3::new(x, 0.0, z);
    pose.local_rotations[0] = Quat::from_rotation_y(yaw);
    pose
}

fn moving(velocity: Vec3) -> PoseVelocity {
    PoseVelocity { root_linear: velocity, ..PoseVelocity::zero(22) }
}

fn step(modules: &mut [DynamicModule], poses: &[Pose], pushes: &[Vec<Push>]) -> Vec<Frame> {
    let steps: Vec<MemberStep<'_>> = poses
        .iter()
        .zip(pushes)
        .map(|(pose, pushes)| MemberStep { from: pose, to: pose, pushes, expected: None })
        .collect();
    let mut all: Vec<&mut DynamicModule> = modules.iter_mut().collect();
    DynamicModule::step_together(&mut all, &steps).expect("finite targets")
}

/// In no gravity and without assist, one drifts against the chest of another, which stands.
#[test]
fn two_who_meet_give_each_other_equal_and_opposite_impulses_and_keep_their_momentum() {
    let config = DynamicConfig { gravity_m_s2: 0.0, ..DynamicConfig::default() };
    let far = ground(3.0, -3.0, 3.0, |_, _| -40.0);
    let mut modules = together(&config, &far, 2);
    let poses = [stand_at(0.0, 0.0, 0.0), stand_at(0.1, 0.7, 3.0)];
    modules[0].reset(&poses[0], &moving(Vec3::new(0.0, 0.0, 1.5))).unwrap();
    modules[1].reset(&poses[1], &moving(Vec3::ZERO)).unwrap();
    modules.iter_mut().for_each(|module| module.set_assist_scale(0.0));
    let start: Vec<Vec3> = modules.iter().map(DynamicModule::momentum).collect();
    let (mut given, mut worst, mut touching) = ([Vec3::ZERO; 2], 0.0f32, 0);
    for _ in 0..60 {
        let frames = step(&mut modules, &poses, &[vec![], vec![]]);
        let on: Vec<Vec3> =
            frames.iter().map(|frame| frame.character_impulse.iter().copied().sum()).collect();
        worst = worst.max((on[0] + on[1]).length());
        touching += usize::from(on[0].length() > 0.1);
        for (i, frame) in frames.iter().enumerate() {
            assert!(frame.recovered.is_none());
            assert_eq!(frame.contact_impulse.iter().copied().sum::<Vec3>(), Vec3::ZERO, "the ground is far");
            given[i] += on[i];
        }
    }
    let gained: Vec<Vec3> =
        modules.iter().zip(&start).map(|(module, start)| module.momentum() - *start).collect();
    println!(
        "impulses {given:?} in {touching} frames, gained {gained:?}; worst pair differs by {worst:e} N s"
    );
    assert!(given[1].z > 30.0 && worst < 1e-4, "they met, and the sums are of the same contacts");
    for i in 0..2 {
        assert!((gained[i] - given[i]).length() < 0.05, "character {i}");
    }
    assert!((gained[0] + gained[1]).length() < 0.05);
}

/// In no gravity and without assist, two drift into each other at equal speeds.
#[test]
fn the_heavier_of_two_is_turned_from_its_way_less() {
    let skeleton = skeleton();
    let config = |mass_kg| DynamicConfig { mass_kg, gravity_m_s2: 0.0, ..DynamicConfig::default() };
    let (light, heavy) = (config(50.0), config(110.0));
    let far = ground(3.0, -3.0, 3.0, |_, _| -40.0);
    let parts = [(&skeleton, &light), (&skeleton, &heavy)];
    let mut modules = DynamicModule::together(&parts, &far).unwrap();
    let poses = [stand_at(0.0, -0.5, 0.0), stand_at(0.0, 0.5, std::f32::consts::PI)];
    let drift = [Vec3::Z, Vec3::NEG_Z];
    for i in 0..2 {
        modules[i].set_assist_scale(0.0);
        modules[i].reset(&poses[i], &moving(drift[i])).unwrap();
    }
    let start: Vec<Vec3> = modules.iter().map(DynamicModule::center_of_mass).collect();
    for _ in 0..60 {
        let frames = step(&mut modules, &poses, &[vec![], vec![]]);
        assert!(frames.iter().all(|frame| frame.recovered.is_none()));
    }
    let turned = [0, 1].map(|i| (modules[i].center_of_mass() - start[i] - drift[i]).length());
    println!("50 kg is {:.3} m from where it would have drifted to, 110 kg {:.3} m", turned[0], turned[1]);
    assert!(turned[0] > 0.1 && (turned[0] / turned[1] - 110.0 / 50.0).abs() < 0.05);
}

#[test]
fn who_meets_nobody_moves_as_one_alone() {
    let mut alone = module(&flat());
    let mut modules = together(&DynamicConfig::default(), &flat(), 2);
    let poses = [stand_at(0.0, 0.0, 0.0), stand_at(2.0, 0.0, 1.0)];
    alone.reset(&poses[0], &moving(Vec3::ZERO)).unwrap();
    for (module, pose) in modules.iter_mut().zip(&poses) {
        module.reset(pose, &moving(Vec3::ZERO)).unwrap();
    }
    let push = Push { body: 11, impulse_ns: Vec3::new(0.0, 0.0, 40.0), point: None };
    let mut worst = 0.0f32;
    for i in 0..60 {
        let now = if i == 10 { vec![push] } else { vec![] };
        let one = alone.step(&poses[0], &poses[0], &now).unwrap();
        let two = step(&mut modules, &poses, &[now, vec![]]);
        assert!(two.iter().all(|frame| frame.character_impulse.iter().all(|j| *j == Vec3::ZERO)));
        for (a, b) in one.pose.positions.iter().zip(&two[0].pose.positions) {
            worst = worst.max(a.distance(*b));
        }
    }
    println!("after a second they are {worst} m apart at most");
    // Contacts are solved in another order when there are more of them.
    assert!(worst < 1e-3);
}

#[test]
fn one_of_two_in_contact_goes_on_from_its_snapshot_as_if_the_other_were_taken_away() {
    let mut modules = together(&DynamicConfig::default(), &flat(), 2);
    let poses = [stand_at(0.0, 0.0, 0.0), stand_at(0.1, 0.5, std::f32::consts::PI)];
    for (i, pose) in poses.iter().enumerate() {
        modules[i].reset(pose, &moving(Vec3::Z * if i == 0 { 1.5 } else { -1.5 })).expect("it is finite");
        modules[i].set_assist_scale(0.0);
    }
    let none = [vec![], vec![]];
    let met = (0..30).any(|_| {
        let frames = step(&mut modules, &poses, &none);
        frames.iter().all(|frame| frame.character_impulse.iter().any(|impulse| *impulse != Vec3::ZERO))
    });
    assert!(met, "they touch each other");
    for (module_met, pose) in modules.iter().zip(&poses) {
        let mut alone = module(&flat());
        alone.restore(&module_met.save()).expect("it is of the same ragdoll");
        assert_eq!(alone.pose(), module_met.pose());
        assert_eq!(alone.velocity(), module_met.velocity());
        let frame = alone.step(pose, pose, &[]).expect("finite targets");
        assert!(frame.character_impulse.iter().all(|impulse| *impulse == Vec3::ZERO));
        let on_ground: f32 = frame.contact_impulse.iter().map(|impulse| impulse.y).sum();
        assert!(on_ground > 1.0, "it stands on the ground: {on_ground} N·s");
    }
    let together = step(&mut modules, &poses, &none);
    assert!(
        together[0].character_impulse.iter().any(|impulse| impulse.length() > 0.1),
        "those of both go on"
    );
}

#[test]
fn one_of_two_moves_on_with_the_ground_of_both_and_cannot_go_back_alone() {
    let deep = ground(3.0, -3.0, 3.0, |_, _| -50.0);
    let poses = [stand_at(0.0, 0.0, 0.0), stand_at(2.0, 0.0, 0.0)];
    let mut modules = together(&DynamicConfig::default(), &flat(), 2);
    for (module, pose) in modules.iter_mut().zip(&poses) {
        module.reset(pose, &moving(Vec3::ZERO)).unwrap();
        module.set_assist_scale(0.0);
    }
    let snapshot = modules[0].save();
    modules[0].set_terrain(&deep).unwrap();
    for _ in 0..120 {
        let frames = step(&mut modules, &poses, &[vec![], vec![]]);
        assert!(frames.iter().all(|frame| frame.recovered.is_none()), "the ground below both is the new one");
    }
    assert!(modules.iter().all(|module| module.pose().positions[0].y < -10.0));
    assert!(matches!(modules[0].restore(&snapshot), Err(PhysicsError::NotTogether { .. })));
}

#[test]
fn a_frame_that_diverges_is_given_up_for_all_and_leaves_the_other_its_velocity() {
    let poses = [stand_at(0.0, 0.0, 0.0), stand_at(1.5, 0.0, 0.0)];
    let mut modules = together(&DynamicConfig::default(), &flat(), 2);
    modules[0].reset(&poses[0], &moving(Vec3::ZERO)).unwrap();
    modules[1].reset(&poses[1], &moving(Vec3::X)).unwrap();
    let blow = Push { body: 0, impulse_ns: Vec3::new(0.0, 1e6, 0.0), point: None };
    let frames = step(&mut modules, &poses, &[vec![blow], vec![]]);
    assert!(frames.iter().all(|frame| frame.recovered.is_some_and(|divergence| divergence.count == 1)));
    assert_eq!(frames[0].root_linear_velocity, Vec3::ZERO);
    assert!((frames[1].root_linear_velocity - Vec3::X).length() < 1e-4);
    let after = step(&mut modules, &poses, &[vec![], vec![]]);
    assert!(after.iter().all(|frame| frame.recovered.is_none()));
    assert!(after[1].pose.positions[0].x > poses[1].root_position.x + 0.005, "it moves on");
}

#[test]
fn rejects_ragdolls_of_different_worlds_settings_or_order() {
    let skeleton = skeleton();
    let not_together = |result: Result<(), PhysicsError>, word: &str| {
        let error = result.expect_err("they do not fit");
        assert!(matches!(error, PhysicsError::NotTogether { .. }));
        assert!(error.to_string().contains(word), "{error}");
    };
    let (a, b) = (DynamicConfig::default(), DynamicConfig { friction: 0.3, ..DynamicConfig::default() });
    let parts = [(&skeleton, &a), (&skeleton, &b)];
    not_together(DynamicModule::together(&parts, &flat()).map(drop), "friction");
    not_together(DynamicModule::together(&[], &flat()).map(drop), "needs a ragdoll");
    let mut modules = together(&a, &flat(), 2);
    not_together(modules[0].step(&stand(), &stand(), &[]).map(drop), "all of its ragdolls");
    let pose = stand();
    let steps = [MemberStep { from: &pose, to: &pose, pushes: &[], expected: None }; 2];
    let mut swapped: Vec<&mut DynamicModule> = modules.iter_mut().rev().collect();
    not_together(DynamicModule::step_together(&mut swapped, &steps).map(drop), "order");
    not_together(DynamicModule::step_together(&mut [], &[]).map(drop), "none at all");
}
