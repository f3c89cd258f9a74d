//! What is run: methods, scenarios, seeds.

use crate::BenchError;
use crate::grid::Grid;
use glam::Vec2;
use pomp_config::{Fields, OutOfRange, Validate};
use pomp_controllers::matching::MatchedFeatures;
use pomp_generator::control::Waypoint;
use pomp_generator::{ControlPlan, Dynamics, FRAME_RATE_HZ, GeneratorConfig, Goal, PathFile, Preset};
use pomp_motion::{Gait, humanoid};
use pomp_terrain::{Shape, TerrainSpec};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::ops::Bound;

/// A preset goes on beyond the run, so that the character does not slow down before the end.
const PLAN_BEYOND_S: f32 = 3.0;
/// Longest run that is served, seconds.
const LONGEST_S: f32 = 3600.0;

/// A bench: every method in every scenario that it applies to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BenchConfig {
    /// Seed of the first run of each scenario; the others count up from it.
    pub first_seed: u64,
    /// Length of previews, seconds; 0 for none. A moving picture shows a fall or a push where there is one; the stills of SCENARIO.png
    /// show the same seconds of all methods, from 2 s on or around the push.
    pub preview_s: f32,
    /// The methods, in the order of the report; the first is the one that the others are compared with.
    pub method: Vec<Method>,
    /// Grids of further methods; none by default.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub grid: Vec<Grid>,
    /// The scenarios, in the order of the report.
    pub scenario: Vec<Scenario>,
}

/// A way to make motion.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Method {
    /// Name in files and reports: lower-case letters, digits and underscores.
    pub name: String,
    /// One line for the reader of the report.
    pub about: String,
    /// What it does.
    pub kind: MethodKind,
}

/// What a method does.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
#[expect(clippy::large_enum_variant, reason = "there are a dozen methods, and they are not moved about")]
pub enum MethodKind {
    /// The closed loop with these settings; what is left out has its default.
    ClosedLoop(GeneratorConfig),
    /// Motion matching over the training clips of the dataset: kinematic, with inertialised transitions.
    MotionMatching(MatchedFeatures),
    /// A clip of the dataset, tracked by the default ragdoll; the clip is the command.
    TrackedClip {},
    /// Held-out clips of the dataset as they are.
    Mocap {},
}

/// A situation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Scenario {
    /// Name in files and reports: lower-case letters, digits and underscores.
    pub name: String,
    /// One line for the reader of the report.
    pub about: String,
    /// The ground; seeded shapes differ from run to run. It is enlarged as the path needs.
    pub terrain: TerrainSpec,
    /// What is asked for.
    pub control: ScenarioControl,
    /// Length of a run, seconds.
    pub seconds: f32,
    /// Number of runs per method. Methods that show clips run once per clip at most.
    pub runs: usize,
    /// Gaits of the held-out mocap that the motion is compared with, and of the clips of methods that show clips.
    pub gaits: Vec<Gait>,
    /// Methods to run here; all that apply by default.
    #[serde(default)]
    pub methods: Vec<String>,
    /// A push per run; none by default.
    #[serde(default)]
    pub push: Option<PushDesign>,
    /// Where runs begin beside the path; all at its beginning by default. For methods that follow the command in the closed loop.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub beginnings: Option<BeginningDesign>,
    /// Whether the first run of each method is drawn, as a moving picture and as a row of stills. Default false.
    #[serde(default)]
    pub preview: bool,
}

/// What the character is asked to do.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum ScenarioControl {
    /// A ready-made command.
    Preset(Preset),
    /// Waypoints.
    Path(Vec<Waypoint>),
    /// A goal to reach, another one in each run.
    Reach(GoalDesign),
}

/// Goals that are spread evenly over the runs of a scenario: distance, direction from the start and direction to face there divide their
/// spans by irrational numbers, so that any number of runs covers them evenly.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GoalDesign {
    /// Nearest and farthest goal, metres.
    pub distance_m: [f32; 2],
    /// Largest angle between the way to the goal and the heading at the start, degrees, to either side.
    pub aside_deg: f32,
    /// Largest angle between the heading at the start and that at the goal, degrees, to either side.
    pub facing_deg: f32,
    /// Number of the goal of the first run, so that two benches need not share goals; 0 by default.
    #[serde(default, skip_serializing_if = "is_none_yet")]
    pub first: usize,
}

fn is_none_yet(first: &usize) -> bool {
    *first == 0
}

impl GoalDesign {
    /// The goal of run `run`, counted from 0.
    pub fn of_run(&self, run: usize) -> Goal {
        let share = |step: f64| ((0.5 + (self.first + run) as f64 * step) % 1.0) as f32;
        let [near, far] = self.distance_m;
        let distance = near + (far - near) * share(0.618_034);
        let angle = (self.aside_deg * (2.0 * share(0.414_214) - 1.0)).to_radians();
        Goal {
            x: distance * angle.sin(),
            z: distance * angle.cos(),
            facing_deg: self.facing_deg * (2.0 * share(0.732_051) - 1.0),
        }
    }
}

impl Validate for GoalDesign {
    fn check(&self, fields: &Fields) -> Result<(), OutOfRange> {
        fields.within("distance_m[0]", self.distance_m[0], 0.0..=100.0)?;
        fields.within("distance_m[1]", self.distance_m[1], self.distance_m[0]..=100.0)?;
        fields.within("aside_deg", self.aside_deg, 0.0..=180.0)?;
        fields.within("facing_deg", self.facing_deg, 0.0..=180.0)
    }
}

/// Pushes that cover directions, bodies and moments of the gait evenly over the runs of a scenario.
///
/// Run r is pushed in direction r mod D on body r mod B; with D and B without a common divisor all D·B pairs come up in as
/// many runs. The moments divide a span of time by the golden ratio, so that any number of runs covers it evenly.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PushDesign {
    /// Size of the impulse, N·s.
    pub impulse_ns: f32,
    /// Number of horizontal directions, evenly spread; the first pushes ahead (+Z), the next towards the left.
    pub directions: usize,
    /// Turns all directions to the left, degrees; 0 by default. 180 makes the first one push back, as what a foot is caught by
    /// does.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub turned_deg: f32,
    /// Names of the bodies.
    pub bodies: Vec<String>,
    /// The earliest moment, seconds.
    pub from_s: f32,
    /// Length of the span of moments, seconds: about one cycle of the gait.
    pub span_s: f32,
}

/// Beginnings that are spread evenly beside the beginning of the path over the runs of a scenario, so that runs of what draws no random
/// numbers differ too.
///
/// Run r begins aside, to the left or the right of where the path begins, and turned away from it; both divide their spans by irrational
/// numbers, so that any number of runs covers them evenly. Run 0 begins on the path.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BeginningDesign {
    /// Farthest beginning beside the path's, metres, to either side.
    pub aside_m: f32,
    /// Largest turn away from the path's direction (+Z), degrees, to either side.
    pub turned_deg: f32,
}

impl BeginningDesign {
    /// Place on the ground (x, z), metres, and heading, radians, of run `run`, counted from 0.
    pub fn of_run(&self, run: usize) -> (Vec2, f32) {
        const GOLDEN: f32 = 0.618_034;
        const SILVER: f32 = 0.414_214;
        let share = |step: f32| 2.0 * ((0.5 + run as f32 * step) % 1.0) - 1.0;
        (Vec2::new(self.aside_m * share(GOLDEN), 0.0), self.turned_deg.to_radians() * share(SILVER))
    }
}

impl Validate for BeginningDesign {
    fn check(&self, fields: &Fields) -> Result<(), OutOfRange> {
        fields.within("aside_m", self.aside_m, 0.0..=2.0)?;
        fields.within("turned_deg", self.turned_deg, 0.0..=90.0)
    }
}

/// One push of one run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PlannedPush {
    /// When, seconds from the start.
    pub time_s: f32,
    /// Index of the joint whose body is pushed.
    pub body: usize,
    /// Impulse, N·s, world.
    pub impulse_ns: glam::Vec3,
}

impl PushDesign {
    /// The push of run `run`, counted from 0.
    ///
    /// # Panics
    /// When the design has not been validated and names a body that is not there.
    pub fn of_run(&self, run: usize) -> PlannedPush {
        const GOLDEN: f32 = 0.618_034;
        let share = (run % self.directions) as f32 / self.directions as f32;
        let angle = std::f32::consts::TAU * share + self.turned_deg.to_radians();
        let name = &self.bodies[run % self.bodies.len()];
        let body = body_index(name).expect("validation found every body");
        PlannedPush {
            time_s: self.from_s + self.span_s * ((0.5 + run as f32 * GOLDEN) % 1.0),
            body,
            impulse_ns: glam::Vec3::new(angle.sin(), 0.0, angle.cos()) * self.impulse_ns,
        }
    }
}

fn is_zero(value: &f32) -> bool {
    *value == 0.0
}

fn body_index(name: &str) -> Option<usize> {
    let skeleton = pomp_motion::Skeleton::humanoid(1.75);
    skeleton.index_of(name).map(|joint| joint.0).filter(|&joint| joint < humanoid::JOINTS)
}

impl Method {
    /// Whether the method can be run in a scenario, apart from what the scenario's list says.
    pub fn applies_to(&self, scenario: &Scenario) -> bool {
        let flat = matches!(scenario.terrain.shape, Shape::Flat { .. });
        match &self.kind {
            MethodKind::ClosedLoop(config) => {
                scenario.push.is_none() || config.dynamics == Dynamics::Simulated
            }
            MethodKind::MotionMatching(_) | MethodKind::Mocap {} => scenario.push.is_none(),
            MethodKind::TrackedClip {} => flat,
        }
    }

    /// Whether it needs a dataset.
    pub fn needs_data(&self) -> bool {
        !matches!(self.kind, MethodKind::ClosedLoop(_))
    }

    /// Whether its motion is simulated.
    pub fn is_simulated(&self) -> bool {
        match &self.kind {
            MethodKind::ClosedLoop(config) => config.dynamics == Dynamics::Simulated,
            MethodKind::TrackedClip {} => true,
            MethodKind::MotionMatching(_) | MethodKind::Mocap {} => false,
        }
    }

    /// Whether it shows clips of the dataset, one per run, instead of following the scenario's command.
    pub fn shows_clips(&self) -> bool {
        matches!(self.kind, MethodKind::TrackedClip {} | MethodKind::Mocap {})
    }
}

impl Scenario {
    /// Whether a method is to be run here.
    pub fn wants(&self, method: &Method) -> bool {
        if self.methods.is_empty() { method.applies_to(self) } else { self.methods.contains(&method.name) }
    }

    /// The command of run `run`, counted from 0.
    ///
    /// # Errors
    /// A path that cannot be followed.
    pub fn plan(&self, run: usize) -> Result<ControlPlan, BenchError> {
        Ok(match &self.control {
            ScenarioControl::Preset(preset) => {
                ControlPlan::preset(*preset, self.seconds + PLAN_BEYOND_S, FRAME_RATE_HZ)
            }
            ScenarioControl::Path(waypoint) => {
                ControlPlan::path(&PathFile { waypoint: waypoint.clone() }, FRAME_RATE_HZ)?
            }
            ScenarioControl::Reach(design) => ControlPlan::reach(&design.of_run(run), FRAME_RATE_HZ)?,
        })
    }

    /// Frames of a run.
    pub fn frames(&self) -> usize {
        (self.seconds * FRAME_RATE_HZ).round() as usize
    }
}

impl BenchConfig {
    /// The same bench with the methods of its grids among the others, after them.
    ///
    /// # Errors
    /// A grid that scales what is no number of the settings.
    pub fn expanded(mut self) -> Result<Self, BenchError> {
        for (index, grid) in std::mem::take(&mut self.grid).into_iter().enumerate() {
            grid.check(&Fields::root().section(format!("grid[{index}]")))?;
            self.method.extend(grid.methods());
        }
        Ok(self)
    }

    /// Checks names, ranges, plans and terrains of a bench that was [expanded](Self::expanded) if it has grids.
    ///
    /// # Errors
    /// The first thing that is wrong.
    pub fn validate(&self) -> Result<(), BenchError> {
        self.check(&Fields::root())?;
        let left = self.grid.len();
        Fields::root().holds(left == 0, "grid", left, "none left: expand it first")?;
        for scenario in &self.scenario {
            scenario.terrain.validate()?;
            scenario.plan(0)?;
        }
        Ok(())
    }
}

impl Validate for BenchConfig {
    fn check(&self, fields: &Fields) -> Result<(), OutOfRange> {
        fields.within("preview_s", self.preview_s, 0.0..=60.0)?;
        for (index, grid) in self.grid.iter().enumerate() {
            grid.check(&fields.section(format!("grid[{index}]")))?;
        }
        let of_grids: Vec<Method> = self.grid.iter().flat_map(Grid::methods).collect();
        let methods: Vec<&Method> = self.method.iter().chain(&of_grids).collect();
        check_names("method", methods.iter().map(|method| method.name.as_str()), fields)?;
        check_names("scenario", self.scenario.iter().map(|scenario| scenario.name.as_str()), fields)?;
        for (index, method) in self.method.iter().enumerate() {
            if let MethodKind::ClosedLoop(settings) = &method.kind {
                settings.check(&fields.section(format!("method[{index}].kind.closed_loop")))?;
            }
        }
        for (index, scenario) in self.scenario.iter().enumerate() {
            let fields = fields.section(format!("scenario[{index}]"));
            scenario.check(&fields)?;
            for wanted in &scenario.methods {
                let method = methods.iter().find(|method| method.name == *wanted);
                let (told, known) = (format!("\"{wanted}\""), method.is_some());
                fields.holds(known, "methods", &told, "names of [[method]]")?;
                fields.holds(
                    method.is_none_or(|method| method.applies_to(scenario)),
                    "methods",
                    &told,
                    "methods that can be pushed where there is a push, and clips on level ground alone",
                )?;
            }
        }
        Ok(())
    }
}

impl Validate for Scenario {
    fn check(&self, fields: &Fields) -> Result<(), OutOfRange> {
        fields.within("seconds", self.seconds, 1.0..=LONGEST_S)?;
        fields.within("runs", self.runs, 1..=10_000)?;
        fields.holds(!self.gaits.is_empty(), "gaits", "[]", "gaits of the mocap to compare with")?;
        if let ScenarioControl::Reach(goals) = &self.control {
            goals.check(&fields.section("control").section("reach"))?;
        }
        if let Some(beginnings) = &self.beginnings {
            beginnings.check(&fields.section("beginnings"))?;
        }
        let Some(push) = &self.push else { return Ok(()) };
        let fields = fields.section("push");
        push.check(&fields)?;
        let last = push.from_s + push.span_s;
        let allowed = format!("a span that leaves a second of the run's {} s after it", self.seconds);
        fields.holds(last + 1.0 <= self.seconds, "span_s", push.span_s, allowed)
    }
}

impl Validate for PushDesign {
    fn check(&self, fields: &Fields) -> Result<(), OutOfRange> {
        fields.within("impulse_ns", self.impulse_ns, (Bound::Excluded(0.0), Bound::Included(10_000.0)))?;
        fields.within("directions", self.directions, 1..)?;
        fields.within("turned_deg", self.turned_deg, ..)?;
        fields.holds(!self.bodies.is_empty(), "bodies", "[]", "at least one body")?;
        for body in &self.bodies {
            let known = body_index(body).is_some();
            fields.holds(known, "bodies", format!("\"{body}\""), "joints of the project skeleton")?;
        }
        fields.within("from_s", self.from_s, 1.0..)?;
        fields.within("span_s", self.span_s, 0.0..)
    }
}

/// Names are used as file names: plain, and one of each.
fn check_names<'a>(
    what: &str,
    names: impl ExactSizeIterator<Item = &'a str>,
    fields: &Fields,
) -> Result<(), OutOfRange> {
    fields.holds(names.len() > 0, what, "[]", format!("at least one [[{what}]]"))?;
    let mut seen = BTreeSet::new();
    for (index, name) in names.enumerate() {
        let fields = fields.section(format!("{what}[{index}]"));
        let plain = !name.is_empty()
            && name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_');
        let told = format!("\"{name}\"");
        fields.holds(plain, "name", &told, "lower-case letters, digits and underscores")?;
        fields.holds(seen.insert(name), "name", &told, format!("a name that no other [[{what}]] has"))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn design(directions: usize, bodies: &[&str]) -> PushDesign {
        let bodies = bodies.iter().map(|&body| body.to_owned()).collect();
        PushDesign { impulse_ns: 75.0, directions, turned_deg: 0.0, bodies, from_s: 4.0, span_s: 1.2 }
    }

    #[test]
    fn the_pushes_of_24_runs_are_8_directions_on_3_bodies() {
        let design = design(8, &["Hips", "Spine2", "LeftArm"]);
        let pairs: BTreeSet<(i32, i32, usize)> = (0..24)
            .map(|run| design.of_run(run))
            .map(|push| ((push.impulse_ns.x * 10.0) as i32, (push.impulse_ns.z * 10.0) as i32, push.body))
            .collect();
        assert_eq!(pairs.len(), 24);
    }

    #[test]
    fn the_moments_of_pushes_cover_their_span_evenly() {
        let design = design(8, &["Hips"]);
        let mut times: Vec<f32> = (0..24).map(|run| design.of_run(run).time_s).collect();
        times.sort_by(f32::total_cmp);
        assert!(times[0] >= 4.0 && times[23] <= 5.2, "{times:?}");
        let widest = times.windows(2).map(|pair| pair[1] - pair[0]).fold(0.0, f32::max);
        assert!(widest < 2.7 * 1.2 / 24.0, "{widest}");
    }

    #[test]
    fn goals_cover_distances_directions_and_facings_and_two_benches_need_not_share_them() {
        let goals = |first| GoalDesign { distance_m: [2.0, 6.0], aside_deg: 90.0, facing_deg: 180.0, first };
        let of = |value: fn(Goal) -> f32| {
            let mut values: Vec<f32> = (0..20).map(|run| value(goals(0).of_run(run))).collect();
            values.sort_by(f32::total_cmp);
            values
        };
        let distances = of(|goal| goal.x.hypot(goal.z));
        let asides = of(|goal| goal.x.atan2(goal.z).to_degrees());
        let facings = of(|goal| goal.facing_deg);
        for (values, least, most) in [(distances, 2.0, 6.0), (asides, -90.0, 90.0), (facings, -180.0, 180.0)]
        {
            let span = most - least;
            assert!(values[0] < least + 0.1 * span && values[19] > most - 0.1 * span, "{values:?}");
            assert!(values[0] >= least - 1e-3 && values[19] <= most + 1e-3, "{values:?}");
            let widest = values.windows(2).map(|pair| pair[1] - pair[0]).fold(0.0, f32::max);
            assert!(widest < 0.15 * span, "{values:?}");
        }
        assert_eq!(goals(5).of_run(0), goals(0).of_run(5));
        assert!((1000..1020).all(|a| (0..20).all(|b| goals(0).of_run(a) != goals(0).of_run(b))));
        let check = |design: GoalDesign| design.check(&Fields::root()).map_err(|error| error.to_string());
        let near = check(GoalDesign { distance_m: [6.0, 2.0], ..goals(0) }).unwrap_err();
        assert!(near.contains("distance_m[1]"), "{near}");
        assert!(check(GoalDesign { aside_deg: f32::NAN, ..goals(0) }).unwrap_err().contains("aside_deg"));
    }

    #[test]
    fn a_push_has_the_size_that_was_asked_for_and_the_first_goes_ahead() {
        let design = design(8, &["Hips"]);
        assert!((design.of_run(0).impulse_ns - glam::Vec3::Z * 75.0).length() < 1e-3);
        assert!((0..8).all(|run| (design.of_run(run).impulse_ns.length() - 75.0).abs() < 1e-3));
    }

    #[test]
    fn runs_begin_evenly_on_both_sides_and_the_first_on_the_path() {
        let design = BeginningDesign { aside_m: 0.3, turned_deg: 20.0 };
        assert_eq!(design.of_run(0), (Vec2::ZERO, 0.0));
        let of = |value: fn((Vec2, f32)) -> f32| {
            let mut values: Vec<f32> = (0..20).map(|run| value(design.of_run(run))).collect();
            values.sort_by(f32::total_cmp);
            values
        };
        for (values, most) in [(of(|(place, _)| place.x), 0.3), (of(|(_, yaw)| yaw), 20f32.to_radians())] {
            assert!(values[0] < -0.8 * most && values[19] > 0.8 * most, "{values:?}");
            let widest = values.windows(2).map(|pair| pair[1] - pair[0]).fold(0.0, f32::max);
            assert!((-most..=most).contains(&values[0]) && widest < 0.3 * most, "{values:?}");
        }
    }

    #[test]
    fn turned_by_half_a_turn_the_first_push_goes_back() {
        let design = PushDesign { turned_deg: 180.0, ..design(1, &["LeftFoot"]) };
        assert!((design.of_run(5).impulse_ns + glam::Vec3::Z * 75.0).length() < 1e-3);
    }
}
