//! Rig maps as text.

use super::{JointAxes, LengthUnit, RigMap};
use crate::{JointIndex, Skeleton};
use glam::Vec3;
use std::fmt::Write;

impl RigMap {
    /// The TOML that [`Self::from_toml`] reads; `note` gives a comment for a joint's line.
    pub fn to_toml(&self, note: impl Fn(JointIndex) -> Option<String>) -> String {
        let project = Skeleton::humanoid(1.0);
        let name_of = |joint: JointIndex| project.joints()[joint.0].name.as_str();
        let mut text =
            format!("name = {}\ndescription = {}\n", quoted(&self.name), quoted(&self.description));
        let optional: Vec<String> = self.optional.iter().map(|&joint| quoted(name_of(joint))).collect();
        if !optional.is_empty() {
            line(&mut text, &format!("optional = [{}]", optional.join(", ")));
        }
        if self.sole_pitch_degrees != 0.0 {
            line(&mut text, &format!("sole_pitch_degrees = {:?}", self.sole_pitch_degrees));
        }
        line(&mut text, "\n[joints]");
        for (&joint, names) in &self.joints {
            let names: Vec<String> = names.iter().map(|name| quoted(name)).collect();
            let names = if names.len() == 1 { names.concat() } else { format!("[{}]", names.join(", ")) };
            let comment = note(joint).map_or_else(String::new, |note| format!("  # {note}"));
            line(&mut text, &format!("{} = {names}{comment}", name_of(joint)));
        }
        for (&joint, JointAxes { up, forward }) in &self.axes {
            let (up, forward) = (vector(*up), vector(*forward));
            line(&mut text, &format!("\n[axes.{}]\nup = {up}\nforward = {forward}", name_of(joint)));
        }
        for dropped in &self.dropped_bones {
            let joints: Vec<String> = dropped.joints.iter().map(|name| quoted(name)).collect();
            let same_as = quoted(&dropped.same_as);
            line(
                &mut text,
                &format!("\n[[dropped_bones]]\njoints = [{}]\nsame_as = {same_as}", joints.join(", ")),
            );
        }
        self.file_toml(&mut text);
        text
    }

    fn file_toml(&self, text: &mut String) {
        line(text, "\n[file]");
        match self.file.unit {
            None => {}
            Some(LengthUnit::Metres(metres)) => line(text, &format!("unit = {{ metres = {metres:?} }}")),
            Some(unit) => line(text, &format!("unit = {}", as_written(&unit))),
        }
        if let Some(axis) = self.file.up_axis {
            line(text, &format!("up_axis = {}", as_written(&axis)));
        }
        line(text, &format!("mirrored = {}", self.file.mirrored));
        line(text, &format!("leave_out_t_pose = {}", self.file.leave_out_t_pose));
    }
}

fn line(text: &mut String, written: &str) {
    let _infallible = writeln!(text, "{written}");
}

/// A value that is a word in TOML and in JSON.
fn as_written(value: &impl serde::Serialize) -> String {
    toml::Value::try_from(value).map_or_else(|_| String::from("\"\""), |value| value.to_string())
}

fn quoted(text: &str) -> String {
    toml::Value::String(text.to_owned()).to_string()
}

fn vector(v: Vec3) -> String {
    // Ten thousandths; no negative zero.
    let [x, y, z] = v.to_array().map(|v| (f64::from(v) * 1e4).round() / 1e4 + 0.0);
    format!("[{x:?}, {y:?}, {z:?}]")
}
