use crate::{KinematicDescription, ModelDescription, ModelError, ModelStyles, StyleChange};
use burn::tensor::Device;
use pomp_controllers::{ControllerFile, ControllerKind, TrainedController};
use pomp_files::Hasher;
use pomp_kinematic::{GammaTable, KinematicConfig, KinematicModel};
use pomp_motion::{Joint, Skeleton};
use pomp_phase::{PeriodicAutoencoder, PeriodicEncoder};
use pomp_policy::BalancePolicy;
use pomp_weights::{WeightFile, WeightPrecision, WeightTensor};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Files of a model folder.
const DESCRIPTION: &str = "model.json";
const PHASE: &str = "phase.safetensors";
const ALIGNED: &str = "aligned_phase.safetensors";
const KINEMATIC: &str = "kinematic.safetensors";

/// A model as trained so far: the phase autoencoder first, the other parts when their stages have run.
#[derive(Clone, Debug)]
pub struct Model {
    /// Everything but the weights.
    pub description: ModelDescription,
    /// The periodic autoencoder of clean motion.
    pub phase: PeriodicAutoencoder,
    /// The aligned encoder, which reads stitched windows of simulated motion.
    pub aligned_phase: Option<PeriodicEncoder>,
    /// The kinematic module with Γ of its Analytic-DPM covariance.
    pub kinematic: Option<(KinematicModel, GammaTable)>,
    /// Controllers that can take the place of the kinematic module.
    pub controllers: BTreeMap<ControllerKind, ControllerFile>,
    /// The balance policy, trained on the motion of this model.
    pub balance_policy: Option<BalancePolicy>,
    /// The styles that its kinematic module can take.
    pub styles: Option<ModelStyles>,
    /// SHA-256 of the files that it was read from, those of controllers, balance policy and styles left out, 64 hexadecimal digits; `None` for one that was made in memory.
    /// Changes in memory do not change it.
    pub files_sha256: Option<String>,
}

/// Parts of a model that not every rollout uses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct UsedParts {
    /// What proposes the frames.
    pub controller: ControllerKind,
    /// Whether the balance policy reacts.
    pub balance_policy: bool,
    /// Whether it moves in a style.
    pub styles: bool,
}

/// The bytes of a model's files, as embedded in a program.
#[derive(Clone, Copy, Debug)]
pub struct ModelBytes<'a> {
    /// `model.json`.
    pub description: &'a str,
    /// `phase.safetensors`.
    pub phase: &'a [u8],
    /// `aligned_phase.safetensors`.
    pub aligned_phase: Option<&'a [u8]>,
    /// `kinematic.safetensors`.
    pub kinematic: Option<&'a [u8]>,
    /// `balance_policy.safetensors`.
    pub balance_policy: Option<&'a [u8]>,
    /// `style_adapter.safetensors`.
    pub styles: Option<&'a [u8]>,
}

impl ModelBytes<'_> {
    /// SHA-256 over the name, length and bytes of every file, 64 hexadecimal digits: two models with the same are the same.
    pub fn sha256(&self) -> String {
        let files = [
            (DESCRIPTION, Some(self.description.as_bytes())),
            (PHASE, Some(self.phase)),
            (ALIGNED, self.aligned_phase),
            (KINEMATIC, self.kinematic),
        ];
        let mut hash = Hasher::default();
        for (name, bytes) in files.into_iter().filter_map(|(name, bytes)| Some((name, bytes?))) {
            hash.update(name.as_bytes());
            hash.update((bytes.len() as u64).to_le_bytes());
            hash.update(bytes);
        }
        hash.finish().to_string()
    }
}

impl Model {
    /// Reads a model folder.
    ///
    /// # Errors
    /// A file that is missing, damaged or does not fit the description.
    pub fn load(folder: &Path, device: &Device) -> Result<Self, ModelError> {
        let read = |file: &str| {
            let path = folder.join(file);
            std::fs::read(&path).map_err(|source| ModelError::Io {
                action: "reading the model",
                path,
                source,
                remedy: if folder.join("checkpoints").is_dir() {
                    "its training has not ended: go on with the command that began it and --resume, \
                     `pomp train all --data DATA --out THIS_FOLDER --resume`"
                } else {
                    "give a folder that `pomp train` has written, with --model"
                },
            })
        };
        let optional = |file: &str| if folder.join(file).is_file() { read(file).map(Some) } else { Ok(None) };
        let json = String::from_utf8(read(DESCRIPTION)?).map_err(|error| ModelError::BadDescription {
            source_name: folder.join(DESCRIPTION).display().to_string(),
            reason: error.to_string(),
        })?;
        let (phase, aligned_phase, kinematic) = (read(PHASE)?, optional(ALIGNED)?, optional(KINEMATIC)?);
        let (balance_policy, styles) = (optional(BalancePolicy::FILE)?, optional(ModelStyles::FILE)?);
        let bytes = ModelBytes {
            description: &json,
            phase: &phase,
            aligned_phase: aligned_phase.as_deref(),
            kinematic: kinematic.as_deref(),
            balance_policy: balance_policy.as_deref(),
            styles: styles.as_deref(),
        };
        let mut model = Self::from_bytes(&bytes, &folder.display().to_string(), device)?;
        for kind in ControllerKind::ALL {
            let file = ControllerFile::place(kind);
            if let Some(bytes) = optional(&file)? {
                let source_name = folder.join(file).display().to_string();
                model.controllers.insert(kind, ControllerFile::new(kind, bytes, source_name));
            }
        }
        Ok(model)
    }

    /// Reads a model from memory; `source_name` is named in errors.
    ///
    /// # Errors
    /// As [`Self::load`].
    pub fn from_bytes(
        bytes: &ModelBytes<'_>,
        source_name: &str,
        device: &Device,
    ) -> Result<Self, ModelError> {
        let name = |file: &str| format!("{source_name}/{file}");
        let description = ModelDescription::from_json(bytes.description, &name(DESCRIPTION))?;
        let fresh = |file: &str| {
            PeriodicAutoencoder::new(&description.phase, description.seed, device)
                .map_err(|source| ModelError::Phase { source_name: name(file), source })
        };
        // A network is made no larger than what its file can fill.
        let holds = |file: &WeightFile, prefix: &str, described: usize| {
            let found = file.numbers_under(prefix);
            if described <= found {
                return Ok(());
            }
            Err(ModelError::BadDescription {
                source_name: name(DESCRIPTION),
                reason: format!(
                    "it describes a network of {described} numbers, but {} holds {found}",
                    file.source_name()
                ),
            })
        };
        let phase = WeightFile::from_bytes(bytes.phase, &name(PHASE))?;
        let numbers = description
            .phase
            .stored_numbers()
            .map_err(|source| ModelError::Phase { source_name: name(DESCRIPTION), source })?;
        holds(&phase, "phase", numbers)?;
        let phase = phase.load_into("phase", fresh(PHASE)?)?;
        let aligned_phase = match bytes.aligned_phase {
            None => None,
            Some(bytes) => {
                let file = WeightFile::from_bytes(bytes, &name(ALIGNED))?;
                Some(file.load_into("aligned_phase", fresh(ALIGNED)?.encoder)?)
            }
        };
        let kinematic = match (&description.kinematic, bytes.kinematic) {
            (Some(kinematic), Some(bytes)) => {
                let file = WeightFile::from_bytes(bytes, &name(KINEMATIC))?;
                let numbers = kinematic
                    .config
                    .stored_numbers()
                    .map_err(|source| ModelError::Kinematic { source_name: name(DESCRIPTION), source })?;
                holds(&file, "kinematic", numbers)?;
                // Γ has a row per step of the diffusion, of which the network has a schedule.
                let gamma = read_gamma(&file, &kinematic.config)?;
                let fresh = KinematicModel::new(&kinematic.config, description.seed, device)
                    .map_err(|source| ModelError::Kinematic { source_name: name(KINEMATIC), source })?;
                let network = file.load_into("kinematic", fresh)?;
                gamma
                    .validate(network.schedule(), kinematic.config.output_size)
                    .map_err(|source| ModelError::Kinematic { source_name: name(KINEMATIC), source })?;
                Some((network, gamma))
            }
            (None, None) => None,
            (described, _) => {
                return Err(ModelError::BadDescription {
                    source_name: name(DESCRIPTION),
                    reason: format!(
                        "{KINEMATIC} and its description belong together, but only the {} is there",
                        if described.is_some() { "description" } else { "file" }
                    ),
                });
            }
        };
        let policy = |bytes| BalancePolicy::from_bytes(bytes, &name(BalancePolicy::FILE), device);
        let balance_policy = bytes.balance_policy.map(policy).transpose()?;
        let styles = match (bytes.styles, &description.kinematic) {
            (Some(bytes), Some(kinematic)) => {
                let file = name(ModelStyles::FILE);
                Some(ModelStyles::from_bytes(bytes, &file, &description.layout, &kinematic.config, device)?)
            }
            (None, _) => None,
            (Some(_), None) => {
                return Err(ModelError::BadStyles {
                    source_name: name(ModelStyles::FILE),
                    reason: "the model has no kinematic module that styles could change".to_owned(),
                });
            }
        };
        let files_sha256 = Some(bytes.sha256());
        let controllers = BTreeMap::new();
        Ok(Self {
            description,
            phase,
            aligned_phase,
            kinematic,
            controllers,
            balance_policy,
            styles,
            files_sha256,
        })
    }

    /// Writes a model folder, but for its controllers, which have files of their own; every file appears whole or not at all, the
    /// description last. Parts that the folder has of
    /// an earlier model and this one has not yet are removed.
    ///
    /// # Errors
    /// The folder cannot be written, or a weight is not finite.
    pub fn save(&self, folder: &Path, precision: WeightPrecision) -> Result<(), ModelError> {
        std::fs::create_dir_all(folder).map_err(|source| ModelError::Io {
            action: "creating the model folder",
            path: folder.to_path_buf(),
            source,
            remedy: "give a folder that can be written with --out",
        })?;
        let metadata = Some(("made_by", self.description.made_by.as_str()));
        let mut file = WeightFile::new(metadata);
        file.add_module("phase", &self.phase)?;
        file.save(&folder.join(PHASE), precision)?;
        if let Some(aligned) = &self.aligned_phase {
            let mut file = WeightFile::new(metadata);
            file.add_module("aligned_phase", aligned)?;
            file.save(&folder.join(ALIGNED), precision)?;
        }
        if let Some((network, gamma)) = &self.kinematic {
            let mut file = WeightFile::new(metadata);
            file.add_module("kinematic", network)?;
            write_gamma(&mut file, gamma)?;
            file.save(&folder.join(KINEMATIC), precision)?;
        }
        // Parts of an earlier model in this folder do not belong to this one.
        remove_unless(self.aligned_phase.is_some(), folder.join(ALIGNED))?;
        remove_unless(self.kinematic.is_some(), folder.join(KINEMATIC))?;
        let path = folder.join(DESCRIPTION);
        let io = |source| ModelError::Io {
            action: "writing the description",
            path: path.clone(),
            source,
            remedy: "check that the folder can be written and has room",
        };
        pomp_files::replace_file(&path, |file| file.write_all(self.description.to_json().as_bytes()))
            .map_err(io)
    }

    /// The kinematic module with Γ and its description.
    ///
    /// # Errors
    /// It has not been trained.
    pub fn kinematic(&self) -> Result<(&KinematicModel, &GammaTable, &KinematicDescription), ModelError> {
        match (&self.kinematic, &self.description.kinematic) {
            (Some((model, gamma)), Some(description)) => Ok((model, gamma, description)),
            _ => Err(ModelError::MissingPart {
                source_name: self.description.config_name.clone(),
                part: "kinematic module",
                stage: "kinematic",
            }),
        }
    }

    /// What names the model when `used` is used of it: [`Self::files_sha256`], with the controller's file where it is not the
    /// kinematic module, and with those of the balance policy and the styles; `None` for a model that was made in memory.
    pub fn sha256_with(&self, used: UsedParts) -> Option<String> {
        let files = self.files_sha256.as_ref()?;
        let controller = self.controllers.get(&used.controller);
        let policy = self.balance_policy.as_ref().filter(|_| used.balance_policy);
        let styles = self.styles.as_ref().filter(|_| used.styles);
        if controller.is_none() && policy.is_none() && styles.is_none() {
            return Some(files.clone());
        }
        let mut hash = Hasher::default();
        hash.update(files.as_bytes());
        if let Some(file) = controller {
            hash.update(file.bytes());
        }
        if let Some(policy) = policy {
            hash.update(policy.file_sha256.as_ref()?.as_bytes());
        }
        if let Some(styles) = styles {
            hash.update(styles.file_sha256.as_ref()?.as_bytes());
        }
        Some(hash.finish().to_string())
    }

    /// A controller in place of the kinematic module. Its file is read when it is first asked for.
    ///
    /// # Errors
    /// It has not been trained, or its file is damaged or of another skeleton.
    pub fn controller(&self, kind: ControllerKind) -> Result<&TrainedController, ModelError> {
        let file = self.controllers.get(&kind).ok_or_else(|| {
            let there = self.controllers.keys().map(|kind| kind.name());
            let there: Vec<&str> = std::iter::once(ControllerKind::Pomp.name()).chain(there).collect();
            ModelError::MissingController {
                source_name: self.description.config_name.clone(),
                kind: kind.name(),
                there: there.join(", "),
            }
        })?;
        let controller = file.open()?;
        let bad = |reason: &str| ModelError::BadDescription {
            source_name: file.source_name().to_owned(),
            reason: format!(
                "{reason} than {DESCRIPTION}; make it from the data that the model was trained on"
            ),
        };
        let layout = &self.description.layout;
        if controller
            .layout()
            .is_some_and(|own| (own.joints(), own.bodies()) != (layout.joints(), layout.bodies()))
        {
            return Err(bad("its network has another number of joints or bodies"));
        }
        if controller.skeleton().is_some_and(|skeleton| !same_bones(skeleton, &self.description.skeleton)) {
            return Err(bad("its clips are of a skeleton with other bones"));
        }
        Ok(controller)
    }

    /// The balance policy.
    ///
    /// # Errors
    /// It has not been trained.
    pub fn balance_policy(&self) -> Result<&BalancePolicy, ModelError> {
        self.balance_policy.as_ref().ok_or_else(|| ModelError::MissingPart {
            source_name: self.description.config_name.clone(),
            part: "balance policy",
            stage: "balance",
        })
    }

    /// The styles that the kinematic module can take.
    ///
    /// # Errors
    /// They have not been trained, or were trained on another model.
    pub fn styles(&self) -> Result<&ModelStyles, ModelError> {
        let source_name = || self.description.config_name.clone();
        let styles = self.styles.as_ref().ok_or_else(|| ModelError::MissingPart {
            source_name: source_name(),
            part: "style adapter",
            stage: "style",
        })?;
        if self.files_sha256.as_ref().is_some_and(|files| *files != styles.description.model_sha256) {
            return Err(ModelError::BadStyles {
                source_name: source_name(),
                reason: format!(
                    "{} was trained on a model with the hash {}, which this model does not have",
                    ModelStyles::FILE,
                    styles.description.model_sha256
                ),
            });
        }
        Ok(styles)
    }

    /// What styles with these weights change in the loop; `None` where there are none, or every weight is 0.
    ///
    /// # Errors
    /// As [`Self::styles`] and [`ModelStyles::change`].
    pub fn style_change(&self, weights: &BTreeMap<String, f32>) -> Result<Option<StyleChange>, ModelError> {
        if weights.is_empty() { Ok(None) } else { self.styles()?.change(weights) }
    }

    /// The aligned phase encoder.
    ///
    /// # Errors
    /// It has not been trained.
    pub fn aligned_phase(&self) -> Result<&PeriodicEncoder, ModelError> {
        self.aligned_phase.as_ref().ok_or_else(|| ModelError::MissingPart {
            source_name: self.description.config_name.clone(),
            part: "aligned phase encoder",
            stage: "aligned-phase",
        })
    }
}

/// Whether bones differ by less than a millimetre; where the pelvis rests does not matter.
fn same_bones(a: &Skeleton, b: &Skeleton) -> bool {
    let pairs = a.joints().iter().zip(b.joints()).skip(1);
    let same = |(a, b): (&Joint, &Joint)| a.parent == b.parent && a.offset.distance(b.offset) < 1e-3;
    a.len() == b.len() && pairs.into_iter().all(same)
}

fn remove_unless(wanted: bool, path: PathBuf) -> Result<(), ModelError> {
    if wanted || !path.is_file() {
        return Ok(());
    }
    std::fs::remove_file(&path).map_err(|source| ModelError::Io {
        action: "removing a part of an earlier model",
        path,
        source,
        remedy: "remove it, or give another folder with --out",
    })
}

/// Tensors of Γ beside the weights.
const GAMMA: [&str; 3] = ["gamma.gamma", "gamma.clean_error", "gamma.data_variance"];

fn write_gamma(file: &mut WeightFile, gamma: &GammaTable) -> Result<(), ModelError> {
    let parts = [&gamma.gamma, &gamma.clean_error, &gamma.data_variance];
    for (name, values) in GAMMA.into_iter().zip(parts) {
        let shape = vec![values.len() / gamma.features, gamma.features];
        let values = values.iter().map(|v| *v as f32).collect();
        file.add_tensor(name, WeightTensor { shape, values })?;
    }
    Ok(())
}

fn read_gamma(file: &WeightFile, config: &KinematicConfig) -> Result<GammaTable, ModelError> {
    let (steps, features) = (config.diffusion_steps, config.output_size);
    let read = |name: &str, rows: usize| -> Result<Vec<f64>, ModelError> {
        let tensor = file.tensor_of_shape(name, &[rows, features])?;
        Ok(tensor.values.iter().map(|v| f64::from(*v)).collect())
    };
    Ok(GammaTable {
        steps,
        features,
        gamma: read(GAMMA[0], steps)?,
        clean_error: read(GAMMA[1], steps)?,
        data_variance: read(GAMMA[2], 1)?,
    })
}
