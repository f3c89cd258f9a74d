//! GLB files are read: our own come back as they were, those of other programs as their key frames say.

#![allow(clippy::unwrap_used, reason = "a test may panic, also in the functions it shares")]

mod clips;

use clips::walk;
use pomp_formats::glb::glb_bytes;
use pomp_formats::{FormatError, parse_glb, read_glb};
use pomp_motion::glam::{Mat4, Quat, Vec3};
use serde_json::{Value, json};
use std::f32::consts::{FRAC_1_SQRT_2, FRAC_PI_2};

#[test]
fn what_is_written_is_read_back() {
    let clip = walk();
    let file = parse_glb(&glb_bytes(&clip).unwrap(), "walk").unwrap();
    assert_eq!(file.warnings, [] as [&str; 0]);
    let motion = file.motion;
    assert_eq!((motion.frames(), motion.frame_rate_hz), (8, 30.0));
    assert!(motion.joint_translations.is_none(), "bones keep their length");
    for (read, written) in motion.skeleton.joints().iter().zip(clip.skeleton.joints()) {
        assert_eq!((&read.name, read.parent), (&written.name, written.parent));
        assert!(written.parent.is_none() || read.offset.distance(written.offset) < 1e-5, "{read:?}");
    }
    for frame in 0..8 {
        let (read, written) =
            (motion.global_pose(frame), clip.skeleton.forward_kinematics(&clip.poses[frame]));
        for joint in 0..clip.skeleton.len() {
            assert!(read.positions[joint].distance(written.positions[joint]) < 1e-4);
            assert!(read.rotations[joint].angle_between(written.rotations[joint]) < 1e-3);
        }
    }
}

/// A document and its numbers, as another program might write them.
#[derive(Default)]
struct Foreign {
    bytes: Vec<u8>,
    views: Vec<Value>,
    accessors: Vec<Value>,
}

impl Foreign {
    fn add(&mut self, kind: &str, component: u32, count: usize, bytes: &[u8]) -> usize {
        self.views.push(json!({"buffer": 0, "byteOffset": self.bytes.len(), "byteLength": bytes.len()}));
        self.bytes.extend_from_slice(bytes);
        let view = self.views.len() - 1;
        self.accessors
            .push(json!({"bufferView": view, "componentType": component, "count": count, "type": kind}));
        self.accessors.len() - 1
    }

    fn floats(&mut self, kind: &str, width: usize, values: &[f32]) -> usize {
        let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        self.add(kind, 5126, values.len() / width, &bytes)
    }

    fn shorts(&mut self, values: &[[f32; 4]]) -> usize {
        let bytes: Vec<u8> = values
            .iter()
            .flatten()
            .flat_map(|value| ((value * 32767.0).round() as i16).to_le_bytes())
            .collect();
        self.add("VEC4", 5122, values.len(), &bytes)
    }

    fn file(self, mut document: Value) -> Vec<u8> {
        document["asset"] = json!({"version": "2.0"});
        document["buffers"] = json!([{"byteLength": self.bytes.len()}]);
        document["bufferViews"] = Value::Array(self.views);
        document["accessors"] = Value::Array(self.accessors);
        container(document.to_string().as_bytes(), &self.bytes)
    }
}

fn container(json: &[u8], binary: &[u8]) -> Vec<u8> {
    let padded = |bytes: &[u8], with: u8| {
        let mut bytes = bytes.to_vec();
        bytes.resize(bytes.len().next_multiple_of(4), with);
        bytes
    };
    let (json, binary) = (padded(json, b' '), padded(binary, 0));
    let mut out = b"glTF".to_vec();
    for word in [2, 28 + json.len() + binary.len(), json.len()] {
        out.extend((word as u32).to_le_bytes());
    }
    out.extend([b"JSON" as &[u8], &json].concat());
    out.extend((binary.len() as u32).to_le_bytes());
    out.extend([b"BIN\0" as &[u8], &binary].concat());
    out
}

/// An armature in centimetres with an arm whose node is turned at rest, and a skin that is bound so; the arm turns by a quarter
/// about Z within a second, in steps of half a second, while the hips go ahead.
fn foreign(change: impl Fn(&mut Value)) -> Vec<u8> {
    let mut file = Foreign::default();
    let half = FRAC_1_SQRT_2;
    let times = file.floats("SCALAR", 1, &[0.0, 0.5, 1.0]);
    let at_rest = Quat::from_rotation_x(FRAC_PI_2);
    let turned = |by: f32| (Quat::from_rotation_z(by) * at_rest).to_array();
    let turns = file.shorts(&[turned(0.0), turned(FRAC_PI_2 / 2.0), turned(FRAC_PI_2)]);
    let places = file.floats("VEC3", 3, &[0.0, 100.0, 0.0, 0.0, 100.0, 25.0, 0.0, 100.0, 50.0]);
    // Bound in metres, while the nodes count centimetres.
    let bind =
        |place: Vec3, turn: Quat| Mat4::from_rotation_translation(turn, place).inverse().to_cols_array();
    let arm = Vec3::new(0.0, 1.5, 0.0);
    let matrices = [bind(Vec3::Y, Quat::IDENTITY), bind(arm, at_rest), bind(arm + Vec3::X * 0.3, at_rest)];
    let matrices = file.floats("MAT4", 16, matrices.as_flattened());
    let mut document = json!({
        "nodes": [
            {"name": "Armature", "scale": [0.01, 0.01, 0.01], "children": [1]},
            {"name": "Hips", "translation": [0.0, 100.0, 0.0], "children": [2]},
            {"name": "Arm", "translation": [0.0, 50.0, 0.0], "rotation": [half, 0.0, 0.0, half], "children": [3]},
            {"name": "Hand", "translation": [30.0, 0.0, 0.0]},
        ],
        "skins": [{"joints": [1, 2, 3], "inverseBindMatrices": matrices}],
        "animations": [
            {"channels": [], "samplers": []},
            {
                "name": "wave",
                "channels": [
                    {"sampler": 0, "target": {"node": 2, "path": "rotation"}},
                    {"sampler": 1, "target": {"node": 1, "path": "translation"}},
                    {"sampler": 0, "target": {"node": 0, "path": "weights"}},
                ],
                "samplers": [
                    {"input": times, "output": turns},
                    {"input": times, "output": places, "interpolation": "LINEAR"},
                ],
            },
        ],
    });
    change(&mut document);
    file.file(document)
}

#[test]
fn a_file_of_another_program_moves_as_its_key_frames_say() {
    let file = parse_glb(&foreign(|_| {}), "wave").unwrap();
    assert!(file.warnings.iter().any(|warning| warning.contains("wave")), "{:?}", file.warnings);
    let motion = file.motion;
    let names: Vec<&str> = motion.skeleton.joints().iter().map(|joint| joint.name.as_str()).collect();
    assert_eq!(names, ["Hips", "Arm", "Hand"]);
    assert_eq!((motion.frames(), motion.frame_rate_hz), (3, 2.0));
    let rest = motion.rest_pose();
    assert!(rest.positions[2].distance(Vec3::new(0.3, 1.5, 0.0)) < 1e-4, "{rest:?}");
    for (frame, [x, y]) in
        [[0.3, 0.0], [0.3 * FRAC_1_SQRT_2, 0.3 * FRAC_1_SQRT_2], [0.0, 0.3]].into_iter().enumerate()
    {
        let now = motion.global_pose(frame);
        let expected = Vec3::new(x, 1.5 + y, 0.25 * frame as f32);
        assert!(now.positions[2].distance(expected) < 1e-3, "frame {frame}: {}", now.positions[2]);
        let by = Quat::from_rotation_z(FRAC_PI_2 / 2.0 * frame as f32);
        assert!(now.rotations[1].angle_between(by) < 2e-3, "the turn at rest is none of the motion");
    }
}

#[test]
fn keys_that_do_not_lie_evenly_are_sampled_and_between_them_steps_stand_and_slopes_bend() {
    let mut file = Foreign::default();
    let times = file.floats("SCALAR", 1, &[1.0, 1.25, 2.0]);
    let turns: Vec<f32> = [0.0, 0.5, 1.0].iter().flat_map(|a| Quat::from_rotation_y(*a).to_array()).collect();
    let turns = file.floats("VEC4", 4, &turns);
    // Values 0, 1, 1 with level slopes: a smooth step from key to key.
    let flat = |value: f32| [[0.0; 3], [value, 0.0, 0.0], [0.0; 3]].concat();
    let places = file.floats("VEC3", 3, &[flat(0.0), flat(1.0), flat(1.0)].concat());
    let bytes = file.file(json!({
        "nodes": [{"name": "Hips"}],
        "animations": [{
            "channels": [
                {"sampler": 0, "target": {"node": 0, "path": "rotation"}},
                {"sampler": 1, "target": {"node": 0, "path": "translation"}},
            ],
            "samplers": [
                {"input": times, "output": turns, "interpolation": "STEP"},
                {"input": times, "output": places, "interpolation": "CUBICSPLINE"},
            ],
        }],
    }));
    let file = parse_glb(&bytes, "uneven").unwrap();
    assert!(file.warnings[0].contains("60 Hz"), "{:?}", file.warnings);
    let motion = file.motion;
    assert_eq!((motion.frames(), motion.frame_rate_hz), (61, 60.0));
    let share = 4.0 / 60.0 / 0.25_f32;
    let smooth = share * share * (3.0 - 2.0 * share);
    assert!((motion.poses[4].root_position.x - smooth).abs() < 1e-4, "{}", motion.poses[4].root_position.x);
    assert!(motion.poses[14].local_rotations[0].angle_between(Quat::IDENTITY) < 1e-3, "a step stands");
    assert!(motion.poses[16].local_rotations[0].angle_between(Quat::from_rotation_y(0.5)) < 1e-3);
}

#[test]
fn a_file_on_disk_is_read_and_one_that_is_not_there_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("walk.glb");
    pomp_formats::write_glb(&path, &walk()).unwrap();
    assert_eq!(read_glb(&path).unwrap().motion.name, "walk");
    assert!(read_glb(&folder.path().join("none.glb")).unwrap_err().to_string().contains("none.glb"));
}

#[test]
fn rejects_what_is_no_binary_gltf_2_with_the_reason() {
    let whole = foreign(|_| {});
    let mut version_1 = whole.clone();
    version_1[4] = 1;
    for (bytes, words) in [
        (&b"HIERARCHY"[..], "glTF"),
        (&version_1[..], "version"),
        (&whole[..40], "cut off"),
        (&whole[..whole.len() - 40], "cut off"),
        (&container(b"{\"nodes\": [", &[])[..], "JSON"),
    ] {
        let error = parse_glb(bytes, "bad").unwrap_err();
        assert!(matches!(error, FormatError::Glb { .. }), "{error}");
        assert!(error.to_string().starts_with("bad: ") && error.to_string().contains(words), "{error}");
    }
}

#[test]
fn rejects_documents_that_contradict_themselves_with_the_place() {
    let refused = |change: &dyn Fn(&mut Value)| parse_glb(&foreign(change), "bad").unwrap_err().to_string();
    let refused = |place: &str, change: &dyn Fn(&mut Value)| {
        let said = refused(change);
        println!("{said}");
        assert!(said.contains(place), "{said}");
    };
    refused("node 1: it has two parents", &|d| d["nodes"][3]["children"] = json!([1]));
    refused("nodes: some are their own ancestors", &|d| {
        d["nodes"][0]["children"] = json!([]);
        d["nodes"][3]["children"] = json!([1]);
    });
    refused("node 2: one of its children", &|d| d["nodes"][2]["children"] = json!([9]));
    refused("node 1: its \"translation\"", &|d| d["nodes"][1]["translation"] = json!([1, 2]));
    refused("node 2: its rotation has no length", &|d| d["nodes"][2]["rotation"] = json!([0, 0, 0, 0]));
    refused("none turns a node", &|d| d["animations"] = json!([]));
    refused("unknown", &|d| d["animations"][1]["samplers"][0]["interpolation"] = json!("WOBBLE"));
    refused("VEC4 was expected", &|d| d["animations"][1]["samplers"][0]["output"] = json!(0));
    refused("3 times and 3 values", &|d| {
        d["animations"][1]["samplers"][1]["interpolation"] = json!("CUBICSPLINE");
    });
    refused("no index below", &|d| d["animations"][1]["channels"][0]["sampler"] = json!(7));
    refused("one of its joints does not exist", &|d| d["skins"][0]["joints"] = json!([1, 99]));
    refused("bind matrix", &|d| d["skins"][0]["joints"] = json!([1, 2]));
    refused("no common joint", &|d| {
        d["nodes"][1]["children"] = json!([]);
        d["nodes"][0]["children"] = json!([1, 2]);
    });
}

#[test]
fn rejects_numbers_that_are_missing_not_finite_or_out_of_order() {
    let with_times = |times: &[f32], change: &dyn Fn(&mut Foreign)| {
        let mut file = Foreign::default();
        let input = file.floats("SCALAR", 1, times);
        let turns: Vec<f32> = times.iter().flat_map(|_| [0.0, 0.0, 0.0, 1.0]).collect();
        let output = file.floats("VEC4", 4, &turns);
        change(&mut file);
        parse_glb(
            &file.file(json!({
                "nodes": [{"name": "Hips"}],
                "animations": [{
                    "channels": [{"sampler": 0, "target": {"node": 0, "path": "rotation"}}],
                    "samplers": [{"input": input, "output": output}],
                }],
            })),
            "bad",
        )
    };
    assert!(with_times(&[0.0, 1.0], &|_| {}).is_ok());
    let said =
        |times: &[f32], change: &dyn Fn(&mut Foreign)| with_times(times, change).unwrap_err().to_string();
    assert!(said(&[0.0, f32::NAN], &|_| {}).contains("accessor 0: row 1, number 0 is NaN"));
    assert!(said(&[0.0, 0.0], &|_| {}).contains("time 1"));
    assert!(said(&[0.0, 1e9], &|_| {}).contains("longer than"));
    assert!(said(&[0.0, 1.0], &|file| file.accessors[1]["count"] = json!(3)).contains("do not fit"));
    assert!(said(&[0.0, 1.0], &|file| file.accessors[1]["count"] = json!(u64::MAX)).contains("accessor 1"));
    assert!(said(&[0.0, 1.0], &|file| file.views[1]["byteLength"] = json!(1_000_000)).contains("outside"));
    assert!(said(&[0.0, 1.0], &|file| file.accessors[1]["sparse"] = json!({})).contains("sparse"));
    assert!(said(&[0.0, 1.0], &|file| file.accessors[1]["type"] = json!("VEC3")).contains("VEC4"));
}
