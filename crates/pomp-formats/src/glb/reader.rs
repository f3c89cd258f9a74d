use super::container::Container;
use super::key_frames::{Channel, Moves};
use super::node_tree::NodeTree;
use crate::FormatError;
use glam::{Mat4, Quat, Vec3};
use pomp_motion::{FrameTable, Joint, JointIndex, PerJoint, Pose, Skeleton, SourceMotion};
use std::collections::BTreeSet;
use std::path::Path;

/// Rate of animations whose keys do not lie evenly, and the highest one that is taken over, Hz.
const UNEVEN_HZ: f32 = 60.0;
const HIGHEST_HZ: f32 = 240.0;
/// Longest animation, seconds, and most joints: beyond these a file is no motion of a person.
const LONGEST_S: f32 = 1800.0;
pub(super) const MOST_JOINTS: usize = 1000;
/// Joints that move by less against their parents are taken to be fixed to them, metres.
const FIXED_M: f32 = 1e-4;
/// A skin whose bind pose is the pose of the nodes differs by less than this from it, radians.
const SAME_POSE: f32 = 0.09;

/// The motion of a GLB file and what was odd about it.
#[derive(Clone, Debug)]
pub struct GlbFile {
    /// The motion, metres; its rest pose is the skin's, or that of the nodes where there is no skin.
    pub motion: SourceMotion,
    /// What was interpreted or left out.
    pub warnings: Vec<String>,
}

/// Reads the first animation that turns a node in a GLB file, or in a glTF document with the files that it names, which lie beside it.
///
/// # Errors
/// [`FormatError::Io`]; [`FormatError::Glb`] with the part of the document that is wrong, also for a file without a moving
/// skeleton; [`FormatError::Motion`] for a skeleton that is none.
pub fn read_glb(path: &Path) -> Result<GlbFile, FormatError> {
    let bytes = std::fs::read(path).map_err(|source| FormatError::Io {
        action: "read",
        path: path.to_path_buf(),
        source,
    })?;
    let name = path.file_stem().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
    // The folder of a file in the working directory is "", which joins to the name alone.
    let folder = path.parent().unwrap_or(Path::new(""));
    parse(&bytes, &path.display().to_string(), &name, Some(folder))
}

/// Reads the bytes of a GLB file, or of a glTF document without other files; `name` is the motion's and stands in errors.
///
/// # Errors
/// As [`read_glb`], but for the file.
pub fn parse_glb(bytes: &[u8], name: &str) -> Result<GlbFile, FormatError> {
    parse(bytes, name, name, None)
}

fn parse(bytes: &[u8], file: &str, name: &str, folder: Option<&Path>) -> Result<GlbFile, FormatError> {
    let container = Container::with_buffers(bytes, file, folder)?;
    let tree = NodeTree::read(&container)?;
    let mut warnings = Vec::new();
    let channels = channels(&container, &tree, |_| true, &mut warnings)?.ok_or_else(|| {
        container.bad("animations", "none turns a node; export the motion with the skeleton")
    })?;
    let (joints, bind) = joints(&container, &tree, &channels)?;
    let (frame_rate_hz, times) = clock(&container, &channels, &mut warnings)?;

    // Rotations of the joints at rest, world; a joint's frame is turned so that all are upright then.
    let standing = tree.world(&tree.locals);
    let rest = rest_rotations(&tree, &joints, &bind, &standing);
    let parents = tree.joint_parents(&joints);
    let globals = globals(&tree, &channels, &times, &joints, &rest);
    let skeleton = skeleton(&tree, &joints, &parents, &bind, &rest, &globals[0])
        .map_err(|source| FormatError::Motion { file: file.to_owned(), source })?;
    let motion = motion(name, skeleton, frame_rate_hz, &parents, &globals);
    motion.validate().map_err(|source| FormatError::Motion { file: file.to_owned(), source })?;
    Ok(GlbFile { motion, warnings })
}

/// Place and upright rotation of every joint in the world, per time.
pub(super) fn globals(
    tree: &NodeTree,
    channels: &[Channel],
    times: &[f32],
    joints: &[usize],
    rest: &[Quat],
) -> Vec<Vec<(Vec3, Quat)>> {
    let mut locals = tree.locals.clone();
    let pose_at = |&time: &f32| {
        for channel in channels {
            channel.apply(time, &mut locals[channel.node]);
        }
        let world = tree.world(&locals);
        let pose = joints.iter().zip(rest).map(|(&node, rest)| {
            (world[node].w_axis.truncate(), (rotation_of(&world[node]) * rest.inverse()).normalize())
        });
        pose.collect()
    };
    times.iter().map(pose_at).collect()
}

/// The channels of the first animation that turns a node of this kind; `None` when no animation does.
pub(super) fn channels(
    container: &Container<'_>,
    tree: &NodeTree,
    counts: impl Fn(usize) -> bool,
    warnings: &mut Vec<String>,
) -> Result<Option<Vec<Channel>>, FormatError> {
    let animations = container.list("animations");
    for (index, animation) in animations.iter().enumerate() {
        let place = format!("animation {index}");
        let mut found = Vec::new();
        for channel in animation["channels"].as_array().into_iter().flatten() {
            found.extend(Channel::read(container, animation, channel, tree.len(), &place)?);
        }
        if found.iter().any(|channel| channel.moves == Moves::Rotation && counts(channel.node)) {
            if animations.len() > 1 {
                let name = animation["name"].as_str().unwrap_or("without a name");
                warnings.push(format!("of {} animations, number {index} ({name}) is read", animations.len()));
            }
            return Ok(Some(found));
        }
    }
    Ok(None)
}

/// The joints of a skin and their inverse bind matrices, where it has them.
pub(super) struct Skin {
    pub nodes: Vec<usize>,
    matrices: Option<Vec<f32>>,
}

impl Skin {
    /// Reads skin `index`.
    pub fn read(container: &Container<'_>, tree: &NodeTree, index: usize) -> Result<Self, FormatError> {
        let (place, skin) = (format!("skin {index}"), &container.list("skins")[index]);
        let list = skin["joints"].as_array().map_or(&[][..], Vec::as_slice);
        let mut nodes = Vec::with_capacity(list.len());
        for joint in list {
            let joint = joint.as_u64().and_then(|joint| usize::try_from(joint).ok());
            let joint = joint.filter(|joint| *joint < tree.len());
            nodes.push(joint.ok_or_else(|| container.bad(&place, "one of its joints does not exist"))?);
        }
        Ok(Self { nodes, matrices: None })
    }

    /// Reads its matrices.
    pub fn with_matrices(mut self, container: &Container<'_>, index: usize) -> Result<Self, FormatError> {
        let (place, skin) = (format!("skin {index}"), &container.list("skins")[index]);
        if skin.get("inverseBindMatrices").is_some() {
            let accessors = container.list("accessors").len();
            let rows =
                container.rows(container.index(skin, "inverseBindMatrices", accessors, &place)?, 16)?;
            if rows.len() != 16 * self.nodes.len() {
                return Err(container.bad(&place, "it has not one bind matrix for each joint"));
            }
            self.matrices = Some(rows);
        }
        Ok(self)
    }

    /// The matrix of a node in the bind pose, where the skin has one that can be inverted.
    pub fn bind(&self, node: usize) -> Option<Mat4> {
        let at = self.nodes.iter().position(|listed| *listed == node)?;
        let inverse = Mat4::from_cols_slice(self.matrices.as_ref()?.get(16 * at..16 * (at + 1))?);
        let bind = inverse.inverse();
        bind.is_finite().then_some(bind)
    }
}

/// The nodes that are joints, parents first, with their matrices in the bind pose where the file has them.
fn joints(
    container: &Container<'_>,
    tree: &NodeTree,
    channels: &[Channel],
) -> Result<(Vec<usize>, Vec<Option<Mat4>>), FormatError> {
    let turned: BTreeSet<usize> =
        channels.iter().filter(|c| c.moves == Moves::Rotation).map(|channel| channel.node).collect();
    let mut best: Option<(usize, usize, Skin)> = None;
    for index in 0..container.list("skins").len() {
        let skin = Skin::read(container, tree, index)?;
        let moving = skin.nodes.iter().filter(|node| turned.contains(node)).count();
        if moving > 0 && best.as_ref().is_none_or(|(most, ..)| *most < moving) {
            best = Some((moving, index, skin));
        }
    }
    let skin = match best {
        Some((_, index, skin)) => skin.with_matrices(container, index)?,
        None => Skin { nodes: turned.into_iter().collect(), matrices: None },
    };
    let ordered = tree.in_order(&skin.nodes);
    if ordered.len() > MOST_JOINTS {
        return Err(container.bad("skins", &format!("{} joints are more than {MOST_JOINTS}", ordered.len())));
    }
    let root = ordered[0];
    if let Some(&stray) = ordered[1..].iter().find(|node| tree.ancestors(**node).all(|above| above != root)) {
        let (root, stray) = (&tree.names[root], &tree.names[stray]);
        let problem = format!("\"{root}\" and \"{stray}\" hang on no common joint; export one skeleton");
        return Err(container.bad("skins", &problem));
    }
    let bind = ordered.iter().map(|&node| skin.bind(node)).collect();
    Ok((ordered, bind))
}

/// Rate and times of the frames: those of the keys where they lie evenly.
pub(super) fn clock(
    container: &Container<'_>,
    channels: &[Channel],
    warnings: &mut Vec<String>,
) -> Result<(f32, Vec<f32>), FormatError> {
    let densest =
        channels.iter().max_by_key(|channel| channel.times.len()).expect("one channel turns a node");
    let first = channels.iter().map(|channel| channel.times[0]).fold(f32::INFINITY, f32::min);
    let last = channels.iter().filter_map(|channel| channel.times.last()).copied().fold(first, f32::max);
    let seconds = last - first;
    if !(0.0..=LONGEST_S).contains(&seconds) {
        let problem = format!("it lasts {seconds:.0} s, longer than {LONGEST_S:.0} s; cut it into pieces");
        return Err(container.bad("animations", &problem));
    }
    let step = seconds / (densest.times.len() - 1).max(1) as f32;
    let even = densest
        .times
        .iter()
        .enumerate()
        .all(|(key, time)| (time - first - step * key as f32).abs() <= 0.02 * step + 1e-5);
    let own = 1.0 / step;
    let rate = if even && step > 0.0 && own <= HIGHEST_HZ {
        // Times are rounded; rates mostly are whole numbers.
        if (own - own.round()).abs() < 0.01 { own.round() } else { own }
    } else {
        warnings.push(format!("its keys do not lie evenly; it is sampled at {UNEVEN_HZ} Hz"));
        UNEVEN_HZ
    };
    let frames = (seconds * rate).round() as usize + 1;
    Ok((rate, (0..frames).map(|frame| first + frame as f32 / rate).collect()))
}

/// World rotations of the joints in the rest pose.
///
/// Bind matrices stand in the space of the mesh, which may lie turned in the world. Where most nodes stand in the bind pose, they tell
/// how; where they do not, what is above the root does.
pub(super) fn rest_rotations(
    tree: &NodeTree,
    joints: &[usize],
    bind: &[Option<Mat4>],
    standing: &[Mat4],
) -> Vec<Quat> {
    let nodes: Vec<Quat> = joints.iter().map(|&node| rotation_of(&standing[node])).collect();
    let bound: Option<Vec<Quat>> = bind.iter().map(|bind| bind.as_ref().map(rotation_of)).collect();
    let Some(bound) = bound else { return nodes };
    let stand = |turn: Quat| {
        let pairs = nodes.iter().zip(&bound);
        pairs.filter(|(node, bound)| node.angle_between(turn * **bound) < SAME_POSE).count()
    };
    let of_root = nodes[0] * bound[0].inverse();
    if stand(of_root) == nodes.len() {
        return nodes;
    }
    // Where some joints alone are in another pose, the others tell.
    if let Some(turn) = [of_root, Quat::IDENTITY].into_iter().find(|turn| 2 * stand(*turn) > nodes.len()) {
        return bound.into_iter().map(|bound| (turn * bound).normalize()).collect();
    }
    let above = tree.parents[joints[0]].map_or(Quat::IDENTITY, |parent| rotation_of(&standing[parent]));
    bound.into_iter().map(|bound| above * bound).collect()
}

/// The skeleton in its rest pose. Bones are as long as in the first frame: a bind pose may have another unit.
fn skeleton(
    tree: &NodeTree,
    joints: &[usize],
    parents: &[Option<usize>],
    bind: &[Option<Mat4>],
    rest: &[Quat],
    first: &[(Vec3, Quat)],
) -> Result<Skeleton, pomp_motion::MotionError> {
    let offset = |joint: usize, parent: usize| -> Vec3 {
        let now = first[parent].1.inverse() * (first[joint].0 - first[parent].0);
        let (Some(own), Some(above)) = (&bind[joint], &bind[parent]) else { return now };
        let turn = rest[parent] * rotation_of(above).inverse();
        let way = turn * (own.w_axis - above.w_axis).truncate();
        way.try_normalize().map_or(now, |way| way * now.length())
    };
    let joint = |index: usize| Joint {
        name: tree.names[joints[index]].clone(),
        parent: parents[index].map(JointIndex),
        offset: parents[index].map_or(first[index].0, |parent| offset(index, parent)),
    };
    Skeleton::new((0..joints.len()).map(joint).collect())
}

pub(super) fn motion(
    name: &str,
    skeleton: Skeleton,
    frame_rate_hz: f32,
    parents: &[Option<usize>],
    globals: &[Vec<(Vec3, Quat)>],
) -> SourceMotion {
    let mut translations = FrameTable::with_columns(skeleton.len());
    let mut moved = false;
    let poses = globals
        .iter()
        .map(|frame| {
            let mut row = Vec::with_capacity(frame.len());
            let mut local_rotations = PerJoint::with_capacity(frame.len());
            for (index, &(position, rotation)) in frame.iter().enumerate() {
                let Some(parent) = parents[index] else {
                    row.push(position);
                    local_rotations.push(rotation);
                    continue;
                };
                let (from, turn) = frame[parent];
                let translation = turn.inverse() * (position - from);
                moved |= translation.distance(skeleton.joints()[index].offset) > FIXED_M;
                row.push(translation);
                local_rotations.push((turn.inverse() * rotation).normalize());
            }
            translations.push(&row);
            Pose { root_position: frame[0].0, local_rotations }
        })
        .collect();
    SourceMotion {
        name: name.to_owned(),
        skeleton,
        end_sites: Vec::new(),
        frame_rate_hz,
        poses,
        joint_translations: moved.then_some(translations),
    }
}

/// The rotation of a movement that may also scale.
pub(super) fn rotation_of(matrix: &Mat4) -> Quat {
    matrix.to_scale_rotation_translation().1
}
