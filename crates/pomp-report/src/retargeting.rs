//! Retargeting by networks, by rules and by copied rotations, against exact pairs.

use crate::ReportError;
use crate::output::{json, make_folder, write};
use glam::Vec3;
use pomp_formats::read_bvh;
use pomp_motion::retarget::{Proportions, RetargetOptions, RigLibrary, retarget};
use pomp_motion::{Clip, ContactConfig, JointIndex, PerJoint, SourceMotion, foot_contacts, humanoid};
use pomp_retarget::{OntoOptions, TargetSkeleton, onto_skeleton};
use pomp_skeletal::SkeletalModel;
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Height of a person over the length of the legs.
const HEIGHT_OF_LEG: f32 = 1.0 / 0.491;
/// Joints whose planting is looked at, with their number among the contacts of a frame.
const FEET: [JointIndex; 4] =
    [humanoid::LEFT_FOOT, humanoid::LEFT_TOE, humanoid::RIGHT_FOOT, humanoid::RIGHT_TOE];

/// What a way of retargeting is worth from one skeleton to another.
#[derive(Clone, Debug, Serialize)]
pub struct RetargetingRow {
    /// "a to a", "a to b", "b to a", "b to b".
    pub direction: String,
    /// Networks by name, "rules", "copied rotations", or "truth".
    pub way: String,
    /// Motions.
    pub motions: usize,
    /// Mean squared distance of all joints over the squared height, times 1000; of the truth 0.
    pub squared_per_mille: f64,
    /// The same with the root of each frame on that of the truth.
    pub in_place_per_mille: f64,
    /// Speed along the ground of ankles and toes that stand in the source, m/s at the target's size.
    pub planted_m_s: f64,
}

/// Figures of ways of retargeting.
#[derive(Clone, Debug, Serialize)]
pub struct RetargetingReport {
    /// The folder of pairs.
    pub pairs: PathBuf,
    /// A row per direction and way.
    pub rows: Vec<RetargetingRow>,
}

impl RetargetingReport {
    /// A table in Markdown.
    pub fn text(&self) -> String {
        let mut lines = vec![
            format!("# Retargeting onto the pairs of {}\n", self.pairs.display()),
            "Squared distance of joints over the squared height, times 1000, in the world and with the roots on each other; speed of \
             planted ankles and toes, m/s.\n"
                .to_owned(),
            "| from, to | way | motions | squared | in place | planted feet |\n|---|---|---|---|---|---|".to_owned(),
        ];
        lines.extend(self.rows.iter().map(|row| {
            format!(
                "| {} | {} | {} | {:.3} | {:.3} | {:.3} |",
                row.direction,
                row.way,
                row.motions,
                row.squared_per_mille,
                row.in_place_per_mille,
                row.planted_m_s
            )
        }));
        lines.join("\n") + "\n"
    }

    /// Writes report.md and report.json.
    ///
    /// # Errors
    /// The folder or a file cannot be written.
    pub fn write(&self, out: &Path) -> Result<(), ReportError> {
        make_folder(out)?;
        write(&out.join("report.json"), json(self).as_bytes())?;
        write(&out.join("report.md"), self.text().as_bytes())
    }
}

/// A clip on a body.
struct Told {
    side: usize,
    clip: String,
    path: PathBuf,
    motion: SourceMotion,
    target: TargetSkeleton,
    /// On the project skeleton with its own bone lengths, for the rules, with its contacts.
    own: Clip,
    contacts: Vec<[bool; 4]>,
}

/// Measures networks by name, rules and copied rotations on the pairs in the folders `a` and `b` of a folder: BVH files CLIP__BODY.bvh,
/// those of one CLIP being the same motion.
///
/// # Errors
/// A folder without pairs; a file that cannot be read, or that rules or networks refuse.
pub fn measure(pairs: &Path, models: &[(String, SkeletalModel)]) -> Result<RetargetingReport, ReportError> {
    let all = read(pairs)?;
    let mut sums: BTreeMap<(String, usize), Sum> = BTreeMap::new();
    let ways: Vec<String> = models
        .iter()
        .map(|(name, _)| name.clone())
        .chain(["rules", "copied rotations", "truth"].map(str::to_owned))
        .collect();
    for from in &all {
        let is_pair = |to: &&Told| to.clip == from.clip && to.path != from.path;
        for to in all.iter().filter(is_pair) {
            let direction = format!("{} to {}", ["a", "b"][from.side], ["a", "b"][to.side]);
            for (way, _) in ways.iter().enumerate() {
                let shown = show(from, to, way, models)?;
                sums.entry((direction.clone(), way)).or_default().add(&shown, to, &from.contacts);
            }
        }
    }
    let rows = sums.into_iter().map(|((direction, way), sum)| sum.row(direction, ways[way].clone()));
    let rows: Vec<RetargetingRow> = rows.collect();
    if rows.is_empty() {
        let reason = "no two files of one clip here; `pomp retarget pairs` makes them".to_owned();
        return Err(ReportError::BadData { path: pairs.to_path_buf(), reason });
    }
    Ok(RetargetingReport { pairs: pairs.to_path_buf(), rows })
}

/// The motion of `from` on the body of `to`: by networks, and beyond these by rules, copied rotations, and what it should be.
fn show(
    from: &Told,
    to: &Told,
    way: usize,
    models: &[(String, SkeletalModel)],
) -> Result<SourceMotion, ReportError> {
    if let Some((_, model)) = models.get(way) {
        let names = [&from.path, &to.path].map(|path| path.display().to_string());
        return Ok(model.retarget([&names[0], &names[1]], &from.motion, &to.motion)?);
    }
    if way == models.len() + 2 {
        return Ok(to.motion.clone());
    }
    let options = OntoOptions { copied_rotations: way == models.len() + 1, ..OntoOptions::default() };
    Ok(onto_skeleton(&from.own, &from.contacts, &to.target, options)?.motion)
}

fn read(pairs: &Path) -> Result<Vec<Told>, ReportError> {
    let library = RigLibrary::builtin();
    let mut all = Vec::new();
    for (side, name) in ["a", "b"].into_iter().enumerate() {
        let folder = pairs.join(name);
        let unreadable = |source| ReportError::Unreadable { path: folder.clone(), source };
        let mut files = Vec::new();
        for entry in std::fs::read_dir(&folder).map_err(unreadable)? {
            files.push(entry.map_err(unreadable)?.path());
        }
        files.retain(|path| path.extension().is_some_and(|kind| kind.eq_ignore_ascii_case("bvh")));
        files.sort();
        for path in files {
            let bad = |reason: String| ReportError::BadData { path: path.clone(), reason };
            let motion = read_bvh(&path)?.motion;
            let (clip, _) = motion.name.rsplit_once("__").ok_or_else(|| {
                bad("the name is not CLIP__BODY.bvh, so that its pairs are not known".to_owned())
            })?;
            let rig = library.choose_or_infer(&motion).map_err(|error| bad(error.to_string()))?;
            let options = RetargetOptions { proportions: Proportions::Source, ..RetargetOptions::default() };
            let own = retarget(&motion, &rig.rig, &options).map_err(|error| bad(error.to_string()))?.clip;
            let target = TargetSkeleton::read(&path, &library)?;
            let contacts = foot_contacts(&own, &ContactConfig::default());
            all.push(Told {
                side,
                clip: clip.to_owned(),
                motion: motion.clone(),
                target,
                own,
                contacts,
                path,
            });
        }
    }
    Ok(all)
}

#[derive(Default)]
struct Sum {
    motions: usize,
    squared: f64,
    in_place: f64,
    joints: usize,
    way: f64,
    seconds: f64,
}

impl Sum {
    fn add(&mut self, shown: &SourceMotion, to: &Told, contacts: &[[bool; 4]]) {
        let metres = to.target.unit().metres();
        let roles = to.target.joints().source_joints;
        let rest = to.motion.skeleton.joints();
        let leg: f32 = [humanoid::LEFT_LEG, humanoid::LEFT_FOOT]
            .iter()
            .filter_map(|role| roles[role.0])
            .map(|joint| limb(&to.motion, joint, roles[humanoid::LEFT_UP_LEG.0]))
            .fold(0.0, f32::max);
        let height = f64::from(leg * HEIGHT_OF_LEG);
        self.motions += 1;
        let mut before: Option<PerJoint<Vec3>> = None;
        for frame in 0..shown.frames().min(to.motion.frames()) {
            let (a, b) = (shown.global_pose(frame).positions, to.motion.global_pose(frame).positions);
            let shift = b[0] - a[0];
            for (p, q) in a.iter().zip(&b) {
                self.squared += (f64::from(p.distance(*q)) / height).powi(2);
                self.in_place += (f64::from((*p + shift).distance(*q)) / height).powi(2);
            }
            self.joints += rest.len();
            if let Some(before) = &before {
                for (point, role) in FEET.iter().enumerate() {
                    let (Some(joint), true) =
                        (roles[role.0], contacts[frame - 1][point] && contacts[frame][point])
                    else {
                        continue;
                    };
                    let step: Vec3 = a[joint.0] - before[joint.0];
                    self.way += f64::from(Vec3::new(step.x, 0.0, step.z).length() * metres);
                    self.seconds += f64::from(1.0 / shown.frame_rate_hz);
                }
            }
            before = Some(a);
        }
    }

    fn row(self, direction: String, way: String) -> RetargetingRow {
        let joints = self.joints.max(1) as f64;
        RetargetingRow {
            direction,
            way,
            motions: self.motions,
            squared_per_mille: 1e3 * self.squared / joints,
            in_place_per_mille: 1e3 * self.in_place / joints,
            planted_m_s: self.way / self.seconds.max(1e-9),
        }
    }
}

/// Length of the bones from the joint `from` down to `joint`, in the unit of the file.
fn limb(motion: &SourceMotion, joint: JointIndex, from: Option<JointIndex>) -> f32 {
    let joints = motion.skeleton.joints();
    std::iter::successors(Some(joint), |&j| joints[j.0].parent)
        .take_while(|j| Some(*j) != from)
        .map(|j| joints[j.0].offset.length())
        .sum()
}
