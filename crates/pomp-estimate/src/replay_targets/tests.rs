use super::*;
use pomp_motion::Skeleton;
use std::f32::consts::TAU;
use std::sync::Arc;

const RATE_HZ: f32 = 60.0;
const MOVED: ReplayTargetsConfig =
    ReplayTargetsConfig { bandwidth_hz: 6.0, most_moved_m: 0.05, clearance_m: 0.01 };

/// Knees that bend slowly, with noise from frame to frame of this size, radians.
fn noisy(noise_rad: f32) -> Clip {
    let skeleton = Arc::new(Skeleton::humanoid(1.75));
    let pose = |frame: usize| {
        let mut pose = Pose::rest(&skeleton);
        let alternating = if frame.is_multiple_of(2) { noise_rad } else { -noise_rad };
        let bent = 0.5 + 0.4 * (TAU * frame as f32 / RATE_HZ).sin() + alternating;
        for leg in LEGS {
            pose.local_rotations[leg[1].0] = Quat::from_rotation_x(bent);
        }
        pose
    };
    let poses = (0..120).map(pose).collect();
    Clip { name: "bends".to_owned(), skeleton, frame_rate_hz: RATE_HZ, poses }
}

#[test]
fn a_clip_keeps_its_motion_and_loses_its_noise() {
    let (still, noisy) = (noisy(0.0), noisy(0.1));
    let knee = LEGS[0][1].0;
    let smooth = smooth_poses(&noisy, &MOVED);
    let apart = |frame: usize, of: &[Pose]| {
        of[frame].local_rotations[knee].angle_between(still.poses[frame].local_rotations[knee])
    };
    // The ends have less to go by.
    for frame in 10..110 {
        assert!(apart(frame, &noisy.poses) > 0.09);
        assert!(apart(frame, &smooth) < 0.01, "frame {frame}: {}", apart(frame, &smooth));
    }
    let off = ReplayTargetsConfig::default();
    assert_eq!(smooth_poses(&noisy, &off), noisy.poses);
}

/// A foot that swings, bears for half a second, and swings.
fn bears_between() -> Vec<bool> {
    (0..90).map(|frame| (30..60).contains(&frame)).collect()
}

#[test]
fn a_sole_is_over_the_ground_while_it_swings_and_comes_to_it_when_it_lands() {
    for (height_m, lands) in [(0.0_f32, 0.0_f32), (-0.02, 0.003), (0.02, -0.003)] {
        let up = moves(&[height_m; 90], &bears_between(), &MOVED, RATE_HZ);
        assert!(up.iter().all(|up| up.abs() <= MOVED.most_moved_m));
        let clear = height_m + up[10];
        assert!(clear > 0.9 * MOVED.clearance_m, "a sole at {height_m} m has a clearance of {clear} m");
        let landing = up[32] * f32::signum(lands);
        assert!(
            landing >= f32::abs(lands) || lands == 0.0,
            "a sole at {height_m} m is moved by {} m",
            up[32]
        );
        // A sole above the ground bears on it, one below where the clip has it.
        let moved = -height_m.max(0.0);
        assert!((up[45] - moved).abs() < 0.002, "a sole at {height_m} m bears {} m above that", up[45]);
    }
}

#[test]
fn a_sole_that_always_bears_comes_down_to_the_ground_and_is_not_raised_to_it() {
    let moved = |heights: [f32; 40]| moves(&heights, &[true; 40], &MOVED, RATE_HZ);
    assert!(moved([0.03; 40]).iter().all(|up| (up + 0.03).abs() < 1e-4));
    assert!(moved([-0.03; 40]).iter().all(|up| up.abs() < 1e-6));
    // Less than half of the stance above the ground tells nothing of its height.
    let heel = std::array::from_fn(|frame| if frame > 24 { 0.03 } else { -0.001 });
    assert!(moved(heel).iter().all(|up| up.abs() < 1e-6));
}

#[test]
fn a_target_with_moved_feet_moves_no_joint_but_those_of_the_legs() {
    let clip = noisy(0.0);
    let terrain = HeightMap::flat(4.0, 0.5).expect("a size").into_grid();
    let expected: Vec<Expectation> = bears_between()
        .into_iter()
        .chain([false; 30])
        .map(|bears| Expectation {
            foot_loads_n: Some(if bears { [300.0, 300.0] } else { [0.0, 600.0] }),
            ..Expectation::of_torques(vec![Vec3::ZERO; clip.skeleton.len()], 9.81)
        })
        .collect();
    let config = ReplayTargetsConfig { bandwidth_hz: 0.0, ..MOVED };
    let targets = targets(&clip, &terrain, &expected, &config).expect("a clip of the ragdoll");
    let legs: Vec<usize> = LEGS.iter().flat_map(|leg| leg.map(|joint| joint.0)).collect();
    for (target, pose) in targets.iter().zip(&clip.poses) {
        assert_eq!(target.root_position, pose.root_position);
        for joint in (0..clip.skeleton.len()).filter(|joint| !legs.contains(joint)) {
            assert_eq!(target.local_rotations[joint], pose.local_rotations[joint]);
        }
    }
    assert_ne!(targets, clip.poses);
}
