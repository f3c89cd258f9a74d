//! Recordings survive npz, whatever is in them, and numpy reads them.

#![allow(clippy::unwrap_used, reason = "a test may panic, also in the functions it shares")]

mod recordings;

use pomp_formats::npz::{ARRAYS, ArrayValues, NamedArray, Presence, bytes_without_phases, each_array};
use pomp_formats::{FormatError, read_recording, write_recording};
use pomp_motion::Recording;
use recordings::{Edit, edited, full_recording, plain_recording};
use std::path::Path;

fn written(recording: &Recording) -> (tempfile::TempDir, std::path::PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("walk.npz");
    write_recording(&path, recording).unwrap();
    (folder, path)
}

/// The array and the problem of a refusal.
fn refusal(path: &Path) -> (String, String) {
    match read_recording(path) {
        Err(FormatError::Npz { file, array, problem }) => {
            assert_eq!(file, path.display().to_string());
            (array, problem)
        }
        other => panic!("expected a refusal, got {other:?}"),
    }
}

#[test]
fn a_recording_with_everything_in_it_is_read_back_exactly() {
    for recording in [full_recording(), plain_recording()] {
        let (_folder, path) = written(&recording);
        assert_eq!(read_recording(&path).unwrap(), recording);
    }
}

#[test]
fn the_arrays_of_a_file_are_those_that_are_described_in_their_order() {
    let names = |recording: &Recording| -> Vec<String> {
        let (_folder, path) = written(recording);
        let mut archive = zip::ZipArchive::new(std::fs::File::open(path).unwrap()).unwrap();
        let count = archive.len();
        let names = (0..count).map(|at| archive.by_index(at).unwrap().name().unwrap().into_owned());
        names.map(|name| name.strip_suffix(".npy").unwrap().to_owned()).collect()
    };
    let described = |holds: &dyn Fn(Presence) -> bool| -> Vec<String> {
        ARRAYS.iter().filter(|array| holds(array.present)).map(|array| array.name.to_owned()).collect()
    };
    let mut full = full_recording();
    let frames = full.frames();
    full.generation.as_mut().unwrap().ground_offset = Some(vec![glam::Vec3::ZERO; frames]);
    assert_eq!(names(&full), described(&|_| true));
    let always = |presence| matches!(presence, Presence::Always | Presence::Optional);
    assert_eq!(names(&plain_recording()), described(&always));
}

#[test]
fn the_arrays_of_a_recording_are_those_of_its_file() {
    let recording = full_recording();
    let mut arrays: Vec<NamedArray> = Vec::new();
    each_array(&recording, &mut |array| arrays.push(array)).unwrap();
    let (_folder, path) = written(&recording);
    let mut archive = zip::ZipArchive::new(std::fs::File::open(path).unwrap()).unwrap();
    assert_eq!(archive.len(), arrays.len());
    for (at, array) in arrays.iter().enumerate() {
        let file = archive.by_index(at).unwrap();
        assert_eq!(file.name().unwrap(), format!("{}.npy", array.name));
        let npy = npyz::NpyFile::new(file).unwrap();
        let shape: Vec<usize> = npy.shape().iter().map(|&size| size as usize).collect();
        assert_eq!(shape, array.shape, "{}", array.name);
        let same = match &array.values {
            ArrayValues::Floats(values) => {
                let bits = |values: Vec<f32>| values.into_iter().map(f32::to_bits).collect::<Vec<u32>>();
                bits(npy.into_vec().unwrap()) == bits(values.clone())
            }
            ArrayValues::Booleans(values) => npy.into_vec::<bool>().unwrap() == *values,
            ArrayValues::Texts(values) => npy.into_vec::<String>().unwrap() == *values,
        };
        assert!(same, "{}", array.name);
    }
}

#[test]
fn a_rollout_without_pushes_is_read_back_exactly() {
    let mut recording = full_recording();
    recording.generation.as_mut().unwrap().pushes.clear();
    let (_folder, path) = written(&recording);
    assert_eq!(read_recording(&path).unwrap(), recording);
}

#[test]
fn the_same_recording_gives_the_same_bytes() {
    let (_a, first) = written(&full_recording());
    let (_b, second) = written(&full_recording());
    assert_eq!(std::fs::read(first).unwrap(), std::fs::read(second).unwrap());
}

#[test]
fn phases_do_not_change_the_bytes_that_data_is_hashed_by() {
    let annotated = full_recording();
    let bare = Recording { phase: None, phase_model: None, ..annotated.clone() };
    let (_folder, path) = written(&bare);
    let bytes = std::fs::read(&path).unwrap();
    for recording in [&annotated, &bare, &read_recording(&path).unwrap()] {
        assert!(bytes_without_phases(recording).unwrap() == bytes);
    }
    let mut other = annotated;
    other.root[0][0] += 1.0;
    assert!(bytes_without_phases(&other).unwrap() != bytes);
}

#[test]
fn a_rollout_without_clock_holds_nan_frame_times_and_is_read_back_exactly() {
    let mut recording = full_recording();
    recording.generation.as_mut().unwrap().frame_time_us = None;
    let (_folder, path) = written(&recording);
    assert_eq!(read_recording(&path).unwrap(), recording);
}

#[test]
fn rejects_frame_times_of_which_only_some_are_numbers() {
    let (_folder, path) = written(&full_recording());
    let times = [300.0, f32::NAN, f32::NAN, f32::NAN, f32::NAN];
    let bytes = times.iter().flat_map(|time| time.to_le_bytes()).collect();
    edited(&path, "frame_time_us", Edit::Data("<f4", "(5,)", bytes));
    assert_eq!(refusal(&path), ("frame_time_us".to_owned(), "NaN at [1]".to_owned()));
}

#[test]
fn rejects_the_name_of_a_phase_model_without_phases() {
    let (_folder, path) = written(&full_recording());
    edited(&path, "phase", Edit::Remove);
    let error = read_recording(&path).expect_err("phases are missing").to_string();
    assert!(error.contains("phase_model"), "{error}");
}

#[test]
fn a_file_without_rest_offsets_takes_them_from_its_first_frame() {
    let recording = plain_recording();
    let (_folder, path) = written(&recording);
    edited(&path, "bone_offsets", Edit::Remove);
    let read = read_recording(&path).unwrap();
    for (a, b) in read.skeleton.joints().iter().zip(recording.skeleton.joints()).skip(1) {
        assert!(a.offset.distance(b.offset) < 1e-5, "{}: {} {}", a.name, a.offset, b.offset);
    }
}

#[test]
fn compressed_files_and_wider_numbers_are_read() {
    let recording = plain_recording();
    let (_folder, path) = written(&recording);
    edited(&path, "root", Edit::Compress);
    edited(&path, "framerate", Edit::Data("<i8", "()", 60_i64.to_le_bytes().to_vec()));
    assert_eq!(read_recording(&path).unwrap(), recording);
}

#[test]
fn rejects_a_missing_array_by_name() {
    let (_folder, path) = written(&full_recording());
    for array in [
        "positions",
        "license",
        "terrain_cell",
        "sim_velocities",
        "control",
        "foot_contact",
        "plan",
        "recipe",
    ] {
        let (_other, copy) = written(&full_recording());
        edited(&copy, array, Edit::Remove);
        assert_eq!(refusal(&copy), (array.to_owned(), "it is missing".to_owned()));
    }
    assert!(read_recording(&path).is_ok());
}

#[test]
fn rejects_an_array_that_no_recording_has() {
    let (_folder, path) = written(&plain_recording());
    edited(&path, "weather", Edit::Data("<f4", "(1,)", vec![0; 4]));
    assert_eq!(refusal(&path).0, "weather");
}

#[test]
fn rejects_a_wrong_shape_with_the_right_one() {
    let (_folder, path) = written(&plain_recording());
    edited(&path, "root", Edit::Data("<f4", "(3, 4)", vec![0; 48]));
    let (array, problem) = refusal(&path);
    assert_eq!(array, "root");
    assert!(problem.contains("[3, 4]") && problem.contains("[5, 4]"), "{problem}");
}

#[test]
fn rejects_numbers_that_are_not_finite_with_their_place() {
    let (_folder, path) = written(&plain_recording());
    let mut values = [0.0_f32; 20];
    values[6] = f32::NAN;
    let bytes = values.iter().flat_map(|value| value.to_le_bytes()).collect();
    edited(&path, "root", Edit::Data("<f4", "(5, 4)", bytes));
    assert_eq!(refusal(&path), ("root".to_owned(), "NaN at [1, 2]".to_owned()));
}

#[test]
fn rejects_quaternions_that_are_not_unit() {
    let (_folder, path) = written(&plain_recording());
    edited(&path, "quaternions", Edit::Data("<f4", "(5, 22, 4)", vec![0; 5 * 22 * 16]));
    let (array, problem) = refusal(&path);
    assert_eq!(array, "quaternions");
    assert!(problem.contains("[0, 0] has length 0"), "{problem}");
}

#[test]
fn rejects_names_that_are_not_those_of_the_skeleton() {
    let (_folder, path) = written(&plain_recording());
    let text = |names: &[&str]| -> Vec<u8> {
        names
            .iter()
            .flat_map(|name| (0..8).map(|i| name.chars().nth(i).map_or(0, u32::from)))
            .flat_map(u32::to_le_bytes)
            .collect()
    };
    edited(&path, "bone_names", Edit::Data("<U8", "(2,)", text(&["Hips", "Spine"])));
    let (array, problem) = refusal(&path);
    assert_eq!(array, "positions");
    assert!(problem.contains("2 bone_names"), "{problem}");

    let (_folder, path) = written(&plain_recording());
    let mut parents = vec![""; 22];
    parents[3] = "Tail";
    edited(&path, "parent_names", Edit::Data("<U8", "(22,)", text(&parents)));
    let (array, problem) = refusal(&path);
    assert_eq!(array, "parent_names");
    assert!(problem.contains("\"Tail\""), "{problem}");

    let (_folder, path) = written(&plain_recording());
    edited(&path, "parent_names", Edit::Data("<U8", "(22,)", text(&[""; 22])));
    assert!(matches!(read_recording(&path), Err(FormatError::Motion { .. })));
}

#[test]
fn rejects_pushes_on_bodies_that_do_not_exist() {
    for body in [2.0_f32, -1.0, 0.5] {
        let (_folder, path) = written(&full_recording());
        let values = [0.0, body, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0];
        let bytes = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        edited(&path, "push", Edit::Data("<f4", "(1, 8)", bytes));
        assert_eq!(refusal(&path).0, "push");
    }
}

#[test]
fn rejects_plans_with_gaits_that_do_not_exist() {
    for gait in [8.0_f32, -1.0, 0.5] {
        let (_folder, path) = written(&full_recording());
        let values = [0.0, 0.0, 0.0, 1.2, gait];
        let bytes = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        edited(&path, "plan", Edit::Data("<f4", "(1, 5)", bytes));
        assert_eq!(
            refusal(&path),
            ("plan".to_owned(), format!("the gait at [0, 4] is {gait}, expected an index below 8"))
        );
    }
}

#[test]
fn rejects_the_recipe_of_a_rollout_in_what_is_none() {
    let mut recording = full_recording();
    recording.generation = None;
    let error = write_recording(Path::new("nowhere.npz"), &recording).expect_err("no rollout").to_string();
    assert!(error.contains("recipe"), "{error}");
}

#[test]
fn rejects_headers_that_promise_more_than_the_file_holds() {
    for shape in
        ["(99999999999999,)", "(18446744073709551615, 18446744073709551615)", "(4294967296, 4294967296)"]
    {
        let (_folder, path) = written(&plain_recording());
        edited(&path, "root", Edit::Data("<f4", shape, vec![0; 8]));
        assert_eq!(refusal(&path).0, "root", "{shape}");
    }
    for descr in ["<U99999999999", "|O", "<U0", "<c8", ""] {
        let (_folder, path) = written(&plain_recording());
        edited(&path, "name", Edit::Data(descr, "()", vec![0; 8]));
        assert_eq!(refusal(&path).0, "name", "{descr}");
    }
}

#[test]
fn rejects_a_file_that_was_cut_anywhere() {
    let (folder, path) = written(&plain_recording());
    let whole = std::fs::read(&path).unwrap();
    let cut = folder.path().join("cut.npz");
    for end in (0..whole.len()).step_by(97).chain([whole.len() - 1]) {
        std::fs::write(&cut, &whole[..end]).unwrap();
        let error = read_recording(&cut).expect_err("a cut file must not pass").to_string();
        assert!(error.contains("cut.npz"), "{error}");
    }
}

#[test]
fn rejects_a_flipped_bit_in_an_array() {
    let (_folder, path) = written(&plain_recording());
    let mut bytes = std::fs::read(&path).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    std::fs::write(&path, bytes).unwrap();
    assert!(matches!(read_recording(&path), Err(FormatError::Npz { .. })));
}

#[test]
fn rejects_writing_what_could_not_be_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("bad.npz");
    let mut recording = full_recording();
    recording.root[1][2] = f32::NAN;
    assert!(
        matches!(write_recording(&path, &recording), Err(FormatError::Npz { array, .. }) if array == "root")
    );
    let mut recording = full_recording();
    recording.root.pop();
    assert!(matches!(write_recording(&path, &recording), Err(FormatError::Motion { .. })));
    let mut recording = full_recording();
    recording.source = "CMU\0".to_owned();
    assert!(matches!(write_recording(&path, &recording), Err(FormatError::CannotWrite { .. })));
    assert!(!path.exists());
}

#[test]
fn numpy_reads_every_array() {
    if !pomp_testing::python_can("import numpy", "reading a recording with numpy") {
        return;
    }
    let (folder, path) = written(&full_recording());
    let script = r#"
import sys, numpy as np
with np.load(sys.argv[1], allow_pickle=False) as data:
    shapes = {name: data[name].shape for name in data.files}
    T, J, B = 5, 22, 2
    assert list(data.files)[:6] == ["name", "positions", "quaternions", "bone_names", "parent_names", "framerate"]
    expected = dict(name=(), positions=(T,J,3), quaternions=(T,J,4), bone_names=(J,), parent_names=(J,),
        framerate=(), bone_offsets=(J,3), root=(T,4), velocities=(T,J,3), gait=(T,8), foot_contact=(T,4),
        terrain_height=(2,3), terrain_origin=(2,), terrain_cell=(), body_names=(B,), body_mass=(B,),
        contact_impulse=(T,B,3), impulse_estimator=(), sim_contact_impulse=(T,B,3), sim_positions=(T,J,3), sim_quaternions=(T,J,4), sim_velocities=(T,J,3),
        assist_force=(T,3), assist_torque=(T,3), joint_torque=(T,B), assist_limit=(2,), contact_point=(T,B,3), phase=(T,4), phase_model=(), target_positions=(T,J,3), push=(1,8),
        control=(T,4), frame_time_us=(T,), ground_offset=(T,3), recipe=(), plan=(T+3,5), source=(), license=(), config_hash=())
    assert shapes == expected, (set(shapes.items()) ^ set(expected.items()))
    assert str(data["name"]) == "wälk" and float(data["framerate"]) == 60.0
    names, parents = data["bone_names"].tolist(), data["parent_names"].tolist()
    assert names[0] == "Hips" and parents[0] == "" and all(p in names for p in parents[1:])
    assert data["foot_contact"].dtype == np.bool_ and data["positions"].dtype == np.float32
    assert np.allclose(np.linalg.norm(data["quaternions"], axis=-1), 1, atol=1e-5)
    np.savez_compressed(sys.argv[2], **{name: data[name] for name in data.files})
"#;
    let back = path.with_file_name("back.npz");
    pomp_testing::python(folder.path(), ["-c".as_ref(), script.as_ref(), path.as_os_str(), back.as_os_str()]);
    assert_eq!(read_recording(&back).unwrap(), full_recording());
}
