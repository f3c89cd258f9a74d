//! A [`GatedNetwork`] for one frame at a time.

use super::network::GatedNetwork;
use crate::ControllerError;
use pomp_kinematic::pack_side_by_side;
use pomp_lanes::{LaneLoop, Lanes, PackedLinear, Precision, Wide, exponential};

/// The packed weights of a [`GatedNetwork`].
#[derive(Clone, Debug)]
pub struct PackedNetwork {
    gate: Vec<PackedLinear>,
    /// Each layer of all experts side by side, and its outputs per expert.
    layers: Vec<(PackedLinear, usize)>,
    experts: usize,
}

/// What a [`PackedNetwork`] computes in.
#[derive(Clone, Debug, Default)]
pub struct Room {
    wide: Vec<f32>,
    values: Vec<f32>,
    blend: Vec<f32>,
}

impl Room {
    /// α of the last run.
    pub fn blend(&self) -> &[f32] {
        &self.blend
    }
}

impl PackedNetwork {
    /// Packs a network.
    ///
    /// # Errors
    /// A weight that is not finite.
    pub fn new(network: &GatedNetwork) -> Result<Self, ControllerError> {
        let pack = |what: &str, layers: &[pomp_kinematic::ExpertLinear]| {
            let packed = layers.iter().enumerate().map(|(index, layer)| {
                let outputs = layer.weight.val().dims()[2];
                Ok((
                    pack_side_by_side(&format!("{what} layer {}", index + 1), layer, Precision::Float32)?,
                    outputs,
                ))
            });
            packed.collect::<Result<Vec<_>, ControllerError>>()
        };
        let gate = pack("gate", &network.gate)?.into_iter().map(|(layer, _)| layer).collect();
        let experts = network.layers[0].weight.val().dims()[0];
        Ok(Self { gate, layers: pack("expert", &network.layers)?, experts })
    }

    /// y of x and of what the gate reads.
    pub fn run(&self, x: &[f32], gate: &[f32], room: &mut Room, y: &mut [f32]) {
        let lanes = Lanes::detect();
        self.blend(lanes, gate, room);
        let Room { wide, values, blend } = room;
        values.clear();
        values.extend_from_slice(x);
        for (index, (layer, outputs)) in self.layers.iter().enumerate() {
            wide.resize(layer.padded(), 0.0);
            layer.apply(lanes, values, wide);
            values.clear();
            values.resize(*outputs, 0.0);
            for (share, expert) in blend.iter().zip(wide.chunks_exact(*outputs)) {
                for (value, part) in values.iter_mut().zip(expert) {
                    *value += share * part;
                }
            }
            if index + 1 < self.layers.len() {
                lanes.run(Elu(values));
            }
        }
        y.copy_from_slice(values);
    }

    /// α of what the gate reads, into the room.
    fn blend(&self, lanes: Lanes, gate: &[f32], room: &mut Room) {
        let Room { wide, values, blend } = room;
        values.clear();
        values.extend_from_slice(gate);
        for (index, layer) in self.gate.iter().enumerate() {
            if index > 0 {
                lanes.run(Elu(values));
            }
            wide.resize(layer.padded(), 0.0);
            layer.apply(lanes, &values[..layer.inputs()], wide);
            values.clear();
            values.extend_from_slice(&wide[..layer.padded()]);
            if index + 1 < self.gate.len() {
                values.truncate(self.gate[index + 1].inputs());
            }
        }
        values.truncate(self.experts);
        blend.clear();
        blend.extend_from_slice(values);
        if self.gate.is_empty() {
            return;
        }
        let largest = blend.iter().copied().fold(f32::NEG_INFINITY, f32::max);
        blend.iter_mut().for_each(|share| *share = (*share - largest).exp());
        let total: f32 = blend.iter().sum();
        blend.iter_mut().for_each(|share| *share /= total);
    }
}

/// The exponential linear unit, in place.
struct Elu<'a>(&'a mut [f32]);

impl LaneLoop for Elu<'_> {
    #[inline(always)]
    fn run<W: Wide>(self, _: W) {
        for value in self.0 {
            let below = exponential::<W>(value.min(0.0)) - 1.0;
            *value = if *value > 0.0 { *value } else { below };
        }
    }
}
