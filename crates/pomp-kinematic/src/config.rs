use crate::error::KinematicError;
use crate::schedule::DiffusionSchedule;
use pomp_config::{Fields, OutOfRange, Validate};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::ops::Bound;

/// Where the gate's input, the phase codes over the window, lies in x.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GateInput {
    /// First feature of the phase block.
    pub start: usize,
    /// Number of features of the phase block.
    pub len: usize,
}

/// The nonlinearity of every hidden layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Activation {
    /// x for x > 0, eˣ − 1 otherwise: used by PFNN, MANN and their successors.
    Elu,
    /// x · σ(x): smooth, and cheaper to train here.
    Silu,
}

/// What the decoder is told about the character's state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Conditioning {
    /// The orthonormal w_k alone, as in the paper. The decoder does not receive the length of an expert's output or its component along
    /// earlier experts.
    Experts,
    /// w_k and x: an ablation of what orthonormalisation hides (ours).
    ExpertsAndState,
}

/// How the decoder's last layer becomes ẑ_0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Prediction {
    /// The last layer is ẑ_0. This is better where x nearly determines y, as it does one frame ahead: a good prediction may then ignore
    /// y_n.
    Clean,
    /// ẑ_0 = √ᾱ_n y_n + √(1−ᾱ_n) F: the last layer F is minus the "velocity" of progressive distillation (Salimans & Ho, ICLR 2022). The
    /// best linear guess for unit-variance data is built in, so little noise means little error; but where x determines y, F must
    /// reproduce y_n completely to cancel it. At n = N it is equivalent to [`Prediction::Clean`].
    Velocity,
}

/// How the experts' outputs become the conditions w_k.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ExpertOutputs {
    /// Orthonormalised over the experts of a sample: OrthoMoE, as in the paper.
    #[default]
    Orthonormal,
    /// Unchanged: a plain mixture of experts, an ablation (ours).
    Plain,
}

impl ExpertOutputs {
    /// Whether it is the paper's form, which files leave out.
    pub fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

/// With which numbers the layers of the packed module multiply, apart from those of the gate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Precision {
    /// Weights and inputs of 32 bits.
    #[default]
    Float32,
    /// Weights and inputs rounded to bfloat16 (eight binary digits); products are added up in 32 bits. On processors with AVX512_BF16
    /// the module takes about two thirds of the time; others that fuse products with sums give the same bytes.
    Bfloat16,
    /// As `bfloat16`, added up in the order of AMX, which makes the networks of many characters of a large model several times as fast. Other
    /// processors that fuse products with sums give the same bytes, at half to nine tenths of the rate of 32 bits.
    Bfloat16Tiles,
}

impl From<Precision> for pomp_lanes::Precision {
    fn from(precision: Precision) -> Self {
        match precision {
            Precision::Float32 => Self::Float32,
            Precision::Bfloat16 => Self::Bfloat16,
            Precision::Bfloat16Tiles => Self::Bfloat16Tiles,
        }
    }
}

/// Where the experts are blended by α.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Blend {
    /// After the decoder, on its output for every w_k: Σ_k α_k D(y_n, w_k, n), as in the paper.
    #[default]
    AfterDecoder,
    /// Before the decoder, on the conditions: D(y_n, Σ_k α_k w_k, n). The decoder is K times cheaper; an ablation (ours).
    BeforeDecoder,
}

impl Blend {
    /// Whether it is the paper's form, which files leave out.
    pub fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

/// The sizes and choices of a kinematic module (docs/method.md §3).
///
/// Every field but `expert_outputs` and `blend` is required in a file; [`KinematicConfig::compact`] and [`KinematicConfig::paper`] are the
/// two presets.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KinematicConfig {
    /// Features of x. Comes from the feature layout.
    pub input_size: usize,
    /// Features of y. Comes from the feature layout.
    pub output_size: usize,
    /// The phase block of x, which alone determines the blend.
    pub gate_input: GateInput,
    /// Number of experts K; the paper has 8. More experts cost decoder rows in training and in the loop.
    pub experts: usize,
    /// Hidden widths of every expert. The first layer, `input_size` × K × width, is most of the weights.
    pub expert_hidden: Vec<usize>,
    /// Length D of an expert's output; the paper has 1024. Must hold K orthogonal directions if they are to be orthonormal.
    pub condition_size: usize,
    /// Hidden widths of the gate.
    pub gate_hidden: Vec<usize>,
    /// Hidden widths of the shared decoder, at least one. Neighbours of equal width are residual.
    pub decoder_hidden: Vec<usize>,
    /// Training steps N of the diffusion. Fewer steps mean fewer Γ to estimate; more steps allow a finer choice of τ.
    pub diffusion_steps: usize,
    /// Length of the sinusoidal code of n, even.
    pub time_embedding: usize,
    /// The nonlinearity of every hidden layer.
    pub activation: Activation,
    /// What the decoder is conditioned on. The paper: experts alone.
    pub conditioning: Conditioning,
    /// How the decoder's last layer is read. The paper: clean.
    pub prediction: Prediction,
    /// How the experts' outputs become conditions. May be left out for the paper's: orthonormal.
    #[serde(default, skip_serializing_if = "ExpertOutputs::is_default")]
    pub expert_outputs: ExpertOutputs,
    /// Where the experts are blended. May be left out for the paper's: after the decoder.
    #[serde(default, skip_serializing_if = "Blend::is_default")]
    pub blend: Blend,
    /// ε of Gram-Schmidt, in (0, 1), relative to the expert's own length: an expert whose independent share
    /// is below ε of its length is shrunk instead of normalised. Too small amplifies rounding into a
    /// direction that is not orthogonal (below 1e-3 in f32), too large shortens useful experts.
    pub independence: f64,
    /// Share of the experts' hidden units that dropout sets to 0 in training, in [0, 1). 0 turns it off.
    pub expert_dropout: f64,
}

impl Validate for KinematicConfig {
    fn check(&self, fields: &Fields) -> Result<(), OutOfRange> {
        for (field, value) in [
            ("input_size", self.input_size),
            ("output_size", self.output_size),
            ("gate_input.len", self.gate_input.len),
            ("experts", self.experts),
            ("condition_size", self.condition_size),
            ("diffusion_steps", self.diffusion_steps),
            ("time_embedding", self.time_embedding),
        ] {
            fields.within(field, value, 1..)?;
        }
        for (field, widths) in [
            ("expert_hidden", &self.expert_hidden),
            ("gate_hidden", &self.gate_hidden),
            ("decoder_hidden", &self.decoder_hidden),
        ] {
            fields.holds(!widths.contains(&0), field, format!("{widths:?}"), "widths of 1 or more")?;
        }
        fields.holds(!self.decoder_hidden.is_empty(), "decoder_hidden", "[]", "at least one width")?;
        let gate_end = self.gate_input.start.saturating_add(self.gate_input.len);
        fields.holds(
            gate_end <= self.input_size,
            "gate_input",
            format!("{}..{gate_end}", self.gate_input.start),
            format!("a part of the {} features of x", self.input_size),
        )?;
        fields.holds(
            self.expert_outputs == ExpertOutputs::Plain || self.experts <= self.condition_size,
            "experts",
            self.experts,
            format!("at most condition_size, {}: no more directions are orthogonal", self.condition_size),
        )?;
        let even = self.time_embedding.is_multiple_of(2);
        fields.holds(even, "time_embedding", self.time_embedding, "even: pairs of sine and cosine")?;
        fields.within("independence", self.independence, (Bound::Excluded(0.0), Bound::Excluded(1.0)))?;
        fields.within("expert_dropout", self.expert_dropout, 0.0..1.0)
    }
}

impl KinematicConfig {
    /// A module that trains on two CPU cores: 2.2 M weights at x = 660, y = 480, of which 1.3 M in the experts.
    pub fn compact(input_size: usize, output_size: usize, gate_input: GateInput) -> Self {
        Self {
            input_size,
            output_size,
            gate_input,
            experts: 8,
            expert_hidden: vec![192],
            condition_size: 192,
            gate_hidden: vec![64],
            decoder_hidden: vec![512, 512],
            diffusion_steps: 50,
            time_embedding: 32,
            activation: Activation::Silu,
            conditioning: Conditioning::Experts,
            prediction: Prediction::Clean,
            expert_outputs: ExpertOutputs::Orthonormal,
            blend: Blend::AfterDecoder,
            independence: 1e-2,
            expert_dropout: 0.0,
        }
    }

    /// The paper's sizes where they are known (eight experts, D = 1024); the hidden widths are ours. 13 M weights
    /// at x = 660, y = 480.
    pub fn paper(input_size: usize, output_size: usize, gate_input: GateInput) -> Self {
        Self {
            expert_hidden: vec![512, 512],
            condition_size: 1024,
            gate_hidden: vec![128, 128],
            decoder_hidden: vec![1024, 1024, 1024],
            diffusion_steps: 100,
            time_embedding: 64,
            ..Self::compact(input_size, output_size, gate_input)
        }
    }

    /// Checks every field.
    ///
    /// # Errors
    /// [`KinematicError::OutOfRange`] with the first field that is wrong.
    pub fn validate(&self) -> Result<(), KinematicError> {
        Ok(self.check(&Fields::root())?)
    }

    /// Numbers that a file of the module holds: weights and biases. The largest number where there are more than that.
    ///
    /// # Errors
    /// As [`Self::validate`].
    pub fn stored_numbers(&self) -> Result<usize, KinematicError> {
        self.validate()?;
        let with_bias = |inputs: usize, outputs: usize| inputs.saturating_add(1).saturating_mul(outputs);
        let chain = |input: usize, hidden: &[usize], output: usize| -> usize {
            let inputs = std::iter::once(&input).chain(hidden);
            let outputs = hidden.iter().chain(std::iter::once(&output));
            inputs.zip(outputs).fold(0, |sum, (&i, &o)| sum.saturating_add(with_bias(i, o)))
        };
        let gate = chain(self.gate_input.len, &self.gate_hidden, self.experts);
        let expert = chain(self.input_size, &self.expert_hidden, self.condition_size);
        let (first, later) = self.decoder_hidden.split_first().expect("validated: there is a hidden layer");
        let state = match self.conditioning {
            Conditioning::Experts => 0,
            Conditioning::ExpertsAndState => self.input_size,
        };
        let unbiased =
            [self.condition_size, self.time_embedding, state].into_iter().fold(0, usize::saturating_add);
        let parts = [
            gate,
            expert.saturating_mul(self.experts),
            unbiased.saturating_mul(*first),
            with_bias(self.output_size, *first),
            chain(*first, later, self.output_size),
        ];
        Ok(parts.into_iter().fold(0, usize::saturating_add))
    }

    /// The cosine schedule of [`Self::diffusion_steps`] steps.
    ///
    /// # Errors
    /// [`KinematicError::OutOfRange`] when there is no step.
    pub fn schedule(&self) -> Result<DiffusionSchedule, KinematicError> {
        DiffusionSchedule::cosine(self.diffusion_steps)
    }
}
