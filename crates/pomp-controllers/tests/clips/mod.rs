//! Clips to match against: procedural ones, and recorded ones where there are any.

use pomp_controllers::matching::MatchingClip;
use pomp_motion::features::CharacterState;
use pomp_motion::retarget::{Proportions, RetargetOptions, RigLibrary, retarget};
use pomp_motion::{FRAME_RATE_HZ, Recording, Skeleton, humanoid};
use pomp_synthetic::{Ends, MotionKind, MotionRequest, generate};
use pomp_terrain::HeightMap;
use std::sync::Arc;

const HEIGHT_M: f32 = 1.75;
/// Recorded walks and runs.
const RECORDED: [&str; 10] = [
    "cmu_native/cmuX_walking_23.bvh",
    "cmu_native/cmuX_walking_30.bvh",
    "cmu_native/cmuX_walking_41.bvh",
    "cmu_native/cmuX_running_1.bvh",
    "cmu_native/cmuX_running_3.bvh",
    "cmu_native/cmu_08_02.bvh",
    "cmu_native/cmu_07_01.bvh",
    "cmu_native/cmu_13_39.bvh",
    "cmu_iclone/cmuic_07_03.bvh",
    "cmu_iclone/cmuic_07_12.bvh",
];

/// The skeleton of the clips.
pub fn skeleton() -> Arc<Skeleton> {
    Arc::new(Skeleton::humanoid(HEIGHT_M))
}

/// States of a recording on level ground.
pub fn states(recording: &Recording) -> Vec<CharacterState> {
    (0..recording.frames())
        .map(|frame| {
            let pose = recording.global_pose(frame);
            CharacterState::from_world(&recording.skeleton, &pose, &recording.velocities[frame], 0.0, 0.0)
        })
        .collect()
}

/// A recording as a clip, every frame usable.
pub fn clip_of(recording: &Recording) -> MatchingClip {
    let states = states(recording);
    let usable = vec![true; states.len()];
    MatchingClip::of_states(&states, recording.gait.clone(), usable)
}

/// As [`clip_of`], with phase codes of one channel in which the feet tell the time, as a periodic autoencoder does: how far the left foot
/// is before the right one, and how fast it overtakes; of the mirror image the same with the feet changed about.
pub fn phased_clip_of(recording: &Recording) -> MatchingClip {
    let states = states(recording);
    let codes = |[left, right]: [usize; 2]| -> Vec<Vec<f32>> {
        let apart = |vectors: &[glam::Vec3]| vectors[left].z - vectors[right].z;
        let code =
            |state: &CharacterState| vec![apart(&state.positions_root), 0.15 * apart(&state.velocities_root)];
        states.iter().map(code).collect()
    };
    let feet = [humanoid::LEFT_FOOT.0, humanoid::RIGHT_FOOT.0];
    let [phase_codes, mirrored_codes] = [codes(feet), codes([feet[1], feet[0]])];
    MatchingClip { phase_codes, mirrored_codes, ..clip_of(recording) }
}

/// A procedural motion from the origin along +Z.
pub fn moving(kind: MotionKind, speed_m_s: f32, turn_rate_rad_s: f32, ends: Ends, seed: u64) -> Recording {
    let request = MotionRequest {
        speed_m_s,
        turn_rate_rad_s,
        seed,
        ends,
        duration_s: 10.0,
        body_height_m: HEIGHT_M,
        ..MotionRequest::new(kind)
    };
    let ground = HeightMap::flat(100.0, 1.0).unwrap();
    Recording::of_clip(&generate(&request, &ground).unwrap().clip)
}

/// Walks, jogs and stands to either side.
pub fn synthetic() -> Vec<Recording> {
    let mut recordings = vec![moving(MotionKind::Stand, 0.0, 0.0, Ends::Steady, 1)];
    for (number, turn) in [0.0, 0.35, -0.35, 0.7, -0.7].into_iter().enumerate() {
        let seed = 10 * number as u64;
        recordings.push(moving(MotionKind::Walk, 1.2, turn, Ends::Standing, seed + 2));
        recordings.push(moving(MotionKind::Walk, 0.8, turn, Ends::Steady, seed + 3));
        recordings.push(moving(MotionKind::Jog, 2.4, turn, Ends::Standing, seed + 4));
    }
    recordings
}

/// Recorded walks and runs on the same skeleton; fewer, or none, where they are missing.
pub fn recorded(what: &str) -> Vec<Recording> {
    let library = RigLibrary::builtin();
    let found = RECORDED.iter().filter_map(|name| pomp_testing::recorded(&format!("core/{name}"), what));
    found
        .map(|file| {
            let source = pomp_formats::read_bvh(&file).unwrap().motion;
            let (rig, _) = library.choose(&source.skeleton).unwrap();
            let proportions = Proportions::Project { height_m: HEIGHT_M };
            let options = RetargetOptions { proportions, ..RetargetOptions::default() };
            let clip = retarget(&source, rig, &options).unwrap().clip;
            Recording::of_clip(&clip.resampled(FRAME_RATE_HZ))
        })
        .collect()
}
