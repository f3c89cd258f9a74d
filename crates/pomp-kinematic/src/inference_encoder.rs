use crate::config::{ExpertOutputs, KinematicConfig};
use crate::encoder::{ExpertLinear, OrthoMoeEncoder};
use crate::error::KinematicError;
use crate::orthonormal::LENGTH_FLOOR;
use crate::packed::{PackedLinear, padded, values};
use pomp_lanes::{LANES, LaneLoop, Lanes, Wide, multiply_add};

/// The OrthoMoE encoder on packed weights, for one sample at a time.
#[derive(Clone, Debug)]
pub(crate) struct InferenceEncoder {
    config: KinematicConfig,
    gate: Vec<PackedLinear>,
    /// The first layer of all experts as one: their outputs lie one after the other.
    first: PackedLinear,
    /// The later layers, `[layer][expert]`.
    later: Vec<Vec<PackedLinear>>,
    gates: Vec<f32>,
    hidden: Vec<f32>,
    next_hidden: Vec<f32>,
    outputs: Vec<f32>,
}

impl InferenceEncoder {
    pub(crate) fn new(encoder: &OrthoMoeEncoder, config: &KinematicConfig) -> Result<Self, KinematicError> {
        let gate = encoder.gate.iter().enumerate();
        let gate = gate
            .map(|(index, layer)| PackedLinear::from_linear(&format!("gate layer {}", index + 1), layer))
            .collect::<Result<Vec<_>, _>>()?;
        let first = pack_side_by_side(&encoder.experts[0])?;
        let later = encoder.experts[1..].iter().enumerate();
        let later = later.map(|(index, layer)| pack_each(layer, index + 2)).collect::<Result<Vec<_>, _>>()?;
        let widths = config.gate_hidden.iter().chain(&config.expert_hidden);
        let widest = widths.copied().fold(config.condition_size.max(config.experts), usize::max);
        let scratch = config.experts * padded(widest);
        Ok(Self {
            gate,
            later,
            gates: vec![0.0; config.experts],
            hidden: vec![0.0; scratch.max(first.padded())],
            next_hidden: vec![0.0; scratch.max(first.padded())],
            outputs: vec![0.0; config.experts * config.condition_size],
            first,
            config: config.clone(),
        })
    }

    /// α of the last run.
    pub(crate) fn gates(&self) -> &[f32] {
        &self.gates
    }

    /// w_k of the last run.
    pub(crate) fn condition(&self, expert: usize) -> &[f32] {
        &self.outputs[expert * self.config.condition_size..][..self.config.condition_size]
    }

    pub(crate) fn run(&mut self, lanes: Lanes, x: &[f32]) {
        self.run_gate(lanes, x);
        self.run_experts(lanes, x);
        if self.config.expert_outputs == ExpertOutputs::Orthonormal {
            lanes.run(Orthonormalise {
                rows: &mut self.outputs,
                size: self.config.condition_size,
                independence: self.config.independence as f32,
            });
        }
    }

    fn run_gate(&mut self, lanes: Lanes, x: &[f32]) {
        let block = self.config.gate_input;
        let (mut from, mut to) = (&mut self.hidden, &mut self.next_hidden);
        for (index, layer) in self.gate.iter().enumerate() {
            if index == 0 {
                layer.apply(lanes, &x[block.start..block.start + block.len], to);
            } else {
                self.config.activation.apply(lanes, &mut from[..layer.inputs()]);
                layer.apply(lanes, from, to);
            }
            std::mem::swap(&mut from, &mut to);
        }
        let largest = from[..self.gates.len()].iter().copied().fold(f32::NEG_INFINITY, f32::max);
        for (gate, logit) in self.gates.iter_mut().zip(from.iter()) {
            *gate = (logit - largest).exp();
        }
        let total: f32 = self.gates.iter().sum();
        for gate in &mut self.gates {
            *gate /= total;
        }
    }

    fn run_experts(&mut self, lanes: Lanes, x: &[f32]) {
        let experts = self.config.experts;
        let (mut from, mut to) = (&mut self.hidden, &mut self.next_hidden);
        self.first.apply(lanes, x, from);
        // The first layer's rows have no padding between them; those of later layers have.
        let mut stride = self.config.expert_hidden.first().copied().unwrap_or(self.config.condition_size);
        let mut values = experts * stride;
        for layers in &self.later {
            self.config.activation.apply(lanes, &mut from[..values]);
            let next_stride = layers[0].padded();
            for (expert, layer) in layers.iter().enumerate() {
                layer.apply(lanes, &from[expert * stride..], &mut to[expert * next_stride..]);
            }
            std::mem::swap(&mut from, &mut to);
            stride = next_stride;
            values = experts * stride;
        }
        let size = self.config.condition_size;
        for (output, row) in self.outputs.chunks_exact_mut(size).zip(from.chunks(stride)) {
            output.copy_from_slice(&row[..size]);
        }
    }
}

fn pack_side_by_side(layer: &ExpertLinear) -> Result<PackedLinear, KinematicError> {
    let [experts, inputs, outputs] = layer.weight.val().dims();
    let (weight, bias) = (values(layer.weight.val()), values(layer.bias.val()));
    let mut joined = vec![0.0; weight.len()];
    for (row, cells) in weight.chunks_exact(outputs).enumerate() {
        let (expert, input) = (row / inputs, row % inputs);
        let first = (input * experts + expert) * outputs;
        joined[first..first + outputs].copy_from_slice(cells);
    }
    PackedLinear::pack("expert layer 1", &joined, [inputs, experts * outputs], Some(&bias))
}

fn pack_each(layer: &ExpertLinear, number: usize) -> Result<Vec<PackedLinear>, KinematicError> {
    let [_, inputs, outputs] = layer.weight.val().dims();
    let (weight, bias) = (values(layer.weight.val()), values(layer.bias.val()));
    let experts = weight.chunks_exact(inputs * outputs).zip(bias.chunks_exact(outputs)).enumerate();
    experts
        .map(|(expert, (weight, bias))| {
            let what = format!("layer {number} of expert {expert}");
            PackedLinear::pack(&what, weight, [inputs, outputs], Some(bias))
        })
        .collect()
}

/// [`orthonormalise`](crate::orthonormalise) for one sample, in place.
struct Orthonormalise<'a> {
    rows: &'a mut [f32],
    size: usize,
    independence: f32,
}

impl LaneLoop for Orthonormalise<'_> {
    #[inline(always)]
    fn run<W: Wide>(self, wide: W) {
        let Self { rows, size, independence } = self;
        let scale = (size as f32).sqrt();
        for row in rows.chunks_exact_mut(size) {
            let mean_square = dot(wide, row, row) / size as f32;
            let length = (mean_square + LENGTH_FLOOR * LENGTH_FLOOR).sqrt() * scale;
            for value in row {
                *value /= length;
            }
        }
        let mut rest = &mut *rows;
        while rest.len() >= size {
            let (row, later) = rest.split_at_mut(size);
            let length = dot(wide, row, row).sqrt().max(independence);
            for value in row.iter_mut() {
                *value /= length;
            }
            for other in later.chunks_exact_mut(size) {
                let share = dot(wide, other, row);
                for (other, value) in other.iter_mut().zip(row.iter()) {
                    *other = multiply_add::<W>(-share, *value, *other);
                }
            }
            rest = later;
        }
        for value in rows {
            *value *= scale;
        }
    }
}

/// Σ a b.
#[inline(always)]
fn dot<W: Wide>(wide: W, a: &[f32], b: &[f32]) -> f32 {
    let ((a, a_rest), (b, b_rest)) = (a.as_chunks::<LANES>(), b.as_chunks::<LANES>());
    let mut sum = wide.splat(0.0);
    for (a, b) in a.iter().zip(b) {
        sum = wide.multiply_add(wide.load(a), wide.load(b), sum);
    }
    let rest = a_rest.iter().zip(b_rest).map(|(a, b)| a * b);
    wide.store(sum).iter().sum::<f32>() + rest.sum::<f32>()
}
