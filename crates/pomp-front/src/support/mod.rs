//! What holds a character up: its own feet, or the external root assist.
//!
//! Rollouts whose settings come from no configuration file have the support that is asked for. Where none is, a character stands on its own
//! feet in what it was measured to hold on them (docs/results.md): of the models that come with the program, that of all directions leads it
//! where it holds, else the compact one, and in a style the compact one. The ground of a file counts as the measured one that is as uneven.
//! With a given model on stairs, a small residual wrench helps the feet, and elsewhere the assist holds it; both are told.
//! Of scenes that are drawn, each has the support that its ground and its command need.

mod measured;

use self::measured::{
    RESIDUAL_WRENCH, STYLED_RETURN_SHARE, led_by_unrolled, measured_kind, measured_support, steered_support,
    styled_support,
};
use crate::model::Models;
use crate::rollout::BEYOND_S;
use crate::{control, misuse, terrain};
use anyhow::Result;
use pomp_batch::Loop;
use pomp_config::{Origin, resolve_over};
use pomp_controllers::ControllerKind;
use pomp_generator::{ControlPlan, Dynamics, GeneratorConfig};
use pomp_model::Model;
use pomp_terrain::HeightMap;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;
use std::str::FromStr;
use std::sync::Arc;

/// Names of supports in a batch: those of [`Support`], own feet with the model of all directions, the same on stairs and with thorough
/// plans, own feet in a style of the compact model, own feet with the residual wrench, and that of a configuration file.
const OWN_FEET: &str = "own-feet";
const OWN_FEET_UNROLLED: &str = "own-feet-unrolled";
const OWN_FEET_STAIRS: &str = "own-feet-stairs";
const OWN_FEET_THOROUGH: &str = "own-feet-thorough";
const OWN_FEET_STYLED: &str = "own-feet-styled";
const ASSIST: &str = "assist";
const RESIDUAL: &str = "residual";
const CONFIGURED: &str = "configured";
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
    /// The preset that it is, or to which it is compared; `None` of a ground of which nothing was measured.
    fn kind(self) -> Result<Option<&'a str>> {
        match self {
            Self::Named(preset) if pomp_terrain::preset(preset).is_some() => Ok(Some(preset)),
            Self::Named(file) => measured_kind(&terrain::find(file, 0)?),
            Self::Given(ground) => measured_kind(ground),
        }
    }
}

impl fmt::Display for Ground<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Named(name) => write!(out, "the ground \"{name}\""),
            Self::Given(_) => out.write_str("this ground"),
        }
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
    decided: Decided,
}

/// What decides which support a character of a batch has.
#[derive(Clone, Copy, Debug)]
enum Decided {
    /// Nothing: all have this one.
    Already(&'static str),
    /// Its ground and its command; whether the model of all directions can lead.
    ByWhatWasMeasured { unrolled: bool },
}

impl<'m> From<Chosen<'m>> for Supports<'m> {
    fn from(Chosen { model, settings, name, note }: Chosen<'m>) -> Self {
        let loops = BTreeMap::from([(name.to_owned(), Loop { model, settings })]);
        Self { loops, note, decided: Decided::Already(name) }
    }
}

impl Supports<'_> {
    /// The name of the one that a character needs on a kind of ground with a command.
    pub fn name_for(&self, ground: &str, plan: &ControlPlan) -> &'static str {
        match self.decided {
            Decided::Already(name) => name,
            Decided::ByWhatWasMeasured { unrolled } => {
                measured_support(std::slice::from_ref(plan), ground, unrolled).unwrap_or(ASSIST)
            }
        }
    }
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
        let always_helped = always_needs_assist(&assisted, &models.first);
        let plans = situation.plans()?;
        let unrolled = has_unrolled(models, &assisted);
        let ground = situation.ground();
        let kind = ground.kind()?;
        let styled =
            assisted.used_parts().styles || matches!(situation, Situation::Together { styled: true, .. });
        let in_style = styled.then(|| match (&situation, &plans, kind) {
            (Situation::Given { .. }, Some(plans), Some(ground)) if unrolled => styled_support(plans, ground),
            _ => Err("a style".to_owned()),
        });
        if given.is_some() {
            // Own feet, whatever was measured: only who leads is open.
            let led = led_by_unrolled(plans.as_deref(), kind).filter(|_| unrolled && always_helped.is_none());
            return chosen(in_style.and_then(Result::ok).or(led).unwrap_or(OWN_FEET), None);
        }
        if assisted.dynamics == Dynamics::KinematicOnly {
            // Nothing is simulated, so nothing is held.
            return chosen(ASSIST, None);
        }
        let measured = in_style.unwrap_or_else(|| match (kind, plans) {
            (Some(ground), Some(plans)) => measured_support(&plans, ground, unrolled),
            (Some(ground), None) => steered_support(ground, unrolled),
            (None, _) => Err(ground.to_string()),
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
        let always_helped = always_needs_assist(&assisted, &models.first);
        let styled = assisted.used_parts().styles.then(|| unmeasured("a style in random rollouts"));
        if let Some(reason) = always_helped.or(styled) {
            return only(ASSIST, Some(told_of_assist(&reason)));
        }
        let unrolled = has_unrolled(models, &assisted);
        let mut loops = BTreeMap::new();
        for name in [OWN_FEET, OWN_FEET_UNROLLED, OWN_FEET_STAIRS, OWN_FEET_THOROUGH, RESIDUAL, ASSIST] {
            // Where the model of all directions can lead, nothing needs the residual wrench.
            let is_needed = if unrolled { name != RESIDUAL } else { !of_unrolled(name) };
            if is_needed {
                let (model, settings) = self.of_name(name, models, &change)?;
                loops.insert(name.to_owned(), Loop { model, settings });
            }
        }
        let helped =
            loops.get(RESIDUAL).map(|helped: &Loop<'_>| told_of_residual(&helped.settings) + ", and ");
        let note = format!(
            "{}the external root assist holds up characters whose command or ground was not measured to hold without it \
             (docs/results.md); manifest.json names the support of each rollout",
            helped.unwrap_or_default()
        );
        Ok(Supports { loops, note: Some(note), decided: Decided::ByWhatWasMeasured { unrolled } })
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
            OWN_FEET_STAIRS => GeneratorConfig::own_feet_stairs(),
            OWN_FEET_THOROUGH => GeneratorConfig::own_feet_thorough(),
            OWN_FEET_STYLED => for_styles(),
            RESIDUAL => with_residual(GeneratorConfig::own_feet()),
            _ => GeneratorConfig::default(),
        };
        let leads = models.unrolled.as_ref().filter(|_| of_unrolled(name)).unwrap_or(&models.first);
        Ok((leads, self.over(&defaults, change)?))
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

/// Own feet for a style: the root of the target goes back to its path sooner, or the character leaves it by metres.
fn for_styles() -> GeneratorConfig {
    let mut settings = GeneratorConfig::own_feet();
    settings.layers.reference_tracking.return_share = STYLED_RETURN_SHARE;
    settings
}

/// The settings with a residual wrench that helps the feet.
fn with_residual(mut settings: GeneratorConfig) -> GeneratorConfig {
    let balance = &mut settings.dynamic.balance;
    (balance.residual_force_bw, balance.residual_torque_bw_m) = RESIDUAL_WRENCH;
    settings
}

/// Whether the model of all directions leads characters with this support.
fn of_unrolled(name: &str) -> bool {
    [OWN_FEET_UNROLLED, OWN_FEET_STAIRS, OWN_FEET_THOROUGH].contains(&name)
}

fn told_of_assist(reason: &str) -> String {
    format!("the external root assist holds the character up: {reason}")
}

/// What is told of the residual wrench.
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

#[cfg(test)]
mod tests;
