//! Clips for motion matching as a file: what half precision and 30 frames a second leave of them, and files that are refused.

#![expect(clippy::unwrap_used, reason = "helpers of tests, outside the functions that clippy exempts")]

mod clips;

use clips::{clip_of, moving, phased_clip_of, recorded, skeleton, synthetic};
use glam::Vec3;
use pomp_controllers::matching::{
    MatchedFeatures, MatchingClip, MatchingDescription, MatchingModel, MatchingWeights, StoredPhases,
};
use pomp_controllers::{Controller, ControllerKind, TrainedController};
use pomp_motion::rotation::from_yaw;
use pomp_motion::{FRAME_RATE_HZ, PerJoint, Pose, Recording};
use pomp_synthetic::{Ends, MotionKind};
use pomp_weights::{WeightFile, WeightPrecision, WeightTensor};
use std::collections::BTreeMap;

fn description() -> MatchingDescription {
    MatchingDescription {
        kind: ControllerKind::Matching,
        made_by: "test".to_owned(),
        config: serde_json::Value::Null,
        data_hash: "0".to_owned(),
        data: vec![("procedural (CC0)".to_owned(), 1.0)],
        skeleton: (*skeleton()).clone(),
        clips: Vec::new(),
        weights: MatchingWeights::default(),
        phases: None,
        metrics: BTreeMap::new(),
    }
}

fn model(recordings: &[Recording]) -> MatchingModel {
    let clips: Vec<(String, MatchingClip)> =
        recordings.iter().map(|recording| (recording.name.clone(), clip_of(recording))).collect();
    MatchingModel::new(description(), &clips).unwrap()
}

fn reread(model: &MatchingModel) -> MatchingModel {
    MatchingModel::from_bytes(&model.to_bytes().unwrap(), "the file").unwrap()
}

/// Joints of a frame in the root frame of the first one.
fn joints(clip: &MatchingClip, frame: usize) -> PerJoint<Vec3> {
    let (position, yaw) = clip.roots[0].to_root(clip.roots[frame].position, clip.roots[frame].yaw);
    let mut pose = Pose {
        root_position: Vec3::new(position.x, clip.roots[frame].height_m, position.y),
        local_rotations: clip.rotations_local[frame].into(),
    };
    pose.local_rotations[0] = from_yaw(yaw) * pose.local_rotations[0];
    skeleton().forward_kinematics(&pose).positions
}

/// Distances of joints between two clips within a second from each of some frames, millimetres: the 99th percentile and the mean. A few
/// recorded frames leap and are not to be kept.
fn difference_mm(a: &MatchingClip, b: &MatchingClip) -> [f32; 2] {
    let mut distances = Vec::new();
    let frames = a.frames().min(b.frames());
    for start in (0..frames.saturating_sub(60)).step_by(30) {
        let (a, b) = (a.part(start..start + 60), b.part(start..start + 60));
        for frame in 0..60 {
            let pairs = joints(&a, frame).into_iter().zip(joints(&b, frame));
            distances.extend(pairs.map(|(a, b)| 1e3 * a.distance(b)));
        }
    }
    distances.sort_by(f32::total_cmp);
    let mean = distances.iter().sum::<f32>() / distances.len() as f32;
    [distances[distances.len() * 99 / 100], mean]
}

#[test]
fn a_file_holds_its_clips_within_a_few_millimetres() {
    let mut recordings = synthetic();
    recordings.extend(recorded("recorded clips in a file for motion matching"));
    let model = model(&recordings);
    let read = reread(&model);
    assert_eq!(read.description, model.description);
    let seconds: f32 = recordings.iter().map(|recording| recording.frames() as f32 / FRAME_RATE_HZ).sum();
    let bytes = model.to_bytes().unwrap().len();
    println!("{:.0} s in {bytes} bytes: {:.3} MB a minute", seconds, bytes as f32 / seconds * 60e-6);
    assert!(bytes as f32 / seconds * 60e-6 < 0.3);
    let procedural = synthetic().len();
    for (number, (recording, clip)) in recordings.iter().zip(read.clips()).enumerate() {
        // Recordings tremble faster than 30 frames a second can tell.
        let bounds = if number < procedural { [3.0, 0.3] } else { [20.0, 2.0] };
        let [most, mean] = difference_mm(&clip_of(recording), &clip);
        println!("{}: 99 % within {most:.2} mm, mean {mean:.3} mm", recording.name);
        assert!(most < bounds[0] && mean < bounds[1], "{}: {most} {mean}", recording.name);
    }
    // Rounding happens once.
    assert_eq!(reread(&read), read);
}

#[test]
fn a_controller_plays_the_clips_and_their_mirror_images() {
    let turning = moving(MotionKind::Walk, 1.2, 0.5, Ends::Steady, 1);
    let model = reread(&model(&[turning]));
    let database = model.controller();
    let clips = database.database().clips();
    assert_eq!(clips.len(), 2);
    let turned = |clip: &MatchingClip| clip.roots[clip.frames() - 1].yaw - clip.roots[0].yaw;
    assert!((turned(&clips[0]) + turned(&clips[1])).abs() < 1e-4 && turned(&clips[1]) > 3.0);
    let mirror = Vec3::new(-1.0, 1.0, 1.0);
    let (image, original) = (joints(&clips[0], 100), joints(&clips[1], 100));
    for (source, joint) in skeleton().mirror_map().iter().zip(&image) {
        assert!(joint.distance(original[source.0] * mirror) < 1e-4);
    }
}

#[test]
fn a_saved_file_is_read_as_a_trained_controller() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("matching.safetensors");
    model(&synthetic()[..2]).save(&path).unwrap();
    let device = burn::tensor::Device::flex();
    let bytes = std::fs::read(&path).unwrap();
    let trained = TrainedController::from_bytes(ControllerKind::Matching, &bytes, "it", &device).unwrap();
    let _: Box<dyn Controller> = trained.begin();
    let error = TrainedController::from_bytes(ControllerKind::Mann, &bytes, "it", &device).unwrap_err();
    assert!(error.to_string().starts_with("it: "), "{error}");
}

/// A file of clips with phases of one channel.
fn phased_model() -> MatchingModel {
    let phases = Some(StoredPhases { channels: 1, candidates: 20 });
    let description = MatchingDescription { kind: ControllerKind::MatchingPhase, phases, ..description() };
    let clips: Vec<(String, MatchingClip)> = synthetic()[..4]
        .iter()
        .map(|recording| (recording.name.clone(), phased_clip_of(recording)))
        .collect();
    MatchingModel::new(description, &clips).unwrap()
}

#[test]
fn a_file_holds_the_phases_of_its_clips_and_of_their_mirror_images() {
    let read = reread(&phased_model());
    for (recording, clip) in synthetic()[..4].iter().zip(read.clips()) {
        let whole = phased_clip_of(recording);
        let mirrored = clip.mirrored(&skeleton());
        for (codes, stored) in
            [(&whole.phase_codes, &clip.phase_codes), (&whole.mirrored_codes, &mirrored.phase_codes)]
        {
            assert!(stored.len() == clip.frames() && whole.frames().abs_diff(clip.frames()) <= 1);
            let apart = |(a, b): (&Vec<f32>, &Vec<f32>)| {
                a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max)
            };
            let apart: Vec<f32> = codes.iter().zip(stored).map(apart).collect();
            // Every other frame is stored; those between are read off a curve, which a foot that lands does not follow.
            let (kept, between): (Vec<_>, Vec<_>) =
                apart.chunks_exact(2).map(|pair| (pair[0], pair[1])).unzip();
            let worst = kept.into_iter().fold(0.0, f32::max);
            let mean = between.iter().sum::<f32>() / between.len() as f32;
            println!("{}: {worst} stored, {mean} between", recording.name);
            assert!(worst < 1e-3 && mean < 5e-3, "{}: {worst} stored, {mean} between", recording.name);
        }
    }
    let controller = read.controller();
    assert_eq!(controller.database().features(), MatchedFeatures::Phase);
    let bytes = read.to_bytes().unwrap();
    let device = burn::tensor::Device::flex();
    let open = |kind| TrainedController::from_bytes(kind, &bytes, "it", &device);
    assert!(open(ControllerKind::MatchingPhase).is_ok());
    let said = open(ControllerKind::Matching).unwrap_err().to_string();
    assert!(said.contains("it: it holds the controller matching-phase, not matching"), "{said}");
}

#[test]
fn rejects_phases_that_are_not_as_described() {
    let phases = |channels, candidates| Some(StoredPhases { channels, candidates });
    let cases = [
        (ControllerKind::MatchingPhase, None, "no phases"),
        (ControllerKind::Matching, phases(1, 1), "which matching has not"),
        (ControllerKind::MatchingPhase, phases(0, 1), "0 phase channels"),
        (ControllerKind::MatchingPhase, phases(1, 0), "among 0 frames"),
        (ControllerKind::MatchingPhase, phases(5, 20), "phase codes"),
    ];
    let clips = [("walk".to_owned(), phased_clip_of(&synthetic()[1]))];
    for (kind, phases, word) in cases {
        let described = MatchingDescription { kind, phases, ..description() };
        let said = MatchingModel::new(described, &clips).unwrap_err().to_string();
        assert!(said.contains(word), "{word}: {said}");
    }
}

/// The refusal of a file whose description, or tensors, were changed.
fn refusal(describe: impl Fn(&mut MatchingDescription), change: impl Fn(&str, &mut WeightTensor)) -> String {
    let model = model(&synthetic()[..2]);
    let mut description = model.description.clone();
    describe(&mut description);
    let json = serde_json::to_string(&description).unwrap();
    let whole = WeightFile::from_bytes(&model.to_bytes().unwrap(), "whole").unwrap();
    let mut file = WeightFile::new(Some(("controller", &json)));
    for name in whole.names() {
        let mut tensor = whole.tensor(name).unwrap().clone();
        change(name, &mut tensor);
        file.add_tensor(name, tensor).unwrap();
    }
    let bytes = file.to_bytes(WeightPrecision::F16).unwrap();
    MatchingModel::from_bytes(&bytes, "the file").unwrap_err().to_string()
}

/// A change of a description.
type Change<'a> = &'a dyn Fn(&mut MatchingDescription);

#[test]
fn rejects_descriptions_that_do_not_fit_the_clips() {
    let of = |describe: Change<'_>| refusal(describe, |_, _| ());
    let cases: [(Change<'_>, &str); 7] = [
        (&|it| it.clips[0].frames += 1, "shape"),
        (&|it| it.clips[0].frames = usize::MAX, "too many frames"),
        (&|it| it.clips[0].frames = 3, "fewer than 16"),
        (&|it| it.clips.clear(), "no clip"),
        (&|it| it.kind = ControllerKind::Mann, "mann"),
        (&|it| it.weights.hip_velocity = -1.0, "weight"),
        (&|it| it.skeleton = lopsided(), "LeftLeg"),
    ];
    for (describe, word) in cases {
        let said = of(describe);
        assert!(said.contains("the file") && said.contains(word), "{word}: {said}");
    }
}

fn lopsided() -> pomp_motion::Skeleton {
    let mut joints = skeleton().joints().to_vec();
    joints[2].offset.y *= 1.1;
    pomp_motion::Skeleton::new(joints).unwrap()
}

#[test]
fn rejects_gaits_that_are_none_and_bytes_that_are_cut() {
    let said = refusal(
        |_| (),
        |name, tensor| {
            if name == "clips.gaits" {
                tensor.values[8 * 5] = -0.5;
            }
        },
    );
    assert!(said.contains("frame 5"), "{said}");
    let bytes = model(&synthetic()[..2]).to_bytes().unwrap();
    assert!(MatchingModel::from_bytes(&bytes[..bytes.len() / 2], "the file").is_err());
    let short =
        MatchingModel::new(description(), &[("short".to_owned(), clip_of(&synthetic()[1]).part(0..20))]);
    assert!(short.unwrap_err().to_string().contains("\"short\" has 10 frames"));
}
