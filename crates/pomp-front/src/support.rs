//! What holds a character up: its own feet, or the external root assist.
//!
//! Rollouts whose settings come from no configuration file have the support that is asked for. Where none is, a character stands on its own
//! feet in what it was measured to hold on them (docs/results.md). On stairs a small residual wrench helps them, and elsewhere the assist
//! holds it; both are told. Of scenes that are drawn, each has the support that its ground and its command need.

use crate::rollout::BEYOND_S;
use crate::{control, misuse};
use anyhow::Result;
use pomp_config::{Origin, resolve_over};
use pomp_controllers::ControllerKind;
use pomp_generator::{ControlPlan, Dynamics, FRAME_RATE_HZ, GeneratorConfig};
use pomp_model::Model;
use pomp_motion::Gait;
use pomp_motion::rotation::wrap_angle;
use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;
use std::str::FromStr;

/// Grounds on which a character was measured to stay on its own feet, by their names as presets.
const OWN_FEET_GROUNDS: [&str; 7] = [LEVEL, "slope", "rough", "hills", "gaps", "mixed", STAIRS];
/// The only ground on which jogs were measured.
const LEVEL: &str = "flat";
/// The ground on which it needs some help.
const STAIRS: &str = "stairs";
/// Bounds of the residual wrench with which it stays on its feet on stairs: body weights, and body weights × metre.
const STAIRS_RESIDUAL: (f32, f32) = (0.2, 0.136);
/// Fastest walk and jog that were measured, m/s.
const FASTEST_WALK_MPS: f32 = 1.5;
const FASTEST_JOG_MPS: f32 = 2.5;
/// Fastest turn on the spot that was measured, rad/s.
const FASTEST_TURN_RAD_S: f32 = 1.1;
/// Names of supports in a batch: those of [`Support`], own feet with the residual wrench, and that of a configuration file.
const OWN_FEET: &str = "own-feet";
const ASSIST: &str = "assist";
const RESIDUAL: &str = "residual";
const CONFIGURED: &str = "configured";
/// Slowest speed that counts as moving, m/s.
const MOVING_MPS: f32 = 0.3;
/// Cosine of the angle between heading and direction of travel below which a command leads backward or aside.
const ALONG_HEADING: f32 = 0.7;

/// What holds a character up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Support {
    /// Nothing from outside while it is up: [`GeneratorConfig::own_feet`].
    OwnFeet,
    /// The external root assist, a bounded wrench on the pelvis: the defaults of [`GeneratorConfig`].
    Assist,
}

impl Support {
    /// All of them.
    pub const ALL: [Self; 2] = [Self::OwnFeet, Self::Assist];

    /// The name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::OwnFeet => OWN_FEET,
            Self::Assist => ASSIST,
        }
    }

    /// The settings of the loop with it.
    pub fn defaults(self) -> GeneratorConfig {
        match self {
            Self::OwnFeet => GeneratorConfig::own_feet(),
            Self::Assist => GeneratorConfig::default(),
        }
    }
}

impl FromStr for Support {
    type Err = anyhow::Error;
    fn from_str(name: &str) -> Result<Self> {
        Self::ALL.into_iter().find(|support| support.name() == name).ok_or_else(|| {
            misuse!("there is no support \"{name}\"; give {}", Self::ALL.map(Self::name).join(" or "))
        })
    }
}

impl fmt::Display for Support {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.name())
    }
}

/// Where the settings of a loop come from.
#[derive(Clone, Copy, Debug)]
pub struct LoopSettings<'a> {
    /// A configuration file, over the defaults of [`GeneratorConfig`].
    pub config: Option<&'a Path>,
    /// `KEY.PATH=VALUE`, each over what comes before it.
    pub set: &'a [String],
    /// What holds the character up where there is no file.
    pub support: Option<Support>,
}

/// What a character is asked to do, as far as it decides what can hold it up.
#[derive(Clone, Copy, Debug)]
pub enum Situation<'a> {
    /// One command on one kind of ground.
    Given {
        /// The ground: a preset or a file.
        terrain: &'a str,
        /// The command: a preset, a goal or a file ([`control::find`]).
        control: &'a str,
        /// Length, seconds.
        seconds: f32,
    },
    /// Several characters in one world.
    Together,
}

/// The settings of a loop, and what is to be told of their support.
#[derive(Clone, Debug)]
pub struct Chosen {
    /// The settings, whose ranges are checked.
    pub settings: GeneratorConfig,
    /// What holds the character up in them, as a batch names it.
    pub name: &'static str,
    /// What from outside helps the character although nobody asked for it, and why.
    pub note: Option<String>,
}

/// What holds up the characters of a batch.
#[derive(Clone, Debug)]
pub struct Supports {
    /// The settings of each, whose ranges are checked, by its name.
    pub settings: BTreeMap<String, GeneratorConfig>,
    /// What from outside helps characters although nobody asked for it, and why.
    pub note: Option<String>,
    /// The only one, unless ground and command decide.
    only: Option<&'static str>,
}

impl From<Chosen> for Supports {
    fn from(Chosen { settings, name, note }: Chosen) -> Self {
        Self { settings: BTreeMap::from([(name.to_owned(), settings)]), note, only: Some(name) }
    }
}

impl Supports {
    /// The name of the one that a character needs on a kind of ground with a command.
    pub fn name_for(&self, ground: &str, plan: &ControlPlan) -> &'static str {
        self.only.unwrap_or_else(|| {
            if unmeasured_scene(plan, ground).is_some() {
                ASSIST
            } else if ground == STAIRS {
                RESIDUAL
            } else {
                OWN_FEET
            }
        })
    }
}

impl LoopSettings<'_> {
    /// The settings, with what `change` makes of them.
    ///
    /// # Errors
    /// A file, a value or a command that cannot be used, a support beside a file, and whatever `change` refuses.
    pub fn choose(
        &self,
        model: &Model,
        situation: Situation<'_>,
        change: impl Fn(&mut GeneratorConfig) -> Result<()>,
    ) -> Result<Chosen> {
        if let Some((name, defaults)) = self.given()? {
            return Ok(Chosen { settings: self.over(&defaults, &change)?, name, note: None });
        }
        let assisted = self.over(&Support::Assist.defaults(), &change)?;
        if assisted.dynamics == Dynamics::KinematicOnly {
            // Nothing is simulated, so nothing is held.
            return Ok(Chosen { settings: assisted, name: ASSIST, note: None });
        }
        if let Some(reason) = needs_assist(&assisted, model, situation)? {
            return Ok(Chosen { settings: assisted, name: ASSIST, note: Some(told_of_assist(&reason)) });
        }
        let is_on_stairs = matches!(situation, Situation::Given { terrain: STAIRS, .. });
        if !is_on_stairs {
            let settings = self.over(&Support::OwnFeet.defaults(), &change)?;
            return Ok(Chosen { settings, name: OWN_FEET, note: None });
        }
        let settings = self.over(&with_residual(), &change)?;
        let note = Some(told_of_residual(&settings));
        Ok(Chosen { settings, name: RESIDUAL, note })
    }

    /// The settings for scenes that are drawn, with what `change` makes of them: one for each support that such a scene may need.
    ///
    /// # Errors
    /// As [`Self::choose`].
    pub fn choose_drawn(
        &self,
        model: &Model,
        change: impl Fn(&mut GeneratorConfig) -> Result<()>,
    ) -> Result<Supports> {
        if let Some((name, defaults)) = self.given()? {
            return Ok(Chosen { settings: self.over(&defaults, &change)?, name, note: None }.into());
        }
        let assisted = self.over(&Support::Assist.defaults(), &change)?;
        if assisted.dynamics == Dynamics::KinematicOnly {
            return Ok(Chosen { settings: assisted, name: ASSIST, note: None }.into());
        }
        if let Some(reason) = always_needs_assist(&assisted, model) {
            return Ok(
                Chosen { settings: assisted, name: ASSIST, note: Some(told_of_assist(&reason)) }.into()
            );
        }
        let on_stairs = self.over(&with_residual(), &change)?;
        let note = format!(
            "{}, and the external root assist holds up characters whose command or ground was not measured to hold without it \
             (docs/results.md); manifest.json names the support of each rollout",
            told_of_residual(&on_stairs)
        );
        let own_feet = self.over(&Support::OwnFeet.defaults(), &change)?;
        let settings = [(OWN_FEET, own_feet), (RESIDUAL, on_stairs), (ASSIST, assisted)];
        let settings = settings.into_iter().map(|(name, settings)| (name.to_owned(), settings)).collect();
        Ok(Supports { settings, note: Some(note), only: None })
    }

    /// The name and the defaults of what was asked for; `None` where nothing was.
    fn given(&self) -> Result<Option<(&'static str, GeneratorConfig)>> {
        match (self.config, self.support) {
            (Some(_), Some(support)) => Err(misuse!(
                "support {support} is given with a configuration file, which says itself what holds the character up; give one of \
                 the two"
            )),
            (Some(_), None) => Ok(Some((CONFIGURED, GeneratorConfig::default()))),
            (None, Some(support)) => Ok(Some((support.name(), support.defaults()))),
            (None, None) => Ok(None),
        }
    }

    /// What is given over defaults, with what `change` makes of them.
    fn over(
        &self,
        defaults: &GeneratorConfig,
        change: &impl Fn(&mut GeneratorConfig) -> Result<()>,
    ) -> Result<GeneratorConfig> {
        let origin = self.config.map_or(Origin::Defaults, Origin::File);
        let mut settings = resolve_over(defaults, origin, self.set)?.checked()?;
        change(&mut settings)?;
        settings.validate()?;
        Ok(settings)
    }
}

/// Own feet that a residual wrench helps, as on stairs.
fn with_residual() -> GeneratorConfig {
    let mut settings = Support::OwnFeet.defaults();
    let balance = &mut settings.dynamic.balance;
    (balance.residual_force_bw, balance.residual_torque_bw_m) = STAIRS_RESIDUAL;
    settings
}

fn told_of_assist(reason: &str) -> String {
    format!("the external root assist holds the character up: {reason}")
}

/// What is told of the residual wrench on stairs.
fn told_of_residual(settings: &GeneratorConfig) -> String {
    let dynamic = &settings.dynamic;
    let torque_nm = dynamic.mass_kg * dynamic.gravity_m_s2 * dynamic.balance.residual_torque_bw_m;
    format!(
        "on stairs an external wrench of at most {} body weights and {torque_nm:.0} N·m helps the feet",
        dynamic.balance.residual_force_bw
    )
}

/// Why a character of this model needs the assist whatever it does and wherever; `None` where that decides.
fn always_needs_assist(settings: &GeneratorConfig, model: &Model) -> Option<String> {
    if model.balance_policy.is_none() {
        return Some("the model has no balance policy (`pomp train balance`)".to_owned());
    }
    let what = if settings.controller != ControllerKind::Pomp && !settings.controller.is_gated() {
        &format!("the controller {}", settings.controller)
    } else if settings.used_parts().styles {
        "a style"
    } else if !settings.ground_motion.rests() {
        "moving ground"
    } else {
        return None;
    };
    Some(unmeasured(what))
}

/// Why a character of this model needs the assist; `None` where it was measured to stay on its own feet.
fn needs_assist(
    settings: &GeneratorConfig,
    model: &Model,
    situation: Situation<'_>,
) -> Result<Option<String>> {
    if let Some(reason) = always_needs_assist(settings, model) {
        return Ok(Some(reason));
    }
    match situation {
        Situation::Together => Ok(Some("several characters share one world".to_owned())),
        Situation::Given { terrain, control, seconds } => {
            let plan = control::find(control, seconds + BEYOND_S)?;
            Ok(unmeasured_scene(&plan, terrain).map(|what| unmeasured(&what)))
        }
    }
}

fn unmeasured(what: &str) -> String {
    format!("{what} is not among what was measured to hold without it (docs/results.md)")
}

/// What of a command on a kind of ground was not measured to hold without the assist.
fn unmeasured_scene(plan: &ControlPlan, ground: &str) -> Option<String> {
    if !OWN_FEET_GROUNDS.contains(&ground) {
        return Some(format!("the ground \"{ground}\""));
    }
    unmeasured_command(plan, ground).map(str::to_owned)
}

/// What a plan asks for beyond walking ahead and standing, and jogging on level ground.
fn unmeasured_command(plan: &ControlPlan, terrain: &str) -> Option<&'static str> {
    let pairs = plan.samples().windows(2).map(|pair| (pair[0], pair[1]));
    for (now, next) in pairs {
        let (fastest_mps, too_fast) = match now.gait {
            Gait::Stand | Gait::Walk => (FASTEST_WALK_MPS, "a walk this fast"),
            Gait::Jog if terrain == LEVEL => (FASTEST_JOG_MPS, "a run this fast"),
            Gait::Jog => return Some("a jog on this ground"),
            Gait::Crouch => return Some("a crouch"),
            _ => return Some("a gait other than walking, jogging and standing"),
        };
        if now.speed_mps > fastest_mps {
            return Some(too_fast);
        }
        let way = next.position - now.position;
        let heading = glam::Vec2::from(now.yaw.sin_cos());
        if now.speed_mps > MOVING_MPS && way.normalize_or_zero().dot(heading) < ALONG_HEADING {
            return Some("a walk backward or aside");
        }
        let turning = wrap_angle(next.yaw - now.yaw).abs() * FRAME_RATE_HZ;
        if now.speed_mps < MOVING_MPS && turning > FASTEST_TURN_RAD_S {
            return Some("a turn on the spot this fast");
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::errors::is_misuse;
    use pomp_embedded::Device;

    fn chosen(terrain: &str, control: &str, set: &[&str]) -> Chosen {
        let model = crate::model::load(&Device::flex()).expect("it is embedded");
        let set: Vec<String> = set.iter().map(|&setting| setting.to_owned()).collect();
        let asked = LoopSettings { config: None, set: &set, support: None };
        let situation = Situation::Given { terrain, control, seconds: 10.0 };
        asked.choose(&model, situation, |_| Ok(())).expect("all of it can be used")
    }

    #[test]
    fn what_was_measured_to_hold_stands_on_its_own_feet() {
        for (terrain, control) in [
            ("flat", "walk"),
            ("hills", "walk"),
            ("gaps", "walk"),
            ("flat", "circle"),
            ("flat", "stop-and-go"),
            ("flat", "stand"),
            ("flat", "jog"),
            ("flat", "reach:1.5,4,90"),
        ] {
            let chosen = chosen(terrain, control, &["dynamic.friction=0.5"]);
            assert_eq!(chosen.note, None, "{terrain} {control}");
            let mut wanted = GeneratorConfig::own_feet();
            wanted.dynamic.friction = 0.5;
            assert_eq!(chosen.settings, wanted, "{terrain} {control}");
        }
    }

    #[test]
    fn elsewhere_the_assist_holds_it_and_the_reason_is_told() {
        for (terrain, control, set, said) in [
            ("ground.npz", "walk", "dynamic.friction=0.6", "the ground \"ground.npz\""),
            ("hills", "jog", "dynamic.friction=0.6", "a jog on this ground"),
            ("flat", "run", "dynamic.friction=0.6", "a run this fast"),
            ("flat", "backward", "dynamic.friction=0.6", "backward"),
            ("flat", "turn", "dynamic.friction=0.6", "turn on the spot"),
            ("flat", "crouch", "dynamic.friction=0.6", "a crouch"),
            ("flat", "walk", "controller=\"learned-matching\"", "learned-matching"),
            ("flat", "walk", "style.zombie=0.7", "a style"),
        ] {
            let chosen = chosen(terrain, control, &[set]);
            let reason = chosen.note.unwrap_or_default();
            assert!(reason.contains(said), "{terrain} {control} {set}: {reason}");
            assert!(!chosen.settings.dynamic.balance.enabled);
        }
    }

    #[test]
    fn on_stairs_a_bounded_wrench_helps_the_feet_and_is_told() {
        let chosen = chosen("stairs", "walk", &["dynamic.balance.residual_force_bw=0.05"]);
        let told = chosen.note.unwrap_or_default();
        assert!(told.contains("0.05 body weights") && told.contains("100 N·m"), "{told}");
        let balance = &chosen.settings.dynamic.balance;
        assert!(balance.enabled);
        assert_eq!((balance.residual_force_bw, balance.residual_torque_bw_m), (0.05, STAIRS_RESIDUAL.1));
    }

    #[test]
    fn each_drawn_scene_has_the_support_that_it_needs() {
        let model = crate::model::load(&Device::flex()).expect("it is embedded");
        let plan = |control| control::find(control, 10.0).expect("a preset");
        let asked = |set: &[String], support| {
            LoopSettings { config: None, set, support }
                .choose_drawn(&model, |_| Ok(()))
                .expect("all of it can be used")
        };
        let set = ["dynamic.friction=0.5".to_owned()];
        let supports = asked(&set, None);
        assert!(supports.settings.values().all(|settings| settings.dynamic.friction == 0.5));
        for (ground, control, support) in [
            ("hills", "walk", OWN_FEET),
            ("flat", "jog", OWN_FEET),
            ("stairs", "walk", RESIDUAL),
            ("hills", "jog", ASSIST),
            ("flat", "crouch", ASSIST),
        ] {
            let name = supports.name_for(ground, &plan(control));
            assert_eq!(name, support, "{ground} {control}");
            assert!(supports.settings.contains_key(name));
        }
        assert!(supports.note.expect("two of them help").contains("on stairs"));
        let helped = |name: &str| supports.settings[name].dynamic.balance.residual_force_bw > 0.0;
        assert!(helped(RESIDUAL) && !helped(OWN_FEET));

        let only = asked(&[], Some(Support::Assist));
        assert_eq!((only.settings.len(), only.name_for("flat", &plan("walk")), only.note), (1, ASSIST, None));
        let style = asked(&["style.zombie=0.7".to_owned()], None);
        assert_eq!(style.name_for("flat", &plan("walk")), ASSIST);
        assert!(style.note.expect("the assist was not asked for").contains("a style"));
    }

    #[test]
    fn where_nothing_is_simulated_nothing_is_told() {
        let chosen = chosen("flat", "jog", &["dynamics=\"kinematic_only\""]);
        assert_eq!(chosen.note, None);
        assert_eq!(
            chosen.settings,
            GeneratorConfig { dynamics: Dynamics::KinematicOnly, ..Default::default() }
        );
    }

    #[test]
    fn a_configuration_file_and_a_support_contradict_each_other() {
        let model = crate::model::load(&Device::flex()).expect("it is embedded");
        let config = Some(Path::new("loop.toml"));
        let asked = LoopSettings { config, set: &[], support: Some(Support::OwnFeet) };
        let error = asked.choose_drawn(&model, |_| Ok(())).expect_err("two say it");
        assert!(is_misuse(&error) && error.to_string().contains("own-feet"), "{error}");
    }
}
