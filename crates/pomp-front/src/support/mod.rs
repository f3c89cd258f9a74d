//! What holds a character up: its own feet, or the external root assist.
//!
//! Rollouts whose settings come from no configuration file have the support that is asked for. Where none is, a character stands on its own
//! feet in what it was measured to hold on them (docs/results.md): of the models that come with the program, that of all directions leads it
//! where it holds, else the compact one. The ground of a file counts as the measured one that is as uneven. On stairs a small residual wrench
//! helps the feet, and elsewhere the assist holds it; both are told. Of scenes that are drawn, each has the support that its ground and its
//! command need.

use crate::model::Models;
use crate::rollout::BEYOND_S;
use crate::{control, misuse, terrain};
use anyhow::Result;
use pomp_batch::Loop;
use pomp_config::{Origin, resolve_over};
use pomp_controllers::ControllerKind;
use pomp_generator::{ControlPlan, Dynamics, FRAME_RATE_HZ, GeneratorConfig};
use pomp_model::Model;
use pomp_motion::Gait;
use pomp_motion::rotation::wrap_angle;
use pomp_terrain::{HeightMap, Shape, TerrainSpec};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;
use std::str::FromStr;
use std::sync::Arc;

/// The grounds, by their names as presets or [`STEEP`], on which characters of a model were measured to hold on their own feet.
struct Held {
    /// When they walk ahead and stand.
    grounds: &'static [&'static str],
    /// When they walk aside and backward, and turn on the spot faster than [`FASTEST_TURN_RAD_S`].
    directions: &'static [&'static str],
    /// When they walk crouched.
    crouches: &'static [&'static str],
    /// When they jog.
    jogs: &'static [&'static str],
}

/// What those of the compact model hold, and of models like it.
const COMPACT: Held = Held {
    grounds: &[LEVEL, "slope", STEEP, "rough", "hills", "gaps", "mixed", STAIRS],
    directions: &[],
    crouches: &[],
    jogs: &[LEVEL],
};
/// What those of the model of all directions hold.
const UNROLLED: Held = Held {
    grounds: &[LEVEL, "slope", STEEP, "rough", "hills", "gaps", "mixed"],
    directions: &[LEVEL, "slope", "rough", "hills", "gaps", "mixed"],
    crouches: &[LEVEL],
    jogs: &[LEVEL, "rough"],
};
/// Grounds on which characters of the model of all directions were measured while they were commanded anything.
const STEERED: [&str; 3] = [LEVEL, "rough", "hills"];
const LEVEL: &str = "flat";
/// The ground on which it needs some help.
const STAIRS: &str = "stairs";
/// A steeper slope than that of the preset, up to [`STEEPEST_SLOPE_DEG`].
const STEEP: &str = "steep slope";
/// The steepest slope that was measured, degrees.
const STEEPEST_SLOPE_DEG: f32 = 15.0;
/// Grounds to which that of a file is compared: not those with steps, of which slope and roughness say too little.
const COMPARABLE: [&str; 6] = [LEVEL, "rough", "hills", "mixed", "slope", STEEP];
/// Bounds of the residual wrench with which it stays on its feet on stairs: body weights, and body weights × metre.
const STAIRS_RESIDUAL: (f32, f32) = (0.2, 0.136);
/// Fastest walk and jog that were measured, m/s.
const FASTEST_WALK_MPS: f32 = 1.5;
const FASTEST_JOG_MPS: f32 = 2.5;
/// Fastest turn on the spot that was measured with the compact model, rad/s.
const FASTEST_TURN_RAD_S: f32 = 1.1;
/// Names of supports in a batch: those of [`Support`], own feet with the model of all directions, own feet with the residual wrench, and
/// that of a configuration file.
const OWN_FEET: &str = "own-feet";
const OWN_FEET_UNROLLED: &str = "own-feet-unrolled";
const ASSIST: &str = "assist";
const RESIDUAL: &str = "residual";
const CONFIGURED: &str = "configured";
/// What is told of styles.
const A_STYLE: &str = "a style";
/// Slowest speed that counts as moving, m/s.
const MOVING_MPS: f32 = 0.3;
/// Cosine of the angle between heading and direction of travel below which a command leads aside; below minus as much, backward.
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

/// The ground of a character.
#[derive(Clone, Copy, Debug)]
pub enum Ground<'a> {
    /// A preset or a file.
    Named(&'a str),
    /// One that is given.
    Given(&'a HeightMap),
}

/// What characters are asked to do, as far as it decides what can hold them up.
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
    /// A character whose commands are not known in advance.
    Steered {
        /// The ground.
        ground: Ground<'a>,
    },
    /// Several characters in one world.
    Together {
        /// The ground: a preset or a file.
        terrain: &'a str,
        /// The command of each.
        plans: &'a [ControlPlan],
        /// Whether one of them has a style of its own.
        styled: bool,
    },
}

impl<'a> Ground<'a> {
    /// The preset that it is, or to which it is compared, or what is told of a ground of which nothing was measured.
    fn kind(self) -> Result<Result<&'a str, String>> {
        Ok(match self {
            Self::Named(preset) if pomp_terrain::preset(preset).is_some() => Ok(preset),
            Self::Named(file) => {
                measured_kind(&terrain::find(file, 0)?)?.ok_or_else(|| format!("the ground \"{file}\""))
            }
            Self::Given(ground) => measured_kind(ground)?.ok_or_else(|| "this ground".to_owned()),
        })
    }
}

impl<'a> Situation<'a> {
    fn ground(&self) -> Ground<'a> {
        match *self {
            Self::Given { terrain, .. } | Self::Together { terrain, .. } => Ground::Named(terrain),
            Self::Steered { ground } => ground,
        }
    }

    /// The command of each character, where they are known.
    fn plans(&self) -> Result<Option<Cow<'a, [ControlPlan]>>> {
        Ok(match *self {
            Self::Given { control, seconds, .. } => {
                Some(Cow::Owned(vec![control::find(control, seconds + BEYOND_S)?]))
            }
            Self::Together { plans, .. } => Some(Cow::Borrowed(plans)),
            Self::Steered { .. } => None,
        })
    }
}

/// A loop, and what is to be told of its support.
#[derive(Clone, Debug)]
pub struct Chosen<'m> {
    /// The model that leads the character.
    pub model: &'m Arc<Model>,
    /// The settings, whose ranges are checked.
    pub settings: GeneratorConfig,
    /// What holds the character up in them, as a batch names it.
    pub name: &'static str,
    /// What from outside helps the character although nobody asked for it, and why.
    pub note: Option<String>,
}

/// What holds up the characters of a batch.
#[derive(Clone, Debug)]
pub struct Supports<'m> {
    /// The loop of each, with settings whose ranges are checked, by its name.
    pub loops: BTreeMap<String, Loop<'m>>,
    /// What from outside helps characters although nobody asked for it, and why.
    pub note: Option<String>,
    /// The only one, unless ground and command decide.
    only: Option<&'static str>,
}

impl<'m> From<Chosen<'m>> for Supports<'m> {
    fn from(Chosen { model, settings, name, note }: Chosen<'m>) -> Self {
        Self { loops: BTreeMap::from([(name.to_owned(), Loop { model, settings })]), note, only: Some(name) }
    }
}

impl Supports<'_> {
    /// The name of the one that a character needs on a kind of ground with a command.
    pub fn name_for(&self, ground: &str, plan: &ControlPlan) -> &'static str {
        let unrolled = self.loops.contains_key(OWN_FEET_UNROLLED);
        let plans = std::slice::from_ref(plan);
        self.only.unwrap_or_else(|| measured_support(plans, ground, unrolled).unwrap_or(ASSIST))
    }
}

/// The name of the support on own feet that commands on a kind of ground, of one character or several together, were measured to hold with;
/// what of them was not measured where there is none.
fn measured_support(plans: &[ControlPlan], ground: &str, unrolled: bool) -> Result<&'static str, String> {
    let unmeasured = |held| plans.iter().find_map(|plan| unmeasured_scene(plan, ground, held));
    if unrolled && unmeasured(&UNROLLED).is_none() {
        return Ok(OWN_FEET_UNROLLED);
    }
    match unmeasured(&COMPACT) {
        None if ground == STAIRS && plans.len() > 1 => {
            Err("a scene of several characters on stairs".to_owned())
        }
        None if ground == STAIRS => Ok(RESIDUAL),
        None => Ok(OWN_FEET),
        Some(what) => Err(what),
    }
}

/// The first of the measured grounds that is nowhere less steep and rough than `ground`.
fn measured_kind(ground: &HeightMap) -> Result<Option<&'static str>> {
    let found = ground.unevenness();
    for name in COMPARABLE {
        // The level start makes the largest edge where the slope runs across the grid.
        let steep = TerrainSpec::of_shape(Shape::Slope { angle_deg: STEEPEST_SLOPE_DEG, heading_deg: 45.0 });
        let spec = pomp_terrain::preset(name).unwrap_or(steep);
        if found.is_within(&pomp_terrain::generate(&spec, 0)?.unevenness()) {
            return Ok(Some(name));
        }
    }
    Ok(None)
}

/// As [`measured_support`], of a character that may be commanded anything.
fn steered_support(ground: &str, unrolled: bool) -> Result<&'static str, String> {
    if !unrolled {
        Err("a steered character of a given model".to_owned())
    } else if STEERED.contains(&ground) {
        Ok(OWN_FEET_UNROLLED)
    } else {
        Err(format!("a steered character on the ground \"{ground}\""))
    }
}

/// Whether the model of all directions leads a command on own feet that were asked for, measured or not: it does what it holds on level
/// ground, but on stairs, where it falls, only what the compact model does not.
fn unrolled_leads(plan: &ControlPlan, on_stairs: bool) -> bool {
    unmeasured_command(plan, LEVEL, &UNROLLED).is_none()
        && !(on_stairs && unmeasured_command(plan, STAIRS, &COMPACT).is_none())
}

/// Whether the model of all directions can lead: it has no other controllers.
fn has_unrolled(models: &Models, settings: &GeneratorConfig) -> bool {
    models.unrolled.is_some() && settings.controller == ControllerKind::Pomp
}

impl LoopSettings<'_> {
    /// The loop, with what `change` makes of its settings.
    ///
    /// # Errors
    /// A file, a value or a command that cannot be used, a support beside a file, and whatever `change` refuses.
    pub fn choose<'m>(
        &self,
        models: &'m Models,
        situation: Situation<'_>,
        change: impl Fn(&mut GeneratorConfig) -> Result<()>,
    ) -> Result<Chosen<'m>> {
        let chosen = |name, note| {
            let (model, settings) = self.of_name(name, models, &change)?;
            Ok(Chosen { model, settings, name, note })
        };
        let given = self.given()?;
        if let Some(name) = given.filter(|name| *name != OWN_FEET) {
            return chosen(name, None);
        }
        let assisted = self.of_name(ASSIST, models, &change)?.1;
        let always_helped = match situation {
            Situation::Together { styled: true, .. } => Some(unmeasured(A_STYLE)),
            _ => always_needs_assist(&assisted, &models.first),
        };
        let plans = situation.plans()?;
        let has_unrolled = has_unrolled(models, &assisted);
        if given.is_some() {
            // Own feet, whatever was measured: only who leads is open.
            let stairs = matches!(situation.ground(), Ground::Named(STAIRS));
            let led = plans.is_none_or(|plans| plans.iter().all(|plan| unrolled_leads(plan, stairs)));
            let by_unrolled = led && has_unrolled && always_helped.is_none();
            return chosen(if by_unrolled { OWN_FEET_UNROLLED } else { OWN_FEET }, None);
        }
        if assisted.dynamics == Dynamics::KinematicOnly {
            // Nothing is simulated, so nothing is held.
            return chosen(ASSIST, None);
        }
        let measured = situation.ground().kind()?.and_then(|ground| match plans {
            Some(plans) => measured_support(&plans, ground, has_unrolled),
            None => steered_support(ground, has_unrolled),
        });
        match always_helped.map_or(measured.map_err(|what| unmeasured(&what)), Err) {
            Ok(name) => {
                let mut chosen = chosen(name, None)?;
                chosen.note = (name == RESIDUAL).then(|| told_of_residual(&chosen.settings));
                Ok(chosen)
            }
            Err(reason) => chosen(ASSIST, Some(told_of_assist(&reason))),
        }
    }

    /// The loops for scenes that are drawn, with what `change` makes of their settings: one for each support that such a scene may need.
    ///
    /// # Errors
    /// As [`Self::choose`].
    pub fn choose_drawn<'m>(
        &self,
        models: &'m Models,
        change: impl Fn(&mut GeneratorConfig) -> Result<()>,
    ) -> Result<Supports<'m>> {
        let only = |name, note| {
            let (model, settings) = self.of_name(name, models, &change)?;
            Ok(Chosen { model, settings, name, note }.into())
        };
        if let Some(name) = self.given()? {
            return only(name, None);
        }
        let assisted = self.of_name(ASSIST, models, &change)?.1;
        if assisted.dynamics == Dynamics::KinematicOnly {
            return only(ASSIST, None);
        }
        if let Some(reason) = always_needs_assist(&assisted, &models.first) {
            return only(ASSIST, Some(told_of_assist(&reason)));
        }
        let mut loops = BTreeMap::new();
        for name in [OWN_FEET, OWN_FEET_UNROLLED, RESIDUAL, ASSIST] {
            if name != OWN_FEET_UNROLLED || has_unrolled(models, &assisted) {
                let (model, settings) = self.of_name(name, models, &change)?;
                loops.insert(name.to_owned(), Loop { model, settings });
            }
        }
        let note = format!(
            "{}, and the external root assist holds up characters whose command or ground was not measured to hold without it \
             (docs/results.md); manifest.json names the support of each rollout",
            told_of_residual(&loops[RESIDUAL].settings)
        );
        Ok(Supports { loops, note: Some(note), only: None })
    }

    /// The name of what was asked for; `None` where nothing was.
    fn given(&self) -> Result<Option<&'static str>> {
        match (self.config, self.support) {
            (Some(_), Some(support)) => Err(misuse!(
                "support {support} is given with a configuration file, which says itself what holds the character up; give one of \
                 the two"
            )),
            (Some(_), None) => Ok(Some(CONFIGURED)),
            (None, support) => Ok(support.map(Support::name)),
        }
    }

    /// The model and the settings of a support.
    fn of_name<'m>(
        &self,
        name: &str,
        models: &'m Models,
        change: &impl Fn(&mut GeneratorConfig) -> Result<()>,
    ) -> Result<(&'m Arc<Model>, GeneratorConfig)> {
        let defaults = match name {
            OWN_FEET => GeneratorConfig::own_feet(),
            OWN_FEET_UNROLLED => GeneratorConfig::own_feet_unrolled(),
            RESIDUAL => with_residual(),
            _ => GeneratorConfig::default(),
        };
        let mut settings = self.over(&defaults, change)?;
        let Some(unrolled) = models.unrolled.as_ref().filter(|_| name == OWN_FEET_UNROLLED) else {
            return Ok((&models.first, settings));
        };
        // It has no styles, so it leads only where all weights are 0; their names have to exist all the same.
        models.first.style_change(&settings.style)?;
        settings.style.clear();
        Ok((unrolled, settings))
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
    let mut settings = GeneratorConfig::own_feet();
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
        A_STYLE
    } else if !settings.ground_motion.rests() {
        "moving ground"
    } else {
        return None;
    };
    Some(unmeasured(what))
}

fn unmeasured(what: &str) -> String {
    format!("{what} is not among what was measured to hold without it (docs/results.md)")
}

/// What of a command on a kind of ground was not measured to hold without the assist.
fn unmeasured_scene(plan: &ControlPlan, ground: &str, held: &Held) -> Option<String> {
    if !held.grounds.contains(&ground) {
        return Some(format!("the ground \"{ground}\""));
    }
    unmeasured_command(plan, ground, held).map(str::to_owned)
}

fn unmeasured_command(plan: &ControlPlan, ground: &str, held: &Held) -> Option<&'static str> {
    let all_directions = held.directions.contains(&ground);
    let pairs = plan.samples().windows(2).map(|pair| (pair[0], pair[1]));
    for (now, next) in pairs {
        let (fastest_mps, too_fast) = match now.gait {
            Gait::Stand | Gait::Walk => (FASTEST_WALK_MPS, "a walk this fast"),
            Gait::Jog if held.jogs.contains(&ground) => (FASTEST_JOG_MPS, "a run this fast"),
            Gait::Jog => return Some("a jog on this ground"),
            Gait::Crouch if held.crouches.contains(&ground) => (FASTEST_WALK_MPS, "a crouch this fast"),
            Gait::Crouch => return Some("a crouch"),
            _ => return Some("a gait other than walking, jogging and standing"),
        };
        if now.speed_mps > fastest_mps {
            return Some(too_fast);
        }
        let way = next.position - now.position;
        let heading = glam::Vec2::from(now.yaw.sin_cos());
        let along = way.normalize_or_zero().dot(heading);
        if !all_directions && now.speed_mps > MOVING_MPS && along < ALONG_HEADING {
            return Some(if along < -ALONG_HEADING { "a walk backward" } else { "a walk aside" });
        }
        let turning = wrap_angle(next.yaw - now.yaw).abs() * FRAME_RATE_HZ;
        if !all_directions && now.speed_mps < MOVING_MPS && turning > FASTEST_TURN_RAD_S {
            return Some("a turn on the spot this fast");
        }
    }
    None
}

#[cfg(test)]
mod tests;
