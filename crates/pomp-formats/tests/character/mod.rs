//! A character as a modelling program exports it: an armature in centimetres with Z up, joint frames along the bones, a skinned mesh, a
//! texture, an animation of its own, and parts of the document that this repository knows nothing of.

#![allow(dead_code, reason = "each test uses a part")]

use pomp_motion::glam::{Mat4, Quat, Vec3};
use pomp_motion::{JointIndex, Skeleton};
use serde_json::{Value, json};
use std::f32::consts::FRAC_PI_2;

/// Bytes of the texture; a reader of meshes would decode them.
pub const TEXTURE: &[u8] = b"\x89PNG not decoded here";

/// The document of a character and the bytes of its buffer.
pub struct Character {
    pub document: Value,
    pub bytes: Vec<u8>,
}

/// Rotation of a joint's frame in the rest pose; another one for every joint.
pub fn frame_of(joint: usize) -> Quat {
    let t = joint as f32;
    Quat::from_scaled_axis(Vec3::new((1.7 * t).sin(), (2.3 * t).cos(), (0.9 * t + 1.0).sin()) * 1.3)
}

/// Node of a joint.
pub fn node_of(joint: usize) -> usize {
    joint + 1
}

impl Character {
    /// A character with the joints of a skeleton, metres, which stands with its root where the skeleton has it.
    pub fn new(skeleton: &Skeleton) -> Self {
        let mut character = Self { document: json!({"asset": {"version": "2.0"}}), bytes: Vec::new() };
        for name in ["bufferViews", "accessors"] {
            character.document[name] = json!([]);
        }
        let armature = Quat::from_rotation_x(-FRAC_PI_2);
        let joints = skeleton.joints();
        let children = |joint: Option<usize>| -> Vec<usize> {
            let is_child = |at: &usize| joints[*at].parent.map(|JointIndex(parent)| parent) == joint;
            (0..joints.len()).filter(is_child).map(node_of).collect()
        };
        let mut nodes = vec![json!({
            "name": "Armature", "scale": [0.01, 0.01, 0.01], "rotation": armature.to_array(), "children": children(None),
        })];
        for (index, joint) in joints.iter().enumerate() {
            let above = joint.parent.map_or(armature, |parent| frame_of(parent.0));
            let mut node = json!({
                "name": joint.name,
                "translation": (above.inverse() * joint.offset * 100.0).to_array(),
                "rotation": (above.inverse() * frame_of(index)).normalize().to_array(),
            });
            if !children(Some(index)).is_empty() {
                node["children"] = json!(children(Some(index)));
            }
            nodes.push(node);
        }
        nodes.push(json!({"name": "Body", "mesh": 0, "skin": 0, "extras": {"colour": 0.1}}));
        character.document["nodes"] = json!(nodes);
        character.document["scenes"] = json!([{"nodes": [0, joints.len() + 1]}]);
        character.document["scene"] = json!(0);
        character.add_mesh(skeleton);
        character.add_own_animation();
        character.document["extensionsUsed"] = json!(["EXT_of_another_program"]);
        character.document["extensions"] =
            json!({"EXT_of_another_program": {"bone": 3, "weight": 0.30000001}});
        character
    }

    fn add_mesh(&mut self, skeleton: &Skeleton) {
        let rest = skeleton.forward_kinematics(&pomp_motion::Pose::rest(skeleton)).positions;
        let (mut positions, mut joints, mut weights, mut matrices) = (vec![], vec![], vec![], vec![]);
        for (index, at) in rest.iter().enumerate() {
            for corner in [Vec3::ZERO, Vec3::X * 0.05, Vec3::Y * 0.05] {
                positions.extend((*at + corner).to_array());
                joints.extend([index as u8, 0, 0, 0]);
                weights.extend([1.0, 0.0, 0.0, 0.0]);
            }
            let world = Mat4::from_scale_rotation_translation(Vec3::splat(0.01), frame_of(index), *at);
            matrices.extend(world.inverse().to_cols_array());
        }
        let positions = self.floats("VEC3", 3, &positions);
        let corners = 3 * rest.len();
        self.document["accessors"][positions]["min"] = json!([-10.0, -10.0, -10.0]);
        self.document["accessors"][positions]["max"] = json!([10.0, 10.0, 10.0]);
        let joints = self.accessor("VEC4", 5121, corners, &joints);
        let weights = self.floats("VEC4", 4, &weights);
        let matrices = self.floats("MAT4", 16, &matrices);
        let texture = self.view(TEXTURE);
        self.document["meshes"] = json!([{"name": "body", "primitives": [{
            "attributes": {"POSITION": positions, "JOINTS_0": joints, "WEIGHTS_0": weights}, "material": 0,
        }]}]);
        let nodes: Vec<usize> = (0..rest.len()).map(node_of).collect();
        self.document["skins"] = json!([{"joints": nodes, "inverseBindMatrices": matrices}]);
        self.document["materials"] =
            json!([{"pbrMetallicRoughness": {"baseColorTexture": {"index": 0}, "metallicFactor": 0.1}}]);
        self.document["textures"] = json!([{"source": 0}]);
        self.document["images"] = json!([{"bufferView": texture, "mimeType": "image/png"}]);
    }

    /// The character nods: joint 1 turns to and fro.
    fn add_own_animation(&mut self) {
        let times = self.floats("SCALAR", 1, &[0.0, 0.5, 1.0]);
        self.document["accessors"][times]["min"] = json!([0.0]);
        self.document["accessors"][times]["max"] = json!([1.0]);
        let rest = self.document["nodes"][node_of(1)]["rotation"].as_array().unwrap();
        let rest: Vec<f32> = rest.iter().map(|value| value.as_f64().unwrap() as f32).collect();
        let turns = self.floats("VEC4", 4, &[&rest[..], &rest, &rest].concat());
        self.document["animations"] = json!([{
            "name": "idle",
            "channels": [{"sampler": 0, "target": {"node": node_of(1), "path": "rotation"}}],
            "samplers": [{"input": times, "output": turns}],
        }]);
    }

    /// Appends bytes that do not begin at a multiple of four by themselves.
    pub fn view(&mut self, bytes: &[u8]) -> usize {
        self.bytes.resize(self.bytes.len().next_multiple_of(4), 0);
        let views = self.document["bufferViews"].as_array_mut().unwrap();
        views.push(json!({"buffer": 0, "byteOffset": self.bytes.len(), "byteLength": bytes.len()}));
        self.bytes.extend_from_slice(bytes);
        views.len() - 1
    }

    pub fn accessor(&mut self, kind: &str, component: u32, count: usize, bytes: &[u8]) -> usize {
        let view = self.view(bytes);
        let accessors = self.document["accessors"].as_array_mut().unwrap();
        accessors.push(json!({"bufferView": view, "componentType": component, "count": count, "type": kind}));
        accessors.len() - 1
    }

    pub fn floats(&mut self, kind: &str, width: usize, values: &[f32]) -> usize {
        let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        self.accessor(kind, 5126, values.len() / width, &bytes)
    }

    /// The GLB file.
    pub fn glb(&self) -> Vec<u8> {
        let mut document = self.document.clone();
        document["buffers"] = json!([{"byteLength": self.bytes.len(), "name": "geometry"}]);
        container(document.to_string().as_bytes(), &self.bytes)
    }
}

/// Header and two chunks.
pub fn container(json: &[u8], binary: &[u8]) -> Vec<u8> {
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

/// Document and binary chunk of a GLB file.
pub fn taken_apart(glb: &[u8]) -> (Value, Vec<u8>) {
    let word = |at: usize| u32::from_le_bytes(glb[at..at + 4].try_into().unwrap()) as usize;
    let end = 20 + word(12);
    (serde_json::from_slice(&glb[20..end]).unwrap(), glb[end + 8..end + 8 + word(end)].to_vec())
}

/// The bytes of the view of an accessor.
pub fn bytes_of<'a>(document: &Value, binary: &'a [u8], accessor: usize) -> &'a [u8] {
    let view =
        &document["bufferViews"][document["accessors"][accessor]["bufferView"].as_u64().unwrap() as usize];
    let first = view["byteOffset"].as_u64().unwrap() as usize;
    &binary[first..first + view["byteLength"].as_u64().unwrap() as usize]
}
