//! What inference looks at: the tree of joints and end sites, and where they are in frames spread over the motion.

use crate::{GlobalPose, SourceMotion};
use glam::Vec3;
use std::ops::Range;

/// Most frames that are looked at.
const MOST_FRAMES: usize = 120;

/// Joints and end sites as nodes of one tree (end sites after all joints), with their positions over time.
pub(super) struct Sample<'a> {
    pub source: &'a SourceMotion,
    /// Number of joints; nodes from here on are end sites.
    pub joints: usize,
    parents: Vec<Option<usize>>,
    pub children: Vec<Vec<usize>>,
    /// The frames looked at.
    pub frames: Vec<usize>,
    pub poses: Vec<GlobalPose>,
    /// Per frame looked at, per node, file units.
    pub positions: Vec<Vec<Vec3>>,
    /// Diagonal of the box around the body, median over the frames, file units.
    pub size: f32,
}

/// A stretch of the tree between a joint and one of its descendants.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stretch {
    /// Mean distance, file units.
    pub length: f32,
    /// How far the far end moves in the frame of the near one, as a share of the length: 0 for a stiff bone.
    pub wobble: f32,
    /// Length along the joints between over the distance: 1 for joints in line.
    pub detour: f32,
}

impl<'a> Sample<'a> {
    /// Frames of `range`, at most [`MOST_FRAMES`], evenly spread.
    pub fn of(source: &'a SourceMotion, range: Range<usize>) -> Self {
        let joints = source.skeleton.len();
        let mut parents: Vec<Option<usize>> =
            source.skeleton.joints().iter().map(|joint| joint.parent.map(|p| p.0)).collect();
        parents.extend(source.end_sites.iter().map(|(joint, _)| Some(joint.0)));
        let mut children = vec![Vec::new(); parents.len()];
        for (node, parent) in parents.iter().enumerate() {
            if let Some(parent) = parent {
                children[*parent].push(node);
            }
        }
        let stride = range.len().div_ceil(MOST_FRAMES).max(1);
        let frames: Vec<usize> = range.step_by(stride).collect();
        let poses: Vec<GlobalPose> = frames.iter().map(|&frame| source.global_pose(frame)).collect();
        let positions: Vec<Vec<Vec3>> = poses
            .iter()
            .map(|pose| {
                let ends = source
                    .end_sites
                    .iter()
                    .map(|(joint, offset)| pose.positions[joint.0] + pose.rotations[joint.0] * *offset);
                pose.positions.iter().copied().chain(ends).collect()
            })
            .collect();
        let mut sizes: Vec<f32> = positions.iter().map(|at| diagonal(at, &children, &parents)).collect();
        sizes.sort_by(f32::total_cmp);
        let size = sizes.get(sizes.len() / 2).copied().unwrap_or(0.0);
        Self { source, joints, parents, children, frames, poses, positions, size }
    }

    /// Where a node is in any frame of the motion.
    pub fn place(&self, frame: usize, node: usize) -> Vec3 {
        let pose = self.source.global_pose(frame);
        match node.checked_sub(self.joints) {
            None => pose.positions[node],
            Some(end) => {
                let (joint, offset) = self.source.end_sites[end];
                pose.positions[joint.0] + pose.rotations[joint.0] * offset
            }
        }
    }

    pub fn parent(&self, node: usize) -> Option<usize> {
        self.parents[node]
    }

    /// The name of a joint, or of the joint that an end site hangs from.
    pub fn name(&self, node: usize) -> &str {
        let joint = if node < self.joints { node } else { self.parents[node].unwrap_or(0) };
        &self.source.skeleton.joints()[joint].name
    }

    /// The ancestors, nearest first.
    pub fn ancestors(&self, node: usize) -> impl Iterator<Item = usize> + '_ {
        std::iter::successors(self.parents[node], |&above| self.parents[above])
    }

    pub fn is_below(&self, node: usize, above: usize) -> bool {
        self.ancestors(node).any(|a| a == above)
    }

    pub fn is_at_or_below(&self, node: usize, above: usize) -> bool {
        node == above || self.is_below(node, above)
    }

    /// The lowest node that is at or above both.
    pub fn common_ancestor(&self, a: usize, b: usize) -> usize {
        std::iter::once(a).chain(self.ancestors(a)).find(|&above| self.is_at_or_below(b, above)).unwrap_or(0)
    }

    /// Nodes from below `above` down to `node`; empty when `node` is not below.
    pub fn path(&self, above: usize, node: usize) -> Vec<usize> {
        if !self.is_below(node, above) {
            return Vec::new();
        }
        let mut path: Vec<usize> =
            std::iter::once(node).chain(self.ancestors(node)).take_while(|&n| n != above).collect();
        path.reverse();
        path
    }

    /// All nodes at or below `node`, itself first.
    pub fn subtree(&self, node: usize) -> Vec<usize> {
        let mut found = vec![node];
        let mut next = 0;
        while next < found.len() {
            found.extend(&self.children[found[next]]);
            next += 1;
        }
        found
    }

    /// Mean over the frames.
    pub fn mean(&self, of: impl Fn(usize) -> f32) -> f32 {
        (0..self.positions.len()).map(of).sum::<f32>() / self.positions.len().max(1) as f32
    }

    pub fn distance(&self, a: usize, b: usize) -> f32 {
        self.mean(|f| self.positions[f][a].distance(self.positions[f][b]))
    }

    /// Mean length along the tree from `above` to a node below it.
    pub fn way(&self, above: usize, node: usize) -> f32 {
        self.path(above, node).iter().map(|&n| self.distance(n, self.parents[n].unwrap_or(n))).sum()
    }

    /// The stretch from a joint to a node below it.
    pub fn stretch(&self, from: usize, to: usize) -> Stretch {
        let local = |f: usize| {
            self.poses[f].rotations[from].inverse() * (self.positions[f][to] - self.positions[f][from])
        };
        let count = self.positions.len().max(1) as f32;
        let middle = (0..self.positions.len()).map(local).sum::<Vec3>() / count;
        let spread = self.mean(|f| local(f).distance_squared(middle)).sqrt();
        let length = self.distance(from, to);
        let safe = length.max(f32::MIN_POSITIVE);
        Stretch { length, wobble: spread / safe, detour: self.way(from, to) / safe }
    }

    /// Largest change of a joint's own rotation over the frames, radians.
    pub fn turning(&self, joint: usize) -> f32 {
        let poses = &self.source.poses;
        let first = poses[self.frames[0]].local_rotations[joint];
        let angle = |&frame: &usize| poses[frame].local_rotations[joint].angle_between(first);
        self.frames.iter().map(angle).fold(0.0, f32::max)
    }
}

/// Diagonal of the box around all nodes but a root that carries nothing of the body.
fn diagonal(at: &[Vec3], children: &[Vec<usize>], parents: &[Option<usize>]) -> f32 {
    let mut first = 0;
    while children[first].len() == 1 && parents.len() > first + 1 {
        first = children[first][0];
    }
    let (mut low, mut high) = (Vec3::INFINITY, Vec3::NEG_INFINITY);
    for (node, point) in at.iter().enumerate() {
        let above_body = std::iter::successors(parents[first], |&p| parents[p]).any(|a| a == node);
        if !above_body {
            (low, high) = (low.min(*point), high.max(*point));
        }
    }
    (high - low).length()
}
