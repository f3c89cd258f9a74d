use crate::check_clip::check_clip;
use crate::{FormatError, write_atomically};
use glam::{DQuat, EulerRot, Vec3};
use pomp_motion::{Clip, JointIndex};
use std::fmt::Write;
use std::path::Path;

/// Order of the rotation channels, in the order in which they compose.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RotationOrder {
    /// X, Y, Z.
    Xyz,
    /// X, Z, Y.
    Xzy,
    /// Y, X, Z.
    Yxz,
    /// Y, Z, X.
    Yzx,
    /// Z, X, Y.
    Zxy,
    /// Z, Y, X: what most motion-capture files use.
    #[default]
    Zyx,
}

/// How to write a BVH file.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BvhWriteOptions {
    /// Units of the file per metre. Default 100: centimetres, which most tools assume.
    pub units_per_metre: f32,
    /// Order of the rotation channels. Default Z, Y, X.
    pub rotation_order: RotationOrder,
    /// Digits after the point, 6 to 9. Default 6: a micro-degree, finer than 32-bit rotations. More only
    /// makes the file larger.
    pub decimals: usize,
    /// Length of the bone drawn beyond each leaf, as a fraction of the leaf's own offset, which it continues.
    /// Default 0.5. 0 writes end sites without length.
    pub end_site_fraction: f32,
}

impl Default for BvhWriteOptions {
    fn default() -> Self {
        Self {
            units_per_metre: 100.0,
            rotation_order: RotationOrder::default(),
            decimals: 6,
            end_site_fraction: 0.5,
        }
    }
}

/// Writes a clip as BVH; see [`bvh_text`].
///
/// # Errors
/// [`FormatError::CannotWrite`] for options out of range or a joint name that BVH cannot hold,
/// [`FormatError::Io`] when the file cannot be written.
pub fn write_bvh(path: &Path, clip: &Clip, options: &BvhWriteOptions) -> Result<(), FormatError> {
    let text = text(clip, options, &path.display().to_string())?;
    write_atomically(path, |out| out.write_all(text.as_bytes()))
}

/// The BVH text of a clip.
///
/// The root's `OFFSET` is zero and its position channels are complete, so that both conventions of combining
/// them (see [`super::PositionChannels`]) read the same motion.
///
/// # Errors
/// [`FormatError::CannotWrite`] as in [`write_bvh`].
pub fn bvh_text(clip: &Clip, options: &BvhWriteOptions) -> Result<String, FormatError> {
    text(clip, options, &clip.name)
}

fn text(clip: &Clip, options: &BvhWriteOptions, file: &str) -> Result<String, FormatError> {
    let cannot = |problem: String| FormatError::CannotWrite { file: file.to_owned(), problem };
    if !(options.units_per_metre.is_finite() && options.units_per_metre > 0.0) {
        return Err(cannot(format!(
            "units_per_metre is {}, give a positive number",
            options.units_per_metre
        )));
    }
    if !(6..=9).contains(&options.decimals) {
        return Err(cannot(format!("decimals is {}, give 6 to 9", options.decimals)));
    }
    if !options.end_site_fraction.is_finite() {
        return Err(cannot(format!("end_site_fraction is {}", options.end_site_fraction)));
    }
    check_clip(clip, file)?;
    for joint in clip.skeleton.joints() {
        let name = &joint.name;
        if name.is_empty() || name.trim_ascii() != name || name.contains(['\n', '\r', '{']) {
            return Err(cannot(format!("BVH cannot hold the joint name {name:?}; rename the joint")));
        }
    }
    let order = depth_first_order(clip);
    let mut out = String::new();
    hierarchy(&mut out, clip, options, &order);
    motion(&mut out, clip, options, &order);
    Ok(out)
}

/// Joints in depth-first order, which BVH needs and a [`pomp_motion::Skeleton`] does not promise.
fn depth_first_order(clip: &Clip) -> Vec<usize> {
    let joints = clip.skeleton.joints();
    let mut children = vec![Vec::new(); joints.len()];
    for (index, joint) in joints.iter().enumerate().rev() {
        if let Some(JointIndex(parent)) = joint.parent {
            children[parent].push(index);
        }
    }
    let (mut order, mut stack) = (Vec::with_capacity(joints.len()), vec![0]);
    while let Some(joint) = stack.pop() {
        order.push(joint);
        stack.extend(&children[joint]);
    }
    order
}

fn hierarchy(out: &mut String, clip: &Clip, options: &BvhWriteOptions, order: &[usize]) {
    let joints = clip.skeleton.joints();
    let rotations = options.rotation_order.channel_names();
    let offset_line = |out: &mut String, indent: &str, offset: Vec3| {
        out.push_str(indent);
        out.push_str("OFFSET");
        for value in offset.to_array() {
            push_number(out, f64::from(value) * f64::from(options.units_per_metre), options.decimals);
        }
        out.push('\n');
    };
    out.push_str("HIERARCHY\n");
    let mut open: Vec<usize> = Vec::new();
    for (at, &index) in order.iter().enumerate() {
        let joint = &joints[index];
        while open.last().copied() != joint.parent.map(|parent| parent.0) {
            open.pop();
            out.push_str(&"\t".repeat(open.len()));
            out.push_str("}\n");
        }
        let outer = "\t".repeat(open.len());
        let inner = format!("{outer}\t");
        let root = joint.parent.is_none();
        let keyword = if root { "ROOT" } else { "JOINT" };
        let _infallible = writeln!(out, "{outer}{keyword} {}\n{outer}{{", joint.name);
        offset_line(out, &inner, if root { Vec3::ZERO } else { joint.offset });
        let channels = if root { "CHANNELS 6 Xposition Yposition Zposition" } else { "CHANNELS 3" };
        let _infallible = writeln!(out, "{inner}{channels} {rotations}");
        open.push(index);
        let leaf = order.get(at + 1).is_none_or(|&next| joints[next].parent != Some(JointIndex(index)));
        if leaf {
            let _infallible = writeln!(out, "{inner}End Site\n{inner}{{");
            let end = if root { Vec3::ZERO } else { joint.offset * options.end_site_fraction };
            offset_line(out, &format!("{inner}\t"), end);
            let _infallible = writeln!(out, "{inner}}}");
        }
    }
    while open.pop().is_some() {
        out.push_str(&"\t".repeat(open.len()));
        out.push_str("}\n");
    }
}

fn motion(out: &mut String, clip: &Clip, options: &BvhWriteOptions, order: &[usize]) {
    let frame_time_s = 1.0 / f64::from(clip.frame_rate_hz);
    let _infallible = write!(out, "MOTION\nFrames: {}\nFrame Time: {frame_time_s}\n", clip.frames());
    let mut before = vec![[0.0; 3]; order.len()];
    for pose in &clip.poses {
        let start = out.len();
        for value in pose.root_position.to_array() {
            push_number(out, f64::from(value) * f64::from(options.units_per_metre), options.decimals);
        }
        for (before, &joint) in before.iter_mut().zip(order) {
            let rotation = pose.local_rotations[joint].as_dquat().normalize();
            *before = nearest_angles(options.rotation_order.euler(), rotation, *before);
            for angle in *before {
                push_number(out, angle.to_degrees(), options.decimals);
            }
        }
        out.remove(start);
        out.push('\n');
    }
}

/// Appends a space and the number; a rounded −0 is written as 0.
pub(super) fn push_number(out: &mut String, value: f64, decimals: usize) {
    let start = out.len();
    let _infallible = write!(out, " {value:.decimals$}");
    if out[start + 1..].starts_with('-') && out[start + 2..].bytes().all(|b| matches!(b, b'0' | b'.')) {
        out.remove(start + 1);
    }
}

impl RotationOrder {
    fn euler(self) -> EulerRot {
        match self {
            Self::Xyz => EulerRot::XYZ,
            Self::Xzy => EulerRot::XZY,
            Self::Yxz => EulerRot::YXZ,
            Self::Yzx => EulerRot::YZX,
            Self::Zxy => EulerRot::ZXY,
            Self::Zyx => EulerRot::ZYX,
        }
    }

    fn channel_names(self) -> &'static str {
        match self {
            Self::Xyz => "Xrotation Yrotation Zrotation",
            Self::Xzy => "Xrotation Zrotation Yrotation",
            Self::Yxz => "Yrotation Xrotation Zrotation",
            Self::Yzx => "Yrotation Zrotation Xrotation",
            Self::Zxy => "Zrotation Xrotation Yrotation",
            Self::Zyx => "Zrotation Yrotation Xrotation",
        }
    }
}

/// Angles of a rotation in an order of three different axes, radians: of all equivalent triples the one nearest to that of
/// the frame before, so that tools which interpolate angles see no jumps.
pub(super) fn nearest_angles(order: EulerRot, rotation: DQuat, before: [f64; 3]) -> [f64; 3] {
    use std::f64::consts::{PI, TAU};
    let (a, b, c) = rotation.to_euler(order);
    let unwound = |angles: [f64; 3]| {
        let mut near = angles;
        for (angle, before) in near.iter_mut().zip(before) {
            *angle += TAU * ((before - *angle) / TAU).round();
        }
        let distance: f64 = near.iter().zip(before).map(|(angle, before)| (angle - before).abs()).sum();
        (near, distance)
    };
    let (first, first_distance) = unwound([a, b, c]);
    let (second, second_distance) = unwound([a + PI, PI - b, c + PI]);
    if second_distance < first_distance { second } else { first }
}
