use crate::{Model, ModelError};
use pomp_kinematic::KinematicConfig;
use pomp_motion::Skeleton;
use pomp_motion::features::{FeatureLayout, Normaliser};
use pomp_phase::{PeriodicAutoencoderConfig, StitchConfig};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Version of `model.json`; raised when old files can no longer be read.
pub const FORMAT_VERSION: u32 = 1;

/// Everything about a model but its weights: `model.json`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ModelDescription {
    /// [`FORMAT_VERSION`] of the writer.
    pub format_version: u32,
    /// Program and version.
    pub made_by: String,
    /// Name of the training configuration.
    pub config_name: String,
    /// The resolved training configuration.
    pub config: serde_json::Value,
    /// Seed of initialisation, batches and noise.
    pub seed: u64,
    /// Hash of the recordings that it was trained on.
    pub data_hash: String,
    /// Collections with their licences and seconds.
    pub data: Vec<(String, f32)>,
    /// The skeleton that it moves.
    pub skeleton: Skeleton,
    /// Bodies whose contact impulses it reads.
    pub body_names: Vec<String>,
    /// Mass of the character in training, kg.
    pub mass_kg: f32,
    /// Blocks of x and y.
    pub layout: FeatureLayout,
    /// Sizes of the periodic autoencoder.
    pub phase: PeriodicAutoencoderConfig,
    /// How windows of the aligned encoder are stitched.
    pub stitch: StitchConfig,
    /// The kinematic part, once trained.
    pub kinematic: Option<KinematicDescription>,
    /// The model whose kinematic module was trained further, if this is not the first training.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fine_tuned_from: Option<FineTunedFrom>,
    /// Final figures of each stage, held out: name → value.
    pub metrics: BTreeMap<String, f32>,
}

/// What made the kinematic module that a fine-tuning began with.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FineTunedFrom {
    /// Name of its training configuration.
    pub config_name: String,
    /// Its resolved training configuration.
    pub config: serde_json::Value,
    /// Its seed.
    pub seed: u64,
    /// Hash of the recordings that it was trained on.
    pub data_hash: String,
    /// SHA-256 over its files; none of a model that was never in files.
    pub files_sha256: Option<String>,
    /// The model that it was fine-tuned from in turn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fine_tuned_from: Option<Box<FineTunedFrom>>,
}

impl FineTunedFrom {
    /// What there is to say of `model`.
    pub fn of(model: &Model) -> Self {
        let description = &model.description;
        Self {
            config_name: description.config_name.clone(),
            config: description.config.clone(),
            seed: description.seed,
            data_hash: description.data_hash.clone(),
            files_sha256: model.files_sha256.clone(),
            fine_tuned_from: description.fine_tuned_from.clone().map(Box::new),
        }
    }
}

/// What the network's output is, before normalisation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum OutputSpace {
    /// y itself, as in the paper.
    Absolute,
    /// y minus its value if nothing changed (`FeatureLayout::write_base`): ours. What stays the same from frame
    /// to frame then need not pass through the experts.
    Residual,
}

/// The kinematic part of a model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KinematicDescription {
    /// Sizes of the networks.
    pub config: KinematicConfig,
    /// What the network's output is.
    pub output: OutputSpace,
    /// Normalisation of x.
    pub x: Normaliser,
    /// Normalisation of the output.
    pub y: Normaliser,
    /// Inputs x (in their own units) at which a rollout may start, by gait.
    pub starts: BTreeMap<String, Vec<f32>>,
}

impl KinematicDescription {
    /// Turns a normalised network output into y in its own units; `x` is the input in its own units.
    pub fn output_to_y(&self, layout: &FeatureLayout, x: &[f32], y: &mut [f32]) {
        self.y.denormalise(y);
        if self.output == OutputSpace::Residual {
            layout.with_base(x, y, |value, base| *value += base);
        }
    }

    /// Turns y in its own units into the network's normalised output; the inverse of [`Self::output_to_y`].
    pub fn y_to_output(&self, layout: &FeatureLayout, x: &[f32], y: &mut [f32]) {
        subtract_base(self.output, layout, x, y);
        self.y.normalise(y);
    }
}

/// y in its own units less its base, when the output is the residual.
pub fn subtract_base(output: OutputSpace, layout: &FeatureLayout, x: &[f32], y: &mut [f32]) {
    if output == OutputSpace::Residual {
        layout.with_base(x, y, |value, base| *value -= base);
    }
}

impl ModelDescription {
    /// Reads a description; `source_name` is named in errors.
    ///
    /// # Errors
    /// Not JSON of this version, sizes that do not fit each other, or a number that is not finite.
    pub fn from_json(json: &str, source_name: &str) -> Result<Self, ModelError> {
        let bad = |reason: String| ModelError::BadDescription { source_name: source_name.to_owned(), reason };
        let description: Self = serde_json::from_str(json).map_err(|error| bad(error.to_string()))?;
        if description.format_version != FORMAT_VERSION {
            return Err(bad(format!(
                "it has format version {}, this program reads version {FORMAT_VERSION}",
                description.format_version
            )));
        }
        description.check().map_err(bad)?;
        Ok(description)
    }

    /// What is wrong with the numbers and sizes of a description, in words.
    fn check(&self) -> Result<(), String> {
        let layout = &self.layout;
        self.stitch.validate(&self.phase.window).map_err(|error| error.to_string())?;
        let sizes = [
            ("skeleton has joints", self.skeleton.len(), layout.joints()),
            ("phase encoding module has joints", self.phase.joints, layout.joints()),
            ("phase encoding module has channels", self.phase.channels, layout.channels()),
            ("list of body_names has bodies", self.body_names.len(), layout.bodies()),
        ];
        for (what, found, expected) in sizes {
            if found != expected {
                return Err(format!("the {what}: {found}, but its layout has {expected}"));
            }
        }
        if !(self.mass_kg.is_finite() && self.mass_kg > 0.0) {
            return Err(format!("mass_kg is {}; it must be a finite number above 0", self.mass_kg));
        }
        let seconds = self.data.iter().map(|(name, seconds)| (name, seconds));
        if let Some((name, value)) = seconds.chain(&self.metrics).find(|(_, value)| !value.is_finite()) {
            return Err(format!("\"{name}\" is {value}, which is not finite"));
        }
        if let Some(kinematic) = &self.kinematic {
            let sizes = [
                ("normalisation of x", kinematic.x.len(), layout.x_len()),
                ("normalisation of y", kinematic.y.len(), layout.y_len()),
                ("input of the kinematic module", kinematic.config.input_size, layout.x_len()),
                ("output of the kinematic module", kinematic.config.output_size, layout.y_len()),
            ];
            for (what, found, expected) in sizes {
                if found != expected {
                    return Err(format!("the {what} has {found} features, its layout {expected}"));
                }
            }
            for (gait, x) in &kinematic.starts {
                if x.len() != layout.x_len() {
                    return Err(format!(
                        "the start \"{gait}\" has {} features, its layout {}",
                        x.len(),
                        layout.x_len()
                    ));
                }
                if let Some(feature) = x.iter().position(|value| !value.is_finite()) {
                    return Err(format!("feature {feature} of the start \"{gait}\" is {}", x[feature]));
                }
            }
        }
        Ok(())
    }

    /// The file's text.
    pub fn to_json(&self) -> String {
        serde_json::to_string_pretty(self).expect("a description is plain data")
    }
}
