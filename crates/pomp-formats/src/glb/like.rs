//! A motion written into another file: its nodes, meshes and skins stay, and it gets an animation.

use super::buffer::{Before, Buffer};
use super::document::{container, sampler};
use super::model::{Contents, GlbModel};
use super::uri;
use crate::{FormatError, write_atomically};
use glam::{DQuat, DVec3, Quat, Vec3};
use pomp_motion::SourceMotion;
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// A joint moves in its parent where its translation differs by more than this from its offset, share of the longest offset.
const MOVES: f32 = 1e-5;
/// A joint turns in its parent where its rotation differs by more than this from that of the first frame, radians.
const TURNS: f64 = 1e-6;

/// Parts of a document by name; those that are not changed keep their text.
type Document = BTreeMap<String, Box<RawValue>>;

/// Writes `motion` into the file of `model` as a GLB file; see [`glb_bytes_like`].
///
/// # Errors
/// As [`glb_bytes_like`], and [`FormatError::Io`] when the file cannot be written.
pub fn write_glb_like(path: &Path, model: &GlbModel, motion: &SourceMotion) -> Result<(), FormatError> {
    let bytes = encode(model, motion, &path.display().to_string())?;
    write_atomically(path, |out| out.write_all(&bytes))
}

/// The bytes of a GLB file with everything in the file of `model` and a new animation, `motion`, which is the first in the list.
///
/// Buffer 0 becomes the binary chunk. Its bytes stay where they are, those of the animation follow. Other buffers and images in files of
/// their own become `data:` URIs. Parts of the document other than animations, accessors, buffer views, buffers, images and the
/// transforms of joints that are written as matrices keep their text. A matrix becomes translation, rotation and scale, because glTF
/// animates only these.
///
/// The motion is on the skeleton of `model`, in its unit and axes. Every joint gets a rotation, and a translation where the motion moves
/// it in its parent.
///
/// # Errors
/// [`FormatError::CannotWrite`] when the motion has other joints than `model`, or the result is beyond the 4 GiB of the format;
/// [`FormatError::Glb`] for a part of the document that cannot be kept, or a file it names that cannot be read;
/// [`FormatError::Motion`] for a motion that breaks the rules of [`SourceMotion::validate`].
pub fn glb_bytes_like(model: &GlbModel, motion: &SourceMotion) -> Result<Vec<u8>, FormatError> {
    encode(model, motion, &motion.name)
}

fn encode(model: &GlbModel, motion: &SourceMotion, file: &str) -> Result<Vec<u8>, FormatError> {
    let cannot = |problem: String| FormatError::CannotWrite { file: file.to_owned(), problem };
    motion.validate().map_err(|source| FormatError::Motion { file: file.to_owned(), source })?;
    let (own, wanted) = (motion.skeleton.joints(), model.motion.skeleton.joints());
    if own.len() != wanted.len()
        || own.iter().zip(wanted).any(|(a, b)| (&a.name, a.parent) != (&b.name, b.parent))
    {
        return Err(cannot(format!(
            "the motion \"{}\" has other joints than the skeleton of \"{}\"",
            motion.name, model.contents.file
        )));
    }
    let contents = &*model.contents;
    let mut document: Document =
        serde_json::from_slice(&contents.json).map_err(|error| contents.bad("JSON", &error.to_string()))?;
    let mut binary = own_binary(contents, &mut document)?;
    let mut buffer = Buffer {
        before: Before {
            bytes: binary.len(),
            views: contents.list(&document, "bufferViews")?.len(),
            accessors: contents.list(&document, "accessors")?.len(),
        },
        ..Buffer::default()
    };
    let keys = keys(model, motion);
    if let Some((frame, joint)) = keys.not_finite() {
        return Err(cannot(format!(
            "in frame {frame} the motion has joint \"{}\" too far away for the numbers of the format; check the motion",
            own[joint].name
        )));
    }
    let animation = animation(model, motion, &keys, &mut buffer);
    binary.append(&mut buffer.bytes);
    contents.extend(&mut document, "bufferViews", 0, &buffer.views)?;
    contents.extend(&mut document, "accessors", 0, &buffer.accessors)?;
    contents.extend(&mut document, "animations", 1, &[animation])?;
    contents.set_buffer_length(&mut document, binary.len())?;
    contents.embed(&mut document, "buffers", 1)?;
    contents.embed(&mut document, "images", 0)?;
    contents.take_matrices_apart(&mut document)?;
    let text = serde_json::to_vec(&document).map_err(|error| contents.bad("JSON", &error.to_string()))?;
    container(text, binary).ok_or_else(|| {
        cannot(format!(
            "with {} it is larger than the 4 GiB of the format; shorten the motion",
            contents.file
        ))
    })
}

/// The bytes of buffer 0, padded so that numbers may follow.
fn own_binary(contents: &Contents, document: &mut Document) -> Result<Vec<u8>, FormatError> {
    let buffers = contents.list(document, "buffers")?;
    let Some(first) = buffers.first() else { return Ok(Vec::new()) };
    let first: Value =
        serde_json::from_str(first.get()).map_err(|error| contents.bad("buffer 0", &error.to_string()))?;
    let length = first["byteLength"].as_u64().and_then(|length| usize::try_from(length).ok());
    let kept = length.and_then(|length| contents.binary.get(..length));
    let Some(kept) = kept else {
        let problem = format!(
            "its \"byteLength\" is {}, and it has {} bytes; export the file again",
            first["byteLength"],
            contents.binary.len()
        );
        return Err(contents.bad("buffer 0", &problem));
    };
    let mut binary = kept.to_vec();
    binary.resize(binary.len().next_multiple_of(4), 0);
    Ok(binary)
}

impl Contents {
    fn bad(&self, place: &str, problem: &str) -> FormatError {
        FormatError::Glb { file: self.file.clone(), place: place.to_owned(), problem: problem.to_owned() }
    }

    /// The objects of a list of the document; none when it has no such list.
    fn list(&self, document: &Document, name: &str) -> Result<Vec<Box<RawValue>>, FormatError> {
        document.get(name).map_or(Ok(Vec::new()), |list| {
            serde_json::from_str(list.get()).map_err(|error| self.bad(name, &error.to_string()))
        })
    }

    fn set_list(
        &self,
        document: &mut Document,
        name: &str,
        list: &[Box<RawValue>],
    ) -> Result<(), FormatError> {
        let raw = to_raw_value(list).map_err(|error| self.bad(name, &error.to_string()))?;
        document.insert(name.to_owned(), raw);
        Ok(())
    }

    /// Adds objects to a list: before the others where `first` is 1, behind them where it is 0.
    fn extend(
        &self,
        document: &mut Document,
        name: &str,
        first: usize,
        added: &[Value],
    ) -> Result<(), FormatError> {
        let old = self.list(document, name)?;
        let added = added.iter().map(to_raw_value).collect::<Result<Vec<_>, _>>();
        let added = added.map_err(|error| self.bad(name, &error.to_string()))?;
        let list: Vec<Box<RawValue>> = if first == 1 {
            added.into_iter().chain(old).collect()
        } else {
            old.into_iter().chain(added).collect()
        };
        self.set_list(document, name, &list)
    }

    /// Changes the objects of a list by `change`, which says whether it did.
    fn change(
        &self,
        document: &mut Document,
        name: &str,
        mut change: impl FnMut(usize, &mut Value) -> Result<bool, FormatError>,
    ) -> Result<(), FormatError> {
        let mut list = self.list(document, name)?;
        let mut changed = false;
        for (index, raw) in list.iter_mut().enumerate() {
            let unread = |error: serde_json::Error| self.bad(&format!("{name} {index}"), &error.to_string());
            let mut value: Value = serde_json::from_str(raw.get()).map_err(unread)?;
            if change(index, &mut value)? {
                *raw = to_raw_value(&value).map_err(unread)?;
                changed = true;
            }
        }
        if changed { self.set_list(document, name, &list) } else { Ok(()) }
    }

    /// Buffer 0 is the binary chunk, of this length.
    fn set_buffer_length(&self, document: &mut Document, length: usize) -> Result<(), FormatError> {
        if self.list(document, "buffers")?.is_empty() {
            return self.extend(document, "buffers", 0, &[json!({"byteLength": length})]);
        }
        self.change(document, "buffers", |index, buffer| {
            if let (0, Some(buffer)) = (index, buffer.as_object_mut()) {
                buffer.remove("uri");
                buffer.insert("byteLength".to_owned(), json!(length));
            }
            Ok(index == 0)
        })
    }

    /// Puts the files that objects of a list name into their URIs, from the object `from` on.
    fn embed(&self, document: &mut Document, name: &str, from: usize) -> Result<(), FormatError> {
        self.change(document, name, |index, object| {
            let place = || format!("{} {index}", name.trim_end_matches('s'));
            let Some(uri) = object.get("uri").filter(|_| index >= from) else { return Ok(false) };
            let uri = uri.as_str().ok_or_else(|| self.bad(&place(), "its \"uri\" is no text"))?;
            if uri.starts_with("data:") {
                return Ok(false);
            }
            let bytes =
                uri::contents(uri, self.folder.as_deref()).map_err(|problem| self.bad(&place(), &problem))?;
            let kind = match uri.rsplit_once('.').map(|(_, kind)| kind.to_ascii_lowercase()).as_deref() {
                Some("png") => "image/png",
                Some("jpg" | "jpeg") => "image/jpeg",
                Some("webp") => "image/webp",
                Some("ktx2") => "image/ktx2",
                _ => "application/octet-stream",
            };
            object["uri"] = json!(uri::of_data(kind, &bytes));
            Ok(true)
        })
    }

    /// glTF animates translation, rotation and scale, not matrices.
    fn take_matrices_apart(&self, document: &mut Document) -> Result<(), FormatError> {
        let joints: BTreeSet<usize> = self.joints.iter().copied().collect();
        self.change(document, "nodes", |index, node| {
            let Some(node) = node.as_object_mut().filter(|_| joints.contains(&index)) else {
                return Ok(false);
            };
            if node.remove("matrix").is_none() {
                return Ok(false);
            }
            let local = &self.tree.locals[index];
            node.insert("translation".to_owned(), json!(local.translation.to_array()));
            node.insert("rotation".to_owned(), json!(local.rotation.to_array()));
            node.insert("scale".to_owned(), json!(local.scale.to_array()));
            Ok(true)
        })
    }
}

/// Keys of the joints in their nodes, and whether they need them.
struct Keys {
    /// Per joint the rotation of every frame.
    rotations: Vec<Vec<DQuat>>,
    /// Per joint the translation of every frame; empty for one that does not move in its parent.
    translations: Vec<Vec<DVec3>>,
}

impl Keys {
    /// Frame and joint of a key that 32 bits do not hold.
    fn not_finite(&self) -> Option<(usize, usize)> {
        let joints = self.rotations.iter().zip(&self.translations).enumerate();
        joints.into_iter().find_map(|(joint, (rotations, translations))| {
            let frame = rotations.iter().position(|q| !q.is_finite());
            let frame = frame.or_else(|| translations.iter().position(|at| !at.as_vec3().is_finite()));
            frame.map(|frame| (frame, joint))
        })
    }
}

fn animation(model: &GlbModel, motion: &SourceMotion, keys: &Keys, buffer: &mut Buffer) -> Value {
    let times: Vec<[f32; 1]> =
        (0..motion.frames()).map(|frame| [(frame as f64 / f64::from(motion.frame_rate_hz)) as f32]).collect();
    let start = buffer.floats("SCALAR", &times[..1], true);
    let times = buffer.floats("SCALAR", &times, true);
    let (mut channels, mut samplers) = (Vec::new(), Vec::new());
    let mut add = |node: usize, path: &str, input: usize, output: usize| {
        channels.push(json!({"sampler": samplers.len(), "target": {"node": node, "path": path}}));
        samplers.push(sampler(input, output));
    };
    for (joint, &node) in model.contents.joints.iter().enumerate() {
        let rotations = &keys.rotations[joint];
        let turns = rotations.iter().any(|q| q.angle_between(rotations[0]) > TURNS);
        // A joint that does not turn has one key, which holds for all times.
        let (input, kept) = if turns { (times, &rotations[..]) } else { (start, &rotations[..1]) };
        let mut before = Quat::IDENTITY;
        let rows = kept.iter().map(|q| {
            let rotation = q.as_quat();
            // Neighbouring keys on one half of the sphere, for viewers that do not look for the shorter way.
            before = if before.dot(rotation) < 0.0 { -rotation } else { rotation };
            before.to_array()
        });
        let rows: Vec<[f32; 4]> = rows.collect();
        add(node, "rotation", input, buffer.floats("VEC4", &rows, false));
        let translations: Vec<[f32; 3]> =
            keys.translations[joint].iter().map(|at| at.as_vec3().to_array()).collect();
        if !translations.is_empty() {
            add(node, "translation", times, buffer.floats("VEC3", &translations, false));
        }
    }
    json!({"name": motion.name, "channels": channels, "samplers": samplers})
}

/// The node transforms that put every joint where the motion has it. Nodes that are no joints keep theirs.
fn keys(model: &GlbModel, motion: &SourceMotion) -> Keys {
    let Contents { tree, joints, rest, .. } = &*model.contents;
    let offsets: Vec<Vec3> = model.motion.skeleton.joints().iter().map(|joint| joint.offset).collect();
    let translation = |frame: usize, joint: usize| match &motion.joint_translations {
        Some(table) => table[frame][joint],
        None if joint == 0 => motion.poses[frame].root_position,
        None => motion.skeleton.joints()[joint].offset,
    };
    let longest = offsets.iter().map(|offset| offset.length()).fold(0.0, f32::max);
    let moves: Vec<bool> = (0..joints.len())
        .map(|joint| {
            (0..motion.frames())
                .any(|frame| translation(frame, joint).distance(offsets[joint]) > MOVES * longest)
        })
        .collect();
    let place: BTreeMap<usize, usize> =
        joints.iter().enumerate().map(|(joint, node)| (*node, joint)).collect();
    let parents = tree.joint_parents(joints);
    // The joints, and the nodes above and between them, parents first.
    let above = joints.iter().flat_map(|&node| std::iter::once(node).chain(tree.ancestors(node)));
    let nodes = tree.in_order(&above.collect::<BTreeSet<usize>>().into_iter().collect::<Vec<_>>());
    let mut keys = Keys {
        rotations: vec![Vec::with_capacity(motion.frames()); joints.len()],
        translations: vec![Vec::new(); joints.len()],
    };
    let mut world = vec![(DVec3::ZERO, DQuat::IDENTITY, 1.0_f64); tree.len()];
    for (frame, pose) in motion.poses.iter().enumerate() {
        // World rotations of the joints in their upright frames.
        let mut upright: Vec<DQuat> = Vec::with_capacity(joints.len());
        for &node in &nodes {
            let local = &tree.locals[node];
            let (from, turn, scale) =
                tree.parents[node].map_or((DVec3::ZERO, DQuat::IDENTITY, 1.0), |parent| world[parent]);
            let mut rotation = local.rotation.as_dquat().normalize();
            let mut at = local.translation.as_dvec3();
            if let Some(&joint) = place.get(&node) {
                let own = pose.local_rotations[joint].as_dquat();
                let in_world = parents[joint].map_or(own, |parent| upright[parent] * own).normalize();
                upright.push(in_world);
                rotation = (turn.inverse() * in_world * rest[joint].as_dquat()).normalize();
                keys.rotations[joint].push(rotation);
                if moves[joint] {
                    let moved = translation(frame, joint).as_dvec3();
                    let wanted = parents[joint]
                        .map_or(moved, |parent| world[joints[parent]].0 + upright[parent] * moved);
                    at = turn.inverse() * (wanted - from) / scale;
                    keys.translations[joint].push(at);
                }
            }
            let factor = f64::from(local.scale.max_element());
            world[node] = (from + turn * (at * scale), (turn * rotation).normalize(), scale * factor);
        }
    }
    keys
}
