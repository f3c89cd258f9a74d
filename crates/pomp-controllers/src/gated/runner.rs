//! A gated network in the loop.

use super::description::GatedModel;
use super::features::{Columns, within_reach};
use super::goal::Goal;
use super::inference::{PackedNetwork, Room};
use super::phases::{PhaseTrack, cubic_blend, held};
use crate::{Controller, ControllerError, ControllerKind};
use pomp_motion::Gait;
use pomp_motion::features::{InputFrame, KEYS, OutputFrame, PAST_KEYS};
use std::sync::Arc;

/// A trained network, packed, and what characters that it leads share.
#[derive(Debug)]
struct Shared {
    model: GatedModel,
    columns: Columns,
    network: PackedNetwork,
}

/// A character's controller: a gated network, and the phases that it keeps for itself.
#[derive(Clone, Debug)]
pub struct GatedController {
    shared: Arc<Shared>,
    phases: Option<PhaseTrack>,
    room: Room,
    x: Vec<f32>,
    inputs: Vec<f32>,
    gate: Vec<f32>,
    outputs: Vec<f32>,
    y: Vec<f32>,
}

impl GatedController {
    /// That of a trained model.
    ///
    /// # Errors
    /// A weight that is not finite.
    pub fn new(model: GatedModel) -> Result<Self, ControllerError> {
        let network = PackedNetwork::new(&model.network)?;
        let columns = model.description.columns();
        let layout = &model.description.layout;
        let (x, y) = (vec![0.0; layout.x_len()], vec![0.0; layout.y_len()]);
        let [inputs, _, outputs] = columns.widths();
        Ok(Self {
            phases: None,
            room: Room::default(),
            inputs: Vec::with_capacity(inputs),
            gate: Vec::new(),
            outputs: vec![0.0; outputs],
            shared: Arc::new(Shared { model, columns, network }),
            x,
            y,
        })
    }

    /// The model that it runs.
    pub fn model(&self) -> &GatedModel {
        &self.shared.model
    }

    /// The blend weights α of the last frame.
    pub fn blend(&self) -> &[f32] {
        self.room.blend()
    }

    /// The code of the present phase, 2C, when there has been a frame.
    pub fn phase_code(&self) -> Option<&[f32]> {
        self.phases.as_ref().map(PhaseTrack::now)
    }

    /// The phases of the start whose gait is that of the present.
    fn first_phases(&self, input: &InputFrame<'_>) -> PhaseTrack {
        let description = &self.shared.model.description;
        let gait = Gait::dominant(&input.keys[PAST_KEYS].gait);
        let start = description.starts.get(gait.name()).or_else(|| description.starts.values().next());
        PhaseTrack::of_start(&description.layout, start.expect("a description has a start"))
    }

    fn predict(&mut self) -> Result<(), ControllerError> {
        let Shared { model, columns, network } = &*self.shared;
        let description = &model.description;
        let (mean, deviation) = (description.x.mean(), description.x.deviation());
        let normalised = |&column: &usize| within_reach((self.x[column] - mean[column]) / deviation[column]);
        let goal = columns.goal.then(|| Goal::of(&description.layout, &self.x));
        self.inputs.clear();
        self.inputs.extend(columns.inputs.iter().map(normalised));
        self.inputs.extend(goal.iter().flat_map(Goal::inputs));
        self.gate.clear();
        if let Some(goal) = &goal {
            self.gate.extend(goal.gate(&description.layout, &self.x));
        } else if columns.gate.is_empty() {
            let now = self.phases.as_ref().expect("phases begin before the first prediction").now();
            self.gate.extend(cubic_blend(now));
        } else {
            self.gate.extend(columns.gate.iter().map(normalised));
        }
        network.run(&self.inputs, &self.gate, &mut self.room, &mut self.outputs);
        description.layout.write_base(&self.x, &mut self.y);
        let (mean, deviation) = (description.y.mean(), description.y.deviation());
        for (&column, value) in columns.outputs.iter().zip(&self.outputs) {
            self.y[column] += value * deviation[column] + mean[column];
        }
        if let Some(goal) = &goal {
            goal.blend(&description.layout, &self.outputs[columns.outputs.len()..], &mut self.y);
        }
        if self.y.iter().any(|value| !value.is_finite()) {
            return Err(ControllerError::NotFinite { kind: description.kind.name() });
        }
        Ok(())
    }
}

impl Controller for GatedController {
    fn step(
        &mut self,
        input: &InputFrame<'_>,
        ground: &dyn Fn(f32, f32) -> f32,
    ) -> Result<OutputFrame, ControllerError> {
        let phases = match self.phases.take() {
            Some(phases) => phases,
            None => self.first_phases(input),
        };
        let codes = phases.codes();
        self.phases = Some(phases);
        let shared = Arc::clone(&self.shared);
        let layout = &shared.model.description.layout;
        let own = InputFrame { phase_codes: &codes, ..*input };
        layout.write_x(&own, ground, &mut self.x);
        self.predict()?;
        let mut output = layout.read_y(&self.y);
        let phases = self.phases.as_mut().expect("they have begun");
        match shared.model.description.kind {
            ControllerKind::Pfnn | ControllerKind::Nsm => phases.turn(&output)?,
            ControllerKind::Phase | ControllerKind::LocalPhases => phases.follow(&output)?,
            _ => {}
        }
        held(&mut output, input.phase_codes, input.phase_codes.len() / (2 * KEYS));
        Ok(output)
    }

    fn restart(&mut self) {
        self.phases = None;
    }

    fn boxed(&self) -> Box<dyn Controller> {
        Box::new(self.clone())
    }
}
