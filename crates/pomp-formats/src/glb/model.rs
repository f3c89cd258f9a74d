use super::container::Container;
use super::key_frames::Moves;
use super::node_tree::NodeTree;
use super::reader::{self, MOST_JOINTS, Skin, channels, clock, globals, rest_rotations, rotation_of};
use crate::FormatError;
use glam::{Mat4, Quat, Vec3};
use pomp_motion::{Joint, JointIndex, Skeleton, SourceMotion};
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Frame rate of a file without an animation, which has one frame, Hz.
const STILL_HZ: f32 = 30.0;
/// Most skins, and most nodes above a joint: the search for the skeleton takes time for each of them.
const MOST_SKINS: usize = 256;
const DEEPEST: usize = 1000;
/// Largest difference of the factors of a uniform scale, share of the largest.
const UNIFORM: f32 = 2e-3;

/// A skeleton in a GLB or glTF file, with everything else in the file: what [`super::write_glb_like`] writes a motion into.
#[derive(Clone, Debug)]
pub struct GlbModel {
    /// The skeleton and its motion in the unit of the file. The rest pose is the bind pose of the skin, or the pose of the nodes where
    /// there is no skin; joint frames are aligned with the world in it. The motion is the first animation that turns a joint, or the
    /// pose of the nodes where there is none. Offsets are those of the nodes without an animation.
    pub motion: SourceMotion,
    /// What was interpreted or left out.
    pub warnings: Vec<String>,
    pub(super) contents: Arc<Contents>,
}

/// What [`GlbModel`] keeps of its file.
pub(super) struct Contents {
    /// The file, for errors.
    pub file: String,
    /// Where the files lie that its URIs name; `None` for bytes without a file.
    pub folder: Option<PathBuf>,
    /// The document.
    pub json: Vec<u8>,
    /// The bytes of buffer 0.
    pub binary: Vec<u8>,
    pub tree: NodeTree,
    /// Nodes of the joints, parents first.
    pub joints: Vec<usize>,
    /// World rotations of the joints in the rest pose.
    pub rest: Vec<Quat>,
}

impl std::fmt::Debug for Contents {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "{}, {} bytes in buffer 0", self.file, self.binary.len())
    }
}

/// Reads the skeleton of a GLB file, or of a glTF document with the files that it names, which lie beside it.
///
/// The joints are those of the largest skin, those of other skins on the same skeleton, and the nodes between them. A file without a
/// skin has the nodes of its largest tree as joints, without cameras and lights.
///
/// # Errors
/// [`FormatError::Io`]; [`FormatError::Glb`] with the part of the document that is wrong, also for a file without nodes, and for joints
/// below a node whose scale is not the same along all axes; [`FormatError::Motion`] for a skeleton that is none.
pub fn read_glb_model(path: &Path) -> Result<GlbModel, FormatError> {
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
/// As [`read_glb_model`], but for the file.
pub fn parse_glb_model(bytes: &[u8], name: &str) -> Result<GlbModel, FormatError> {
    parse(bytes, name, name, None)
}

fn parse(bytes: &[u8], file: &str, name: &str, folder: Option<&Path>) -> Result<GlbModel, FormatError> {
    let container = Container::with_buffers(bytes, file, folder)?;
    let tree = NodeTree::read(&container)?;
    let mut warnings = Vec::new();
    let Chosen { joints, skin } = choose(&container, &tree, &mut warnings)?;
    check_size(&container, &tree, "nodes", &joints)?;
    check_scales(&container, &tree, &joints)?;
    let set: BTreeSet<usize> = joints.iter().copied().collect();
    let animated = channels(&container, &tree, |node| set.contains(&node), &mut warnings)?;
    let channels = animated.unwrap_or_default();
    let (frame_rate_hz, times) = if channels.is_empty() {
        (STILL_HZ, vec![0.0])
    } else {
        clock(&container, &channels, &mut warnings)?
    };

    let standing = tree.world(&tree.locals);
    let parents = tree.joint_parents(&joints);
    let rest = rest(&tree, &joints, &parents, skin.as_ref(), &standing);
    let skeleton = skeleton(&tree, &joints, &parents, &rest, &standing)
        .map_err(|source| FormatError::Motion { file: file.to_owned(), source })?;
    let globals = globals(&tree, &channels, &times, &joints, &rest);
    let motion = reader::motion(name, skeleton, frame_rate_hz, &parents, &globals);
    motion.validate().map_err(|source| FormatError::Motion { file: file.to_owned(), source })?;
    let binary = match container.linked.first() {
        Some(Some(linked)) => linked.to_vec(),
        _ => container.binary.to_vec(),
    };
    let contents = Contents {
        file: file.to_owned(),
        folder: folder.map(Path::to_path_buf),
        json: container.json.to_vec(),
        binary,
        tree,
        joints,
        rest,
    };
    Ok(GlbModel { motion, warnings, contents: Arc::new(contents) })
}

/// The joints of a file, parents first, and the skin that binds most of them.
struct Chosen {
    joints: Vec<usize>,
    skin: Option<Skin>,
}

fn choose(
    container: &Container<'_>,
    tree: &NodeTree,
    warnings: &mut Vec<String>,
) -> Result<Chosen, FormatError> {
    let count = container.list("skins").len();
    if count > MOST_SKINS {
        let problem = format!("{count} are more than {MOST_SKINS}; export the character alone");
        return Err(container.bad("skins", &problem));
    }
    let skins = (0..count).map(|index| Skin::read(container, tree, index)).collect::<Result<Vec<_>, _>>()?;
    for (index, skin) in skins.iter().enumerate() {
        check_size(container, tree, &format!("skin {index}"), &skin.nodes)?;
    }
    // Of skins of one size the first.
    let largest = (0..count).rev().max_by_key(|index| skins[*index].nodes.len());
    let Some(largest) = largest.filter(|index| !skins[*index].nodes.is_empty()) else {
        return Ok(Chosen { joints: largest_tree(container, tree)?, skin: None });
    };
    let mut joints: BTreeSet<usize> = skins[largest].nodes.iter().copied().collect();
    let mut left: Vec<usize> = (0..count).filter(|index| *index != largest).collect();
    // A skin of the same body hangs on its joints or carries them. It may need another one in between.
    while let Some(at) = left.iter().position(|&index| is_of_body(tree, &joints, &skins[index].nodes)) {
        joints.extend(&skins[left.remove(at)].nodes);
    }
    for index in left {
        warnings.push(format!("skin {index} belongs to another skeleton, which does not move"));
    }
    let Some(root) = tree.common(&joints) else {
        let ordered = tree.in_order(&joints.iter().copied().collect::<Vec<_>>());
        let (first, last) = (&tree.names[ordered[0]], &tree.names[ordered[ordered.len() - 1]]);
        let problem = format!("\"{first}\" and \"{last}\" hang on no common node; export one skeleton");
        return Err(container.bad("skins", &problem));
    };
    let mut between = joints.clone();
    for &joint in &joints {
        between.extend(std::iter::once(joint).chain(tree.ancestors(joint)).take_while(|node| *node != root));
    }
    between.insert(root);
    let joints = tree.in_order(&between.into_iter().collect::<Vec<_>>());
    let skin = skins.into_iter().nth(largest).expect("it is one of them");
    Ok(Chosen { joints, skin: Some(skin.with_matrices(container, largest)?) })
}

/// Refuses skeletons that no person has.
fn check_size(
    container: &Container<'_>,
    tree: &NodeTree,
    place: &str,
    joints: &[usize],
) -> Result<(), FormatError> {
    if joints.len() > MOST_JOINTS {
        let problem = format!("{} joints are more than {MOST_JOINTS}; export one character", joints.len());
        return Err(container.bad(place, &problem));
    }
    match joints.iter().find(|joint| tree.ancestors(**joint).nth(DEEPEST).is_some()) {
        Some(&joint) => {
            let problem = format!("\"{}\" hangs below more than {DEEPEST} nodes", tree.names[joint]);
            Err(container.bad(place, &problem))
        }
        None => Ok(()),
    }
}

/// Whether `nodes` hang on `joints`, or carry them.
fn is_of_body(tree: &NodeTree, joints: &BTreeSet<usize>, nodes: &[usize]) -> bool {
    let both: BTreeSet<usize> = joints.iter().chain(nodes).copied().collect();
    tree.common(&both).is_some_and(|root| both.contains(&root) || tree.common(joints) == Some(root))
}

/// The nodes of the tree that an animation turns most nodes of, of equal ones the largest: all but cameras and lights.
fn largest_tree(container: &Container<'_>, tree: &NodeTree) -> Result<Vec<usize>, FormatError> {
    let nodes = container.list("nodes");
    let has_children = |node: &Value| node["children"].as_array().is_some_and(|list| !list.is_empty());
    let shows_nothing = |node: &Value| {
        node.get("camera").is_none() && node["extensions"].get("KHR_lights_punctual").is_none()
    };
    let counted: Vec<usize> =
        (0..nodes.len()).filter(|at| has_children(&nodes[*at]) || shows_nothing(&nodes[*at])).collect();
    let tops = tree.tops();
    let turned = container.list("animations").iter().flat_map(|animation| {
        animation["channels"].as_array().into_iter().flatten().filter_map(|channel| {
            let is_rotation = channel["target"]["path"] == Moves::ROTATION;
            let node = usize::try_from(channel["target"]["node"].as_u64()?).ok()?;
            (is_rotation && node < nodes.len()).then_some(node)
        })
    });
    let mut sizes = vec![(0_usize, 0_usize); nodes.len()];
    turned.for_each(|node| sizes[tops[node]].0 += 1);
    counted.iter().for_each(|&node| sizes[tops[node]].1 += 1);
    // Of equal trees the first.
    let root = (0..nodes.len()).rev().max_by_key(|node| sizes[*node]);
    let root = root
        .ok_or_else(|| container.bad("nodes", "there are none; export the skeleton or its skinned mesh"))?;
    Ok(tree.in_order(&counted.into_iter().filter(|&node| tops[node] == root).collect::<Vec<_>>()))
}

/// Nodes that joints hang on turn them without shearing them.
fn check_scales(container: &Container<'_>, tree: &NodeTree, joints: &[usize]) -> Result<(), FormatError> {
    let above: BTreeSet<usize> = joints.iter().flat_map(|&joint| tree.ancestors(joint)).collect();
    for &node in &above {
        let place = format!("node {node}, \"{}\"", tree.names[node]);
        let local = &tree.locals[node];
        let scale = local.scale;
        if !(scale.min_element() > 0.0
            && scale.max_element() - scale.min_element() <= UNIFORM * scale.max_element())
        {
            let problem = format!(
                "joints hang on it and its scale is {} × {} × {}, not one positive factor; apply the scale in the modelling program and \
                 export again",
                scale.x, scale.y, scale.z
            );
            return Err(container.bad(&place, &problem));
        }
        let Some(matrix) = container.list("nodes")[node]["matrix"].as_array() else { continue };
        let written: Vec<f32> = matrix.iter().filter_map(Value::as_f64).map(|value| value as f32).collect();
        let difference = local.matrix() - Mat4::from_cols_slice(&written);
        let largest =
            difference.to_cols_array()[..12].iter().fold(0.0_f32, |most, value| most.max(value.abs()));
        if largest > 2.0 * UNIFORM * scale.max_element() {
            let problem = "joints hang on it and its matrix shears them; apply the transform in the modelling program and export again";
            return Err(container.bad(&place, problem));
        }
    }
    Ok(())
}

/// World rotations of the joints in the rest pose: those of the bind pose, or of the nodes where there is none.
fn rest(
    tree: &NodeTree,
    joints: &[usize],
    parents: &[Option<usize>],
    skin: Option<&Skin>,
    standing: &[Mat4],
) -> Vec<Quat> {
    let bound: Vec<usize> =
        joints.iter().copied().filter(|node| skin.is_some_and(|skin| skin.nodes.contains(node))).collect();
    let bind: Vec<Option<Mat4>> = bound.iter().map(|&node| skin.and_then(|skin| skin.bind(node))).collect();
    let of_bound = if bound.is_empty() { Vec::new() } else { rest_rotations(tree, &bound, &bind, standing) };
    let mut rest: Vec<Quat> = Vec::with_capacity(joints.len());
    for (index, node) in joints.iter().enumerate() {
        let own = rotation_of(&standing[*node]);
        rest.push(match (bound.iter().position(|bound| bound == node), parents[index]) {
            (Some(at), _) => of_bound[at],
            // A joint that the skin does not bind stands on its parent as the nodes do.
            (None, Some(parent)) => {
                (rest[parent] * rotation_of(&standing[joints[parent]]).inverse() * own).normalize()
            }
            (None, None) => own,
        });
    }
    rest
}

/// The skeleton in its rest pose, with bones as the nodes have them.
fn skeleton(
    tree: &NodeTree,
    joints: &[usize],
    parents: &[Option<usize>],
    rest: &[Quat],
    standing: &[Mat4],
) -> Result<Skeleton, pomp_motion::MotionError> {
    let at = |index: usize| standing[joints[index]].w_axis.truncate();
    let offset = |index: usize, parent: usize| -> Vec3 {
        rest[parent] * (rotation_of(&standing[joints[parent]]).inverse() * (at(index) - at(parent)))
    };
    let joint = |index: usize| Joint {
        name: tree.names[joints[index]].clone(),
        parent: parents[index].map(JointIndex),
        offset: parents[index].map_or(at(index), |parent| offset(index, parent)),
    };
    Skeleton::new((0..joints.len()).map(joint).collect())
}
