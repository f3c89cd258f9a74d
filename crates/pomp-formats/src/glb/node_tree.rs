//! The nodes of a document, parents before children.

use super::container::Container;
use crate::FormatError;
use glam::{Mat4, Quat, Vec3};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// Place, turn and size of a node in its parent.
#[derive(Clone, Copy, Debug)]
pub(super) struct Local {
    pub translation: Vec3,
    pub rotation: Quat,
    pub scale: Vec3,
}

impl Local {
    /// Its matrix in the parent.
    pub fn matrix(&self) -> Mat4 {
        Mat4::from_scale_rotation_translation(self.scale, self.rotation, self.translation)
    }
}

/// All nodes, as they stand without an animation.
pub(super) struct NodeTree {
    pub names: Vec<String>,
    pub parents: Vec<Option<usize>>,
    pub locals: Vec<Local>,
    /// Every node, parents first.
    order: Vec<usize>,
}

impl NodeTree {
    pub fn read(container: &Container<'_>) -> Result<Self, FormatError> {
        let nodes = container.list("nodes");
        let mut parents = vec![None; nodes.len()];
        let (mut names, mut locals) = (Vec::with_capacity(nodes.len()), Vec::with_capacity(nodes.len()));
        for (index, node) in nodes.iter().enumerate() {
            let place = format!("node {index}");
            names.push(node["name"].as_str().map_or_else(|| place.clone(), str::to_owned));
            locals.push(local(container, node, &place)?);
            for child in node["children"].as_array().into_iter().flatten() {
                let child = child.as_u64().and_then(|child| usize::try_from(child).ok());
                let child = child.filter(|child| *child < nodes.len());
                let child =
                    child.ok_or_else(|| container.bad(&place, "one of its children does not exist"))?;
                if parents[child].replace(index).is_some() {
                    return Err(container.bad(&format!("node {child}"), "it has two parents"));
                }
            }
        }
        let mut children = vec![Vec::new(); nodes.len()];
        for (node, parent) in parents.iter().enumerate() {
            if let Some(parent) = parent {
                children[*parent].push(node);
            }
        }
        // Limb by limb, as BVH files have them.
        let mut order = Vec::with_capacity(nodes.len());
        let mut next: Vec<usize> = (0..nodes.len()).rev().filter(|node| parents[*node].is_none()).collect();
        while let Some(node) = next.pop() {
            order.push(node);
            next.extend(children[node].iter().rev());
        }
        if order.len() < nodes.len() {
            return Err(container.bad("nodes", "some are their own ancestors"));
        }
        Ok(Self { names, parents, locals, order })
    }

    pub fn len(&self) -> usize {
        self.names.len()
    }

    /// `nodes` with parents before children.
    pub fn in_order(&self, nodes: &[usize]) -> Vec<usize> {
        let wanted: BTreeSet<usize> = nodes.iter().copied().collect();
        self.order.iter().copied().filter(|node| wanted.contains(node)).collect()
    }

    /// The ancestors of a node, the nearest first.
    pub fn ancestors(&self, node: usize) -> impl Iterator<Item = usize> {
        std::iter::successors(self.parents[node], |node| self.parents[*node])
    }

    /// For each node the highest one above it, or itself.
    pub fn tops(&self) -> Vec<usize> {
        let mut tops: Vec<usize> = (0..self.len()).collect();
        for &node in &self.order {
            if let Some(parent) = self.parents[node] {
                tops[node] = tops[parent];
            }
        }
        tops
    }

    /// The lowest node that all of `nodes` hang on, or which is one of them; `None` for none, and for nodes of several trees.
    pub fn common(&self, nodes: &BTreeSet<usize>) -> Option<usize> {
        let line = |node: usize| std::iter::once(node).chain(self.ancestors(node));
        let mut nodes = nodes.iter();
        // Nearest first.
        let mut common: Vec<usize> = line(*nodes.next()?).collect();
        for &node in nodes {
            let other: BTreeSet<usize> = line(node).collect();
            common.retain(|above| other.contains(above));
        }
        common.first().copied()
    }

    /// For each of these joints, parents first, the place in the list of the nearest joint above it.
    pub fn joint_parents(&self, joints: &[usize]) -> Vec<Option<usize>> {
        let place: BTreeMap<usize, usize> =
            joints.iter().enumerate().map(|(index, node)| (*node, index)).collect();
        joints.iter().map(|&node| self.ancestors(node).find_map(|above| place.get(&above).copied())).collect()
    }

    /// World matrices of nodes that stand in their parents as `locals` say.
    pub fn world(&self, locals: &[Local]) -> Vec<Mat4> {
        let mut world = vec![Mat4::IDENTITY; self.len()];
        for &node in &self.order {
            let own = locals[node].matrix();
            world[node] = self.parents[node].map_or(own, |parent| world[parent] * own);
        }
        world
    }
}

fn local(container: &Container<'_>, node: &Value, place: &str) -> Result<Local, FormatError> {
    let numbers = |key: &str, count: usize| -> Result<Option<Vec<f32>>, FormatError> {
        let Some(value) = node.get(key) else { return Ok(None) };
        let list: Option<Vec<f32>> =
            value.as_array().map(|list| list.iter().filter_map(Value::as_f64).map(|v| v as f32).collect());
        match list {
            Some(list) if list.len() == count && list.iter().all(|v| v.is_finite()) => Ok(Some(list)),
            _ => Err(container.bad(place, &format!("its \"{key}\" is not {count} numbers"))),
        }
    };
    if let Some(matrix) = numbers("matrix", 16)? {
        let (scale, rotation, translation) = Mat4::from_cols_slice(&matrix).to_scale_rotation_translation();
        if !(scale.is_finite() && rotation.is_finite() && rotation.length_squared() > 0.5) {
            return Err(container.bad(place, "its matrix is no movement"));
        }
        return Ok(Local { translation, rotation, scale });
    }
    let vector = |values: Option<Vec<f32>>, default: Vec3| values.map_or(default, |v| Vec3::from_slice(&v));
    let rotation = numbers("rotation", 4)?.map_or(Quat::IDENTITY, |v| Quat::from_slice(&v));
    if rotation.length_squared() < 1e-6 {
        return Err(container.bad(place, "its rotation has no length"));
    }
    Ok(Local {
        translation: vector(numbers("translation", 3)?, Vec3::ZERO),
        rotation: rotation.normalize(),
        scale: vector(numbers("scale", 3)?, Vec3::ONE),
    })
}
