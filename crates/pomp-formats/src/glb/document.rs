use super::bone_mesh::bone_mesh;
use super::buffer::Buffer;
use crate::check_clip::check_clip;
use crate::{FormatError, write_atomically};
use glam::{Mat4, Quat};
use pomp_motion::{Clip, JointIndex, Pose};
use serde_json::{Value, json};
use std::path::Path;

/// Joint indices of a skin are 16-bit.
const MAX_JOINTS: usize = 1 << 16;
const MAGIC: u32 = u32::from_le_bytes(*b"glTF");
const CHUNK_JSON: u32 = u32::from_le_bytes(*b"JSON");
const CHUNK_BIN: u32 = u32::from_le_bytes(*b"BIN\0");

/// Writes a clip as GLB; see [`crate::glb`] for what is in it. The same clip gives the same bytes.
///
/// # Errors
/// [`FormatError::Motion`] for a pose that is not finite or not of the skeleton, [`FormatError::CannotWrite`] for
/// a clip beyond the 4 GiB of the format, [`FormatError::Io`] when the file cannot be written.
pub fn write_glb(path: &Path, clip: &Clip) -> Result<(), FormatError> {
    let bytes = encode(clip, &path.display().to_string())?;
    write_atomically(path, |out| out.write_all(&bytes))
}

/// The bytes of a GLB file of a clip, for a page that embeds it.
///
/// # Errors
/// As [`write_glb`], but for the file.
pub fn glb_bytes(clip: &Clip) -> Result<Vec<u8>, FormatError> {
    encode(clip, &clip.name)
}

fn encode(clip: &Clip, file: &str) -> Result<Vec<u8>, FormatError> {
    let cannot =
        |problem: &str| FormatError::CannotWrite { file: file.to_owned(), problem: problem.to_owned() };
    check_clip(clip, file)?;
    if clip.skeleton.len() > MAX_JOINTS {
        return Err(cannot("more joints than a glTF skin can have"));
    }
    let mut buffer = Buffer::default();
    let joints = clip.skeleton.len();
    let mut nodes = joint_nodes(clip);
    let mesh = mesh(clip, &mut buffer);
    let has_mesh = mesh.is_some();
    if has_mesh {
        nodes.push(json!({"name": "bones", "mesh": 0, "skin": 0}));
    }
    let animation = animation(clip, &mut buffer);
    let scene_nodes: Vec<usize> = if has_mesh { vec![0, joints] } else { vec![0] };
    let mut document = json!({
        "asset": {"version": "2.0", "generator": concat!("pomp-formats ", env!("CARGO_PKG_VERSION"))},
        "scene": 0,
        "scenes": [{"name": clip.name, "nodes": scene_nodes}],
        "nodes": nodes,
        "animations": [animation],
    });
    if let Some(mesh) = mesh {
        let inverse_bind = inverse_bind_matrices(clip, &mut buffer);
        let skin_joints: Vec<usize> = (0..joints).collect();
        document["meshes"] = json!([mesh]);
        document["skins"] =
            json!([{"joints": skin_joints, "skeleton": 0, "inverseBindMatrices": inverse_bind}]);
        document["materials"] = json!([{
            "name": "bones",
            "pbrMetallicRoughness": {"baseColorFactor": [0.80, 0.62, 0.42, 1.0], "metallicFactor": 0.0, "roughnessFactor": 0.8},
        }]);
    }
    document["accessors"] = Value::Array(buffer.accessors);
    document["bufferViews"] = Value::Array(buffer.views);
    document["buffers"] = json!([{"byteLength": buffer.bytes.len()}]);
    container(document.to_string().into_bytes(), buffer.bytes)
        .ok_or_else(|| cannot("the clip is larger than the 4 GiB of the format; split it"))
}

/// One node per joint, in rest position.
fn joint_nodes(clip: &Clip) -> Vec<Value> {
    let joints = clip.skeleton.joints();
    let mut children = vec![Vec::new(); joints.len()];
    for (index, joint) in joints.iter().enumerate() {
        if let Some(JointIndex(parent)) = joint.parent {
            children[parent].push(index);
        }
    }
    joints
        .iter()
        .zip(children)
        .map(|(joint, children)| {
            let mut node = json!({"name": joint.name, "translation": joint.offset.to_array()});
            // An empty list of children is not valid glTF.
            if !children.is_empty() {
                node["children"] = json!(children);
            }
            node
        })
        .collect()
}

/// The bones, each vertex carried by one joint; `None` when all joints coincide.
fn mesh(clip: &Clip, buffer: &mut Buffer) -> Option<Value> {
    let rest = clip.skeleton.forward_kinematics(&Pose::rest(&clip.skeleton));
    let bones = bone_mesh(&clip.skeleton, &rest);
    if bones.positions.is_empty() {
        return None;
    }
    let carriers: Vec<[u16; 4]> = bones.joints.iter().map(|&joint| [joint, 0, 0, 0]).collect();
    let weights = vec![[1.0, 0.0, 0.0, 0.0]; carriers.len()];
    Some(json!({
        "name": "bones",
        "primitives": [{
            "attributes": {
                "POSITION": buffer.floats("VEC3", &bones.positions, true),
                "NORMAL": buffer.floats("VEC3", &bones.normals, false),
                "JOINTS_0": buffer.joint_indices(&carriers),
                "WEIGHTS_0": buffer.floats("VEC4", &weights, false),
            },
            "material": 0,
        }],
    }))
}

fn inverse_bind_matrices(clip: &Clip, buffer: &mut Buffer) -> usize {
    let rest = clip.skeleton.forward_kinematics(&Pose::rest(&clip.skeleton));
    let matrices: Vec<[f32; 16]> =
        rest.positions.iter().map(|&p| Mat4::from_translation(-p).to_cols_array()).collect();
    buffer.floats("MAT4", &matrices, false)
}

fn animation(clip: &Clip, buffer: &mut Buffer) -> Value {
    let times: Vec<[f32; 1]> =
        (0..clip.frames()).map(|frame| [(frame as f64 / f64::from(clip.frame_rate_hz)) as f32]).collect();
    let times = buffer.floats("SCALAR", &times, true);
    let positions: Vec<[f32; 3]> = clip.poses.iter().map(|pose| pose.root_position.to_array()).collect();
    let mut samplers = vec![sampler(times, buffer.floats("VEC3", &positions, false))];
    let mut channels = vec![json!({"sampler": 0, "target": {"node": 0, "path": "translation"}})];
    for joint in 0..clip.skeleton.len() {
        let mut before = Quat::IDENTITY;
        let rotations: Vec<[f32; 4]> = clip
            .poses
            .iter()
            .map(|pose| {
                let rotation = pose.local_rotations[joint].normalize();
                // Neighbouring keys on one half of the sphere: viewers that do not look for the shorter way
                // between them then find it all the same.
                before = if before.dot(rotation) < 0.0 { -rotation } else { rotation };
                before.to_array()
            })
            .collect();
        channels.push(json!({"sampler": samplers.len(), "target": {"node": joint, "path": "rotation"}}));
        samplers.push(sampler(times, buffer.floats("VEC4", &rotations, false)));
    }
    json!({"name": clip.name, "channels": channels, "samplers": samplers})
}

pub(super) fn sampler(input: usize, output: usize) -> Value {
    json!({"input": input, "interpolation": "LINEAR", "output": output})
}

/// Header and two chunks, each padded to four bytes; `None` when a length does not fit.
pub(super) fn container(mut text: Vec<u8>, mut binary: Vec<u8>) -> Option<Vec<u8>> {
    text.resize(text.len().next_multiple_of(4), b' ');
    binary.resize(binary.len().next_multiple_of(4), 0);
    let total = 12 + 8 + text.len() + 8 + binary.len();
    let mut out = Vec::with_capacity(total);
    for word in [MAGIC, 2, u32::try_from(total).ok()?, u32::try_from(text.len()).ok()?, CHUNK_JSON] {
        out.extend_from_slice(&word.to_le_bytes());
    }
    out.extend_from_slice(&text);
    for word in [u32::try_from(binary.len()).ok()?, CHUNK_BIN] {
        out.extend_from_slice(&word.to_le_bytes());
    }
    out.extend_from_slice(&binary);
    Some(out)
}
