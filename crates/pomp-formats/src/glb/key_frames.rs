//! Key frames of an animation, and what lies between them.

use super::container::Container;
use super::node_tree::Local;
use crate::FormatError;
use glam::{Quat, Vec3, Vec4};
use serde_json::Value;

/// What a channel moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Moves {
    Translation,
    Rotation,
    Scale,
}

impl Moves {
    /// The path of a channel that turns a node.
    pub const ROTATION: &str = "rotation";
}

/// How a value goes from key to key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    Step,
    Linear,
    Cubic,
}

/// The keys of one property of one node.
#[derive(Debug)]
pub(super) struct Channel {
    pub node: usize,
    pub moves: Moves,
    pub times: Vec<f32>,
    way: Way,
    values: Vec<f32>,
}

impl Channel {
    /// Reads a channel of `animation`; `None` for one that moves no node, or what no skeleton shows (weights of shapes).
    pub fn read(
        container: &Container<'_>,
        animation: &Value,
        channel: &Value,
        nodes: usize,
        place: &str,
    ) -> Result<Option<Self>, FormatError> {
        let target = &channel["target"];
        let moves = match target["path"].as_str() {
            Some("translation") => Moves::Translation,
            Some(Moves::ROTATION) => Moves::Rotation,
            Some("scale") => Moves::Scale,
            _ => return Ok(None),
        };
        if target.get("node").is_none() {
            return Ok(None);
        }
        let node = container.index(target, "node", nodes, place)?;
        let samplers = animation["samplers"].as_array().map_or(&[][..], Vec::as_slice);
        let sampler = &samplers[container.index(channel, "sampler", samplers.len(), place)?];
        let accessors = container.list("accessors").len();
        let width = if moves == Moves::Rotation { 4 } else { 3 };
        let times = container.rows(container.index(sampler, "input", accessors, place)?, 1)?;
        let values = container.rows(container.index(sampler, "output", accessors, place)?, width)?;
        let way = match sampler.get("interpolation").map(|way| way.as_str()) {
            None | Some(Some("LINEAR")) => Way::Linear,
            Some(Some("STEP")) => Way::Step,
            Some(Some("CUBICSPLINE")) => Way::Cubic,
            _ => {
                return Err(container
                    .bad(place, &format!("its interpolation {} is unknown", sampler["interpolation"])));
            }
        };
        let rows = times.len() * if way == Way::Cubic { 3 } else { 1 };
        if times.is_empty() || values.len() != rows * width {
            let problem = format!("it has {} times and {} values", times.len(), values.len() / width);
            return Err(container.bad(place, &problem));
        }
        if let Some(late) = times.windows(2).position(|pair| pair[1] <= pair[0]) {
            return Err(
                container.bad(place, &format!("its time {} does not lie after the one before", late + 1))
            );
        }
        let found = Self { node, moves, times, way, values };
        if let Some(key) =
            (0..found.times.len()).find(|&key| moves == Moves::Rotation && found.key(key).length() < 1e-3)
        {
            return Err(container.bad(place, &format!("its rotation {key} has no length")));
        }
        Ok(Some(found))
    }

    /// The rotation of a key as the file has it.
    fn key(&self, key: usize) -> Quat {
        Quat::from_slice(self.row(if self.way == Way::Cubic { 3 * key + 1 } else { key }, 4))
    }

    /// Puts the value at `time` into the node's place.
    pub fn apply(&self, time: f32, local: &mut Local) {
        match self.moves {
            Moves::Translation => local.translation = self.vector(time),
            Moves::Scale => local.scale = self.vector(time),
            Moves::Rotation => local.rotation = self.rotation(time),
        }
    }

    /// The keys beside `time`, and the share of the way between them.
    fn place(&self, time: f32) -> (usize, usize, f32) {
        let after = self.times.partition_point(|key| *key <= time);
        let (first, second) = (after.saturating_sub(1), after.min(self.times.len() - 1));
        let span = self.times[second] - self.times[first];
        let share = if span > 0.0 { ((time - self.times[first]) / span).clamp(0.0, 1.0) } else { 0.0 };
        (first, second, share)
    }

    /// Row `row` of the values, `width` numbers.
    fn row(&self, row: usize, width: usize) -> &[f32] {
        &self.values[row * width..(row + 1) * width]
    }

    /// Weights of value and leaving slope of the first key, value and arriving slope of the second (Hermite).
    fn hermite(share: f32, span: f32) -> [f32; 4] {
        let (t, t2, t3) = (share, share * share, share * share * share);
        [2.0 * t3 - 3.0 * t2 + 1.0, span * (t3 - 2.0 * t2 + t), 3.0 * t2 - 2.0 * t3, span * (t3 - t2)]
    }

    /// The rows and weights that a cubic sampler adds up.
    fn cubic(&self, time: f32) -> [(usize, f32); 4] {
        let (first, second, share) = self.place(time);
        let [a, leaving, b, arriving] = Self::hermite(share, self.times[second] - self.times[first]);
        [(3 * first + 1, a), (3 * first + 2, leaving), (3 * second + 1, b), (3 * second, arriving)]
    }

    fn vector(&self, time: f32) -> Vec3 {
        let at = |row: usize| Vec3::from_slice(self.row(row, 3));
        let (first, second, share) = self.place(time);
        match self.way {
            Way::Step => at(first),
            Way::Linear => at(first).lerp(at(second), share),
            Way::Cubic => self.cubic(time).iter().map(|&(row, weight)| at(row) * weight).sum(),
        }
    }

    fn rotation(&self, time: f32) -> Quat {
        let at = |row: usize| Quat::from_slice(self.row(row, 4));
        let (first, second, share) = self.place(time);
        match self.way {
            Way::Step => at(first).normalize(),
            Way::Linear => at(first).normalize().slerp(at(second).normalize(), share),
            Way::Cubic => {
                let sum = self.cubic(time).iter().fold(Vec4::ZERO, |sum, &(row, weight)| {
                    sum + Vec4::from_slice(self.row(row, 4)) * weight
                });
                // Slopes may lead through the middle of the sphere, where no direction is the right one.
                sum.try_normalize().map_or(self.key(first).normalize(), Quat::from_vec4)
            }
        }
    }
}
