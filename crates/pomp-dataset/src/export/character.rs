//! The body that MimicKit's motions move, as MJCF: the skeleton of the first recording, a ball of three hinges per joint.

use super::frames::vector;
use super::job::{Contents, Output, Trouble, Unit};
use crate::Dataset;
use pomp_motion::{JointIndex, Recording};
use std::fmt::Write as _;
use std::io::Write as _;

/// Radius of the ball that stands for a body, metres.
const RADIUS_M: f32 = 0.05;

pub(super) fn unit(dataset: &Dataset) -> Unit {
    let first = dataset.recordings.first().expect("a dataset has recordings");
    Unit { file: "character.xml".to_owned(), inputs: vec![first.clone()], contents: Contents::OfOne(write) }
}

fn write(recording: &Recording, out: &mut Output<'_>) -> Result<(), Trouble> {
    let mut text = String::from("<mujoco model=\"pomp\">\n  <worldbody>\n");
    body(recording, 0, 2, &mut text);
    text.push_str("  </worldbody>\n</mujoco>\n");
    Ok(out.write_all(text.as_bytes())?)
}

fn body(recording: &Recording, joint: usize, depth: usize, text: &mut String) {
    let skeleton = &recording.skeleton;
    let one = &skeleton.joints()[joint];
    let indent = "  ".repeat(depth);
    let [x, y, z] = vector(one.offset);
    let _infallible = writeln!(text, "{indent}<body name=\"{}\" pos=\"{x} {y} {z}\">", one.name);
    if joint == 0 {
        let _infallible = writeln!(text, "{indent}  <freejoint name=\"root\"/>");
    } else {
        for (axis, name) in [("1 0 0", 'x'), ("0 1 0", 'y'), ("0 0 1", 'z')] {
            let _infallible = writeln!(
                text,
                "{indent}  <joint name=\"{}_{name}\" type=\"hinge\" axis=\"{axis}\" range=\"-180 180\"/>",
                one.name
            );
        }
    }
    let mass = recording.simulation.as_ref().and_then(|simulation| {
        let body = simulation.body_names.iter().position(|body| *body == one.name)?;
        Some(format!(" mass=\"{}\"", simulation.body_mass_kg[body]))
    });
    let mass = mass.unwrap_or_default();
    let _infallible = writeln!(text, "{indent}  <geom type=\"sphere\" size=\"{RADIUS_M}\"{mass}/>");
    for child in joint + 1..skeleton.len() {
        if skeleton.parent(JointIndex(child)) == Some(JointIndex(joint)) {
            body(recording, child, depth + 1, text);
        }
    }
    let _infallible = writeln!(text, "{indent}</body>");
}
