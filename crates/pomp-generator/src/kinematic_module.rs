//! The kinematic module in the loop (docs/method.md §3): the window of a frame in, the next frame out.

use crate::GeneratorError;
use crate::layers::phase_stabiliser::GaitCycles;
use pomp_controllers::Controller;
use pomp_kinematic::{CoherentNoise, KinematicInference, StyleModulation};
use pomp_model::{KinematicDescription, Model, StyleChange};
use pomp_motion::features::{FeatureLayout, InputFrame, KEYS, OutputFrame};
use pomp_motion::{FRAME_RATE_HZ, Gait};
use std::collections::BTreeMap;
use std::sync::Arc;

/// What goes into the network and comes out of it for one character, with their normalisation; the network itself is one of
/// [`crate::Networks`].
pub(crate) struct KinematicModule {
    layout: FeatureLayout,
    description: KinematicDescription,
    x: Vec<f32>,
    normalised_x: Vec<f32>,
    y: Vec<f32>,
    gates: Vec<f32>,
    /// Number of the sample under way, when one is.
    sample: Option<usize>,
    /// The style of the character.
    style: Style,
    /// What a controller in its place proposes.
    proposed: Option<OutputFrame>,
}

/// Change of the share of a style in a frame where a character begins or ceases to move: it comes and goes in half a second.
const FADE: f32 = 2.0 / FRAME_RATE_HZ;

/// The style of a character.
#[derive(Clone)]
pub(crate) struct Style {
    /// What it changes in the network.
    modulation: Option<Arc<StyleModulation>>,
    /// Share of the commanded speed at which it walks.
    pace: f32,
    /// Share of the modulation in the last sample; none before the first one.
    share: Option<f32>,
}

impl Style {
    fn none() -> Self {
        Self { modulation: None, pace: 1.0, share: None }
    }

    /// What it changes in the next sample, of a character whose command is this gait. Styles are styles of moving: a character that is to
    /// stand, or to turn on the spot, does so without one.
    fn next(&mut self, gait: &[f32; Gait::COUNT]) -> Option<Arc<StyleModulation>> {
        let modulation = self.modulation.as_ref()?;
        let wanted = 1.0 - gait[Gait::Stand.index()];
        let share = self.share.map_or(wanted, |share| share + (wanted - share).clamp(-FADE, FADE));
        self.share = Some(share);
        match share {
            0.0 => None,
            1.0 => Some(Arc::clone(modulation)),
            _ => Some(Arc::new(modulation.scaled(share))),
        }
    }
}

impl KinematicModule {
    /// That of `model`, without a style.
    ///
    /// # Errors
    /// A model without its parts.
    pub fn new(model: &Model) -> Result<Self, GeneratorError> {
        let (network, _, description) = model.kinematic()?;
        let layout = model.description.layout.clone();
        Ok(Self {
            gates: vec![0.0; network.config().experts],
            sample: None,
            style: Style::none(),
            proposed: None,
            description: description.clone(),
            x: vec![0.0; layout.x_len()],
            normalised_x: vec![0.0; layout.x_len()],
            y: vec![0.0; layout.y_len()],
            layout,
        })
    }

    /// Moves in the style of these weights from the next sample on; gives [`StyleChange::walk_codes`].
    ///
    /// # Errors
    /// A model without styles, or without one of them; nothing is changed then.
    pub fn set_style(
        &mut self,
        model: &Model,
        style: &BTreeMap<String, f32>,
    ) -> Result<Vec<(f32, Vec<f32>)>, GeneratorError> {
        let Some(StyleChange { modulation, pace, walk_codes }) = model.style_change(style)? else {
            self.style = Style::none();
            return Ok(Vec::new());
        };
        self.style = Style { modulation: Some(Arc::new(modulation)), pace, share: None };
        Ok(walk_codes)
    }

    /// The style, to be kept.
    pub fn style(&self) -> &Style {
        &self.style
    }

    /// Moves in a style that was kept.
    pub fn restore_style(&mut self, style: Style) {
        self.style = style;
    }

    /// Share of the commanded speed at which the style walks, above 0 and at most 1.
    pub fn pace(&self) -> f32 {
        self.style.pace
    }

    /// Where the blocks of x and y lie.
    pub fn layout(&self) -> &FeatureLayout {
        &self.layout
    }

    /// Numbers of a phase code, 2C.
    pub fn code_width(&self) -> usize {
        2 * self.layout.channels()
    }

    /// The start window of `gait`, an x in its own units.
    ///
    /// # Errors
    /// A model that has none.
    pub fn start(&self, gait: Gait) -> Result<&[f32], GeneratorError> {
        let starts = &self.description.starts;
        starts.get(gait.name()).map(Vec::as_slice).ok_or_else(|| GeneratorError::BadModel {
            reason: format!(
                "it has no start for the gait \"{}\"; it starts with {}: choose a command that begins so, or train \
                 on clips of that gait",
                gait.name(),
                starts.keys().map(String::as_str).collect::<Vec<_>>().join(", ")
            ),
        })
    }

    /// The start window of the first of `gaits` that the model has one of, or else of any gait.
    pub fn any_start(&self, gaits: [Gait; 2]) -> &[f32] {
        let starts = &self.description.starts;
        let start = gaits.iter().find_map(|gait| starts.get(gait.name())).or_else(|| starts.values().next());
        start.expect("a generator is made from one of the model's starts")
    }

    /// The cycles that the phase codes of the start windows run through.
    pub fn gait_cycles(&self) -> GaitCycles {
        GaitCycles::of_starts(&self.layout, &self.description.starts, 1.0 / FRAME_RATE_HZ)
    }

    /// No sample is under way.
    pub fn begin(&mut self) {
        self.sample = None;
        self.proposed = None;
    }

    /// Lets the `controller` in its place propose the next frame for `input` on `ground`.
    ///
    /// # Errors
    /// A number that is not finite.
    pub fn ask(
        &mut self,
        controller: &mut dyn Controller,
        input: &InputFrame<'_>,
        ground: impl Fn(f32, f32) -> f32,
    ) -> Result<(), GeneratorError> {
        self.proposed = Some(controller.step(input, &ground)?);
        Ok(())
    }

    /// Adds x for `input` on `ground` (world x and z to height) to what the `network` runs next.
    ///
    /// # Errors
    /// An input that is not finite.
    pub fn add(
        &mut self,
        input: &InputFrame<'_>,
        ground: impl Fn(f32, f32) -> f32,
        noise: &mut CoherentNoise,
        network: &mut KinematicInference,
    ) -> Result<(), GeneratorError> {
        self.layout.write_x(input, ground, &mut self.x);
        self.normalised_x.copy_from_slice(&self.x);
        self.description.x.normalise(&mut self.normalised_x);
        let style = self.style.next(&input.keys[KEYS - 1].gait);
        self.sample = Some(network.add(&self.normalised_x, style.as_ref(), noise)?);
        Ok(())
    }

    /// y of the sample that was added, when there is one; `frame` names the place in an error.
    ///
    /// # Errors
    /// A network whose output is not finite.
    pub fn take(
        &mut self,
        network: &KinematicInference,
        frame: usize,
    ) -> Result<Option<OutputFrame>, GeneratorError> {
        if let Some(proposed) = self.proposed.take() {
            return Ok(Some(proposed));
        }
        let Some(sample) = self.sample.take() else { return Ok(None) };
        self.gates.copy_from_slice(network.gates_of(sample));
        self.y.copy_from_slice(network.sample_of(sample)?);
        self.description.output_to_y(&self.layout, &self.x, &mut self.y);
        if self.y.iter().any(|v| !v.is_finite()) {
            return Err(GeneratorError::NotFinite { frame });
        }
        Ok(Some(self.layout.read_y(&self.y)))
    }

    /// α of the experts in the last sample; zeros before the first.
    pub fn gates(&self) -> &[f32] {
        &self.gates
    }
}
