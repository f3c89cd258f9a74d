use crate::config::{ExpertOutputs, KinematicConfig};
use crate::encoder::{ExpertLinear, OrthoMoeEncoder};
use crate::error::KinematicError;
use crate::orthonormal::LENGTH_FLOOR;
use crate::packing::{pack, pack_linear, pack_side_by_side, values};
use crate::style::StyleModulation;
use pomp_lanes::{
    LANES, LaneLoop, Lanes, PackedLinear, Precision, Scratch, Wide, Work, multiply_add, padded, row_stride,
};
use std::sync::Arc;

/// The packed weights of the OrthoMoE encoder.
#[derive(Debug)]
pub(crate) struct InferenceEncoder {
    config: KinematicConfig,
    gate: Vec<PackedLinear>,
    /// The first layer of all experts as one: their outputs lie one after the other.
    first: PackedLinear,
    /// The later layers, `[layer][expert]`.
    later: Vec<Vec<PackedLinear>>,
    /// Hidden values of a sample, all experts.
    hidden: usize,
}

/// What the encoder makes of some samples, and its scratch.
#[derive(Clone, Debug, Default)]
pub(crate) struct EncoderBuffers {
    gates: Vec<f32>,
    outputs: Vec<f32>,
    hidden: Vec<f32>,
    next_hidden: Vec<f32>,
}

impl InferenceEncoder {
    /// Packs the weights; the gate multiplies numbers of 32 bits in any case.
    pub(crate) fn new(
        encoder: &OrthoMoeEncoder,
        config: &KinematicConfig,
        precision: Precision,
    ) -> Result<Self, KinematicError> {
        let gate = encoder.gate.iter().enumerate();
        let gate = gate
            .map(|(index, layer)| {
                pack_linear(&format!("gate layer {}", index + 1), layer, Precision::Float32)
            })
            .collect::<Result<Vec<_>, _>>()?;
        let first = pack_side_by_side("expert layer 1", &encoder.experts[0], precision)?;
        let later = encoder.experts[1..].iter().enumerate();
        let later = later
            .map(|(index, layer)| pack_each(layer, index + 2, precision))
            .collect::<Result<Vec<_>, _>>()?;
        let widths = config.gate_hidden.iter().chain(&config.expert_hidden);
        let widest = widths.copied().fold(config.condition_size.max(config.experts), usize::max);
        let hidden = row_stride((config.experts * padded(widest)).max(first.padded()));
        Ok(Self { gate, first, later, hidden, config: config.clone() })
    }

    /// Makes room for so many samples.
    pub(crate) fn reserve(&self, buffers: &mut EncoderBuffers, samples: usize) {
        let experts = self.config.experts;
        grow(&mut buffers.gates, samples * experts);
        grow(&mut buffers.outputs, samples * experts * self.config.condition_size);
        grow(&mut buffers.hidden, samples * self.hidden);
        grow(&mut buffers.next_hidden, samples * self.hidden);
    }

    /// What it costs for so many samples, apart from making the outputs orthonormal.
    pub(crate) fn work(&self, samples: usize) -> Work {
        let layers = self.gate.iter().chain([&self.first]).chain(self.later.iter().flatten());
        layers.map(|layer| layer.work(samples)).sum()
    }

    /// α of a sample of the last run.
    pub(crate) fn gates<'a>(&self, buffers: &'a EncoderBuffers, sample: usize) -> &'a [f32] {
        &buffers.gates[sample * self.config.experts..][..self.config.experts]
    }

    /// w_k of a sample of the last run.
    pub(crate) fn condition<'a>(
        &self,
        buffers: &'a EncoderBuffers,
        sample: usize,
        expert: usize,
    ) -> &'a [f32] {
        let size = self.config.condition_size;
        &buffers.outputs[(sample * self.config.experts + expert) * size..][..size]
    }

    /// Encodes rows of `x`, for which there is room: as many as there are `styles`.
    pub(crate) fn run(
        &self,
        lanes: Lanes,
        styles: &[Option<Arc<StyleModulation>>],
        x: &[f32],
        buffers: &mut EncoderBuffers,
        scratch: &mut Scratch,
    ) {
        let samples = styles.len();
        self.run_gate(lanes, samples, x, buffers, scratch);
        self.run_experts(lanes, styles, x, buffers, scratch);
        if self.config.expert_outputs == ExpertOutputs::Orthonormal {
            let size = self.config.condition_size;
            let independence = self.config.independence as f32;
            for rows in buffers.outputs.chunks_exact_mut(self.config.experts * size).take(samples) {
                lanes.run(Orthonormalise { rows, size, independence });
            }
        }
    }

    fn run_gate(
        &self,
        lanes: Lanes,
        samples: usize,
        x: &[f32],
        buffers: &mut EncoderBuffers,
        scratch: &mut Scratch,
    ) {
        let (input, stride) = (self.config.gate_input, self.hidden);
        let (mut from, mut to) = (&mut buffers.hidden, &mut buffers.next_hidden);
        for (index, layer) in self.gate.iter().enumerate() {
            if index == 0 {
                let x = (&x[input.start..], self.config.input_size);
                layer.apply_rows(lanes, samples, x, (to, stride), scratch);
            } else {
                for row in from.chunks_exact_mut(stride).take(samples) {
                    self.config.activation.apply(lanes, &mut row[..layer.inputs()]);
                }
                layer.apply_rows(lanes, samples, (from, stride), (to, stride), scratch);
            }
            std::mem::swap(&mut from, &mut to);
        }
        let rows = buffers.gates.chunks_exact_mut(self.config.experts).zip(from.chunks_exact(stride));
        for (gates, logits) in rows.take(samples) {
            let logits = &logits[..gates.len()];
            let largest = logits.iter().copied().fold(f32::NEG_INFINITY, f32::max);
            for (gate, logit) in gates.iter_mut().zip(logits) {
                *gate = (logit - largest).exp();
            }
            let total: f32 = gates.iter().sum();
            for gate in gates {
                *gate /= total;
            }
        }
    }

    fn run_experts(
        &self,
        lanes: Lanes,
        styles: &[Option<Arc<StyleModulation>>],
        x: &[f32],
        buffers: &mut EncoderBuffers,
        scratch: &mut Scratch,
    ) {
        let (experts, row, samples) = (self.config.experts, self.hidden, styles.len());
        let (mut from, mut to) = (&mut buffers.hidden, &mut buffers.next_hidden);
        self.first.apply_rows(lanes, samples, (x, self.config.input_size), (from, row), scratch);
        // The first layer's experts have no padding between them; those of later layers have.
        let mut stride = self.config.expert_hidden.first().copied().unwrap_or(self.config.condition_size);
        for (index, layers) in self.later.iter().enumerate() {
            for (row, style) in from.chunks_exact_mut(row).zip(styles) {
                if let Some(style) = style {
                    let width = self.config.expert_hidden[index];
                    for (expert, values) in row.chunks_mut(stride).take(experts).enumerate() {
                        style.experts[index].apply(expert * width, &mut values[..width]);
                    }
                }
                self.config.activation.apply(lanes, &mut row[..experts * stride]);
            }
            let next_stride = layers[0].padded();
            for (expert, layer) in layers.iter().enumerate() {
                let (from, to) = (&from[expert * stride..], &mut to[expert * next_stride..]);
                layer.apply_rows(lanes, samples, (from, row), (to, row), scratch);
            }
            std::mem::swap(&mut from, &mut to);
            stride = next_stride;
        }
        let size = self.config.condition_size;
        let outputs = buffers.outputs.chunks_exact_mut(experts * size).zip(from.chunks_exact(row));
        for (outputs, row) in outputs.take(samples) {
            for (output, row) in outputs.chunks_exact_mut(size).zip(row.chunks(stride)) {
                output.copy_from_slice(&row[..size]);
            }
        }
    }
}

/// Makes a buffer at least so long.
pub(crate) fn grow(buffer: &mut Vec<f32>, length: usize) {
    if buffer.len() < length {
        buffer.resize(length, 0.0);
    }
}

fn pack_each(
    layer: &ExpertLinear,
    number: usize,
    precision: Precision,
) -> Result<Vec<PackedLinear>, KinematicError> {
    let [_, inputs, outputs] = layer.weight.val().dims();
    let (weight, bias) = (values(layer.weight.val()), values(layer.bias.val()));
    let experts = weight.chunks_exact(inputs * outputs).zip(bias.chunks_exact(outputs)).enumerate();
    experts
        .map(|(expert, (weight, bias))| {
            let what = format!("layer {number} of expert {expert}");
            pack(&what, weight, [inputs, outputs], Some(bias), precision)
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
