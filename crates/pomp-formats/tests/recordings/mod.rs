//! Recordings to write, and edits of written files.

use pomp_motion::glam::{Quat, Vec3};
use pomp_motion::{
    Clip, EffortTrack, FrameTable, GenerationTrack, Pose, PushRecord, Recipe, Recording, SimulationTrack,
    Skeleton, TerrainGrid,
};
use std::io::{Cursor, Read, Write};
use std::path::Path;
use std::sync::Arc;
use zip::write::SimpleFileOptions;

/// Five frames of a turning, walking body, without physics.
pub fn plain_recording() -> Recording {
    let skeleton = Arc::new(Skeleton::humanoid(1.75));
    let poses = (0..5)
        .map(|frame| {
            let mut pose = Pose::rest(&skeleton);
            pose.root_position += Vec3::new(0.01, 0.0, 0.02) * frame as f32;
            for (joint, rotation) in pose.local_rotations.iter_mut().enumerate() {
                *rotation = Quat::from_scaled_axis(Vec3::new(0.1, 0.2, -0.05) * (frame + joint) as f32 * 0.2);
            }
            pose
        })
        .collect();
    let mut recording = Recording::of_clip(&Clip::new("wälk", skeleton, 60.0, poses).unwrap());
    recording.foot_contact[2] = [true, false, true, true];
    recording.source = "made up".to_owned();
    recording.license = "MIT".to_owned();
    recording
}

/// A recording in which every optional part is present.
pub fn full_recording() -> Recording {
    let plain = plain_recording();
    let frames = plain.frames();
    let impulses: Vec<Vec3> = (0..frames * 2).map(|i| Vec3::new(0.0, i as f32, 0.5)).collect();
    Recording {
        terrain: Some(TerrainGrid {
            heights: FrameTable::from_values(3, vec![0.0, 0.1, 0.2, 0.3, 0.4, 0.5]).unwrap(),
            origin: [-1.0, 2.0],
            cell_m: 0.25,
        }),
        simulation: Some(SimulationTrack {
            body_names: vec!["pelvis".to_owned(), "left foot".to_owned()],
            body_mass_kg: vec![10.0, 1.5],
            contact_impulse: FrameTable::from_values(2, impulses.iter().map(|j| *j * 0.9).collect()).unwrap(),
            impulse_estimator: "made up".to_owned(),
            sim_contact_impulse: FrameTable::from_values(2, impulses).unwrap(),
            positions: plain.positions.clone(),
            quaternions: plain.quaternions.clone(),
            velocities: plain.velocities.clone(),
            assist_force: vec![Vec3::X; frames],
            assist_torque: vec![Vec3::Z; frames],
        }),
        efforts: Some(EffortTrack {
            joint_torque: FrameTable::from_values(2, (0..frames * 2).map(|i| i as f32).collect()).unwrap(),
            assist_limit: [331.0, 441.0],
            contact_point: Some(FrameTable::filled(frames, 2, Vec3::new(0.1, 0.0, -0.2))),
        }),
        phase: Some(FrameTable::filled(frames, 4, 0.25)),
        phase_model: Some("0123456789abcdef".to_owned()),
        generation: Some(GenerationTrack {
            target_positions: plain.positions.clone(),
            pushes: vec![PushRecord { time_s: 0.05, body: 1, impulse_ns: Vec3::X * 40.0, point: Vec3::Y }],
            control: vec![[0.0, 1.0, 0.5, 1.2]; frames],
            frame_time_us: Some(vec![321.0; frames]),
            ground_offset: Some((0..frames).map(|frame| Vec3::new(0.01 * frame as f32, 0.0, -0.5)).collect()),
        }),
        recipe: Some(Recipe {
            settings: "made_by = \"pomp\"\nseed = \"7\"\n".to_owned(),
            plan: vec![[0.0, 0.1, -0.2, 1.2, 1.0]; frames + 3],
        }),
        config_hash: "abc123".to_owned(),
        ..plain
    }
}

/// What to do with one array of a file.
#[allow(dead_code, reason = "each test binary uses the edits it needs")]
pub enum Edit {
    Remove,
    Compress,
    /// Element type and shape as numpy spells them, and the raw elements.
    Data(&'static str, &'static str, Vec<u8>),
}

/// Rewrites an npz file with one array changed.
#[allow(dead_code, reason = "each test binary uses the helpers it needs")]
pub fn edited(path: &Path, array: &str, edit: Edit) {
    let mut old = zip::ZipArchive::new(Cursor::new(std::fs::read(path).unwrap())).unwrap();
    let mut new = zip::ZipWriter::new(Cursor::new(Vec::new()));
    let target = format!("{array}.npy");
    let mut options = SimpleFileOptions::default().compression_method(zip::CompressionMethod::Stored);
    for index in 0..old.len() {
        let mut entry = old.by_index(index).unwrap();
        let name = entry.name().unwrap().into_owned();
        let mut bytes = Vec::new();
        entry.read_to_end(&mut bytes).unwrap();
        if name != target {
            new.start_file(name, options).unwrap();
            new.write_all(&bytes).unwrap();
        } else if matches!(edit, Edit::Compress) {
            options = options.compression_method(zip::CompressionMethod::Deflated);
            new.start_file(name, options).unwrap();
            new.write_all(&bytes).unwrap();
        }
    }
    if let Edit::Data(descr, shape, data) = edit {
        let header = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}\n");
        new.start_file(target, options).unwrap();
        new.write_all(b"\x93NUMPY\x01\x00").unwrap();
        new.write_all(&u16::try_from(header.len()).unwrap().to_le_bytes()).unwrap();
        new.write_all(header.as_bytes()).unwrap();
        new.write_all(&data).unwrap();
    }
    std::fs::write(path, new.finish().unwrap().into_inner()).unwrap();
}
