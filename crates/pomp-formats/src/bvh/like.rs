//! A motion written as another file is: its joints, offsets, channels and their order.

use super::warning::BvhWarning;
use super::writer::{nearest_angles, push_number};
use super::{BvhFile, ChannelType};
use crate::{FormatError, write_atomically};
use glam::{DQuat, EulerRot, Quat, Vec3};
use pomp_motion::{JointIndex, SourceMotion};
use std::f64::consts::{PI, TAU};
use std::fmt::Write;
use std::path::Path;

/// Digits after the point: a micro-degree, finer than 32-bit rotations.
const DECIMALS: usize = 6;

/// What the rotation channels of a joint can state.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Turns {
    /// No rotation.
    None,
    /// About one axis.
    One(Vec3),
    /// About two axes, the first of them first; the third angle of this order is lost.
    Two(EulerRot),
    /// Any rotation.
    Three(EulerRot),
}

impl BvhFile {
    /// Whether the file animates all three coordinates of a joint's position.
    pub fn animates_position(&self, joint: JointIndex) -> bool {
        self.channels[joint.0].iter().filter(|channel| channel.is_position()).count() == 3
    }

    /// The rotation nearest to `rotation` that the channels of a joint can state: the same for three channels, less of it
    /// for a joint with fewer.
    ///
    /// # Errors
    /// [`FormatError::CannotWrite`] for rotation channels in an order that states no rotation, such as X X Y.
    pub fn stated_rotation(&self, joint: JointIndex, rotation: Quat) -> Result<Quat, FormatError> {
        Ok(match self.turns(joint)? {
            Turns::None => Quat::IDENTITY,
            Turns::One(axis) => pomp_motion::rotation::swing_twist(rotation, axis).1,
            Turns::Two(order) => {
                let [a, b] = two_angles(order, rotation.as_dquat().normalize());
                DQuat::from_euler(order, a, b, 0.0).as_quat()
            }
            Turns::Three(_) => rotation,
        })
    }

    fn turns(&self, joint: JointIndex) -> Result<Turns, FormatError> {
        let axes: Vec<char> = self.channels[joint.0].iter().filter_map(|&channel| axis_of(channel)).collect();
        let text: String = axes.iter().collect();
        Ok(match text.as_str() {
            "" => Turns::None,
            "X" => Turns::One(Vec3::X),
            "Y" => Turns::One(Vec3::Y),
            "Z" => Turns::One(Vec3::Z),
            "XY" => Turns::Two(EulerRot::XYZ),
            "XZ" => Turns::Two(EulerRot::XZY),
            "YX" => Turns::Two(EulerRot::YXZ),
            "YZ" => Turns::Two(EulerRot::YZX),
            "ZX" => Turns::Two(EulerRot::ZXY),
            "ZY" => Turns::Two(EulerRot::ZYX),
            "XYZ" => Turns::Three(EulerRot::XYZ),
            "XZY" => Turns::Three(EulerRot::XZY),
            "YXZ" => Turns::Three(EulerRot::YXZ),
            "YZX" => Turns::Three(EulerRot::YZX),
            "ZXY" => Turns::Three(EulerRot::ZXY),
            "ZYX" => Turns::Three(EulerRot::ZYX),
            _ => {
                return Err(FormatError::CannotWrite {
                    file: self.motion.name.clone(),
                    problem: format!(
                        "the rotation channels of joint \"{}\" are {text}, an order that no motion is written in; give it three \
                         channels of different axes",
                        self.motion.skeleton.joints()[joint.0].name
                    ),
                });
            }
        })
    }

    /// Whether position channels are displacements from the offsets in this file.
    fn adds_offsets(&self) -> bool {
        self.warnings
            .iter()
            .any(|warning| matches!(warning, BvhWarning::PositionChannels { added: true, .. }))
    }
}

/// The axis of a rotation channel.
fn axis_of(channel: ChannelType) -> Option<char> {
    match channel {
        ChannelType::RotationX => Some('X'),
        ChannelType::RotationY => Some('Y'),
        ChannelType::RotationZ => Some('Z'),
        _ => None,
    }
}

fn name_of(channel: ChannelType) -> &'static str {
    match channel {
        ChannelType::PositionX => "Xposition",
        ChannelType::PositionY => "Yposition",
        ChannelType::PositionZ => "Zposition",
        ChannelType::RotationX => "Xrotation",
        ChannelType::RotationY => "Yrotation",
        ChannelType::RotationZ => "Zrotation",
    }
}

/// Writes `motion` as `model` is written; see [`bvh_text_like`].
///
/// # Errors
/// As [`bvh_text_like`], and [`FormatError::Io`] when the file cannot be written.
pub fn write_bvh_like(path: &Path, model: &BvhFile, motion: &SourceMotion) -> Result<(), FormatError> {
    let text = text(model, motion, &path.display().to_string())?;
    write_atomically(path, |out| out.write_all(text.as_bytes()))
}

/// The BVH text of a motion on the skeleton of another file: names, hierarchy, offsets, end sites, channels and their order,
/// and the meaning of position channels are those of `model`; the motion is in its unit and axes.
///
/// A joint with fewer than three rotation channels loses what they cannot state ([`BvhFile::stated_rotation`]), and a
/// translation without position channels is its offset.
///
/// # Errors
/// [`FormatError::CannotWrite`] when the motion has other joints than `model`, or a joint has rotation channels that state
/// no rotation, or the joints of `model` are not listed depth first; [`FormatError::Motion`] for a motion that breaks the rules of [`SourceMotion::validate`].
pub fn bvh_text_like(model: &BvhFile, motion: &SourceMotion) -> Result<String, FormatError> {
    text(model, motion, &motion.name)
}

fn text(model: &BvhFile, motion: &SourceMotion, file: &str) -> Result<String, FormatError> {
    let cannot = |problem: String| FormatError::CannotWrite { file: file.to_owned(), problem };
    motion.validate().map_err(|source| FormatError::Motion { file: file.to_owned(), source })?;
    let (own, wanted) = (motion.skeleton.joints(), model.motion.skeleton.joints());
    if own.len() != wanted.len()
        || own.iter().zip(wanted).any(|(a, b)| (&a.name, a.parent) != (&b.name, b.parent))
    {
        return Err(cannot(format!(
            "the motion \"{}\" has other joints than the skeleton of \"{}\"",
            motion.name, model.motion.name
        )));
    }
    if let Some(joint) = out_of_order(model) {
        return Err(cannot(format!(
            "joint \"{}\" of \"{}\" does not follow its parent's other branches; list the joints depth first, as files do",
            own[joint].name, model.motion.name
        )));
    }
    let turns = (0..own.len()).map(|joint| model.turns(JointIndex(joint))).collect::<Result<Vec<_>, _>>()?;
    let mut out = String::new();
    hierarchy(&mut out, model);
    rows(&mut out, model, motion, &turns);
    Ok(out)
}

/// The first joint that a depth-first walk does not meet where it stands.
fn out_of_order(model: &BvhFile) -> Option<usize> {
    let mut open: Vec<usize> = Vec::new();
    model.motion.skeleton.joints().iter().enumerate().find_map(|(index, joint)| {
        while open.last().copied() != joint.parent.map(|parent| parent.0) {
            if open.pop().is_none() {
                return Some(index);
            }
        }
        open.push(index);
        None
    })
}

fn hierarchy(out: &mut String, model: &BvhFile) {
    let joints = model.motion.skeleton.joints();
    let offset_line = |out: &mut String, depth: usize, offset: Vec3| {
        out.push_str(&"\t".repeat(depth));
        out.push_str("OFFSET");
        offset.to_array().into_iter().for_each(|value| push_number(out, f64::from(value), DECIMALS));
        out.push('\n');
    };
    let close = |out: &mut String, depth: usize| {
        let _infallible = writeln!(out, "{}}}", "\t".repeat(depth));
    };
    out.push_str("HIERARCHY\n");
    let mut open: Vec<usize> = Vec::new();
    // The joints are listed depth first (`out_of_order`), so each one opens below what is still open.
    for (index, joint) in joints.iter().enumerate() {
        while open.last().copied() != joint.parent.map(|parent| parent.0) {
            open.pop();
            close(out, open.len());
        }
        let outer = "\t".repeat(open.len());
        let keyword = if joint.parent.is_none() { "ROOT" } else { "JOINT" };
        let _infallible = writeln!(out, "{outer}{keyword} {}\n{outer}{{", joint.name);
        open.push(index);
        offset_line(out, open.len(), joint.offset);
        let channels = &model.channels[index];
        let _infallible = write!(out, "{outer}\tCHANNELS {}", channels.len());
        channels.iter().for_each(|&channel| {
            let _infallible = write!(out, " {}", name_of(channel));
        });
        out.push('\n');
        for (_, end) in model.motion.end_sites.iter().filter(|(owner, _)| owner.0 == index) {
            let _infallible = writeln!(out, "{outer}\tEnd Site\n{outer}\t{{");
            offset_line(out, open.len() + 1, *end);
            close(out, open.len());
        }
    }
    while open.pop().is_some() {
        close(out, open.len());
    }
}

fn rows(out: &mut String, model: &BvhFile, motion: &SourceMotion, turns: &[Turns]) {
    let added = model.adds_offsets();
    let frame_time_s = 1.0 / f64::from(motion.frame_rate_hz);
    let _infallible = write!(out, "MOTION\nFrames: {}\nFrame Time: {frame_time_s}\n", motion.frames());
    let mut before = vec![[0.0; 3]; turns.len()];
    for (frame, pose) in motion.poses.iter().enumerate() {
        let start = out.len();
        for (index, joint) in motion.skeleton.joints().iter().enumerate() {
            let translation = match &motion.joint_translations {
                Some(table) => table[frame][index],
                None if index == 0 => pose.root_position,
                None => joint.offset,
            };
            let written = if added { translation - joint.offset } else { translation };
            let angles = angles(turns[index], pose.local_rotations[index], before[index]);
            before[index] = angles;
            let mut next_angle = angles.into_iter();
            for &channel in &model.channels[index] {
                let value = match channel {
                    ChannelType::PositionX => f64::from(written.x),
                    ChannelType::PositionY => f64::from(written.y),
                    ChannelType::PositionZ => f64::from(written.z),
                    _ => next_angle.next().unwrap_or_default().to_degrees(),
                };
                push_number(out, value, DECIMALS);
            }
        }
        if out.len() > start {
            out.remove(start);
        }
        out.push('\n');
    }
}

/// The angles of a joint in the order of its channels, radians; those that it has no channels for are 0.
fn angles(turns: Turns, rotation: Quat, before: [f64; 3]) -> [f64; 3] {
    let rotation: DQuat = rotation.as_dquat().normalize();
    match turns {
        Turns::None => [0.0; 3],
        Turns::One(axis) => {
            let along = rotation.xyz().dot(axis.as_dvec3());
            let angle = 2.0 * along.atan2(rotation.w);
            [angle + TAU * ((before[0] - angle) / TAU).round(), 0.0, 0.0]
        }
        Turns::Two(order) => {
            let [a, b] = two_angles(order, rotation);
            let unwound = |angle: f64, before: f64| angle + TAU * ((before - angle) / TAU).round();
            [unwound(a, before[0]), unwound(b, before[1]), 0.0]
        }
        Turns::Three(order) => nearest_angles(order, rotation, before),
    }
}

/// The first two angles of an order, radians: of both triples that give the rotation those with the smaller third angle,
/// which a joint with two channels cannot state.
fn two_angles(order: EulerRot, rotation: DQuat) -> [f64; 2] {
    let (a, b, c) = rotation.to_euler(order);
    let other = (a + PI, PI - b, c + PI);
    let lost = |angle: f64| (angle - TAU * (angle / TAU).round()).abs();
    if lost(other.2) < lost(c) { [other.0, other.1] } else { [a, b] }
}
