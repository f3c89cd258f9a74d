use crate::gated::{GatedController, GatedModel};
use crate::learned::{LearnedController, LearnedModel};
use crate::matching::{MatchingController, MatchingModel};
use crate::{Controller, ControllerError, ControllerKind};
use burn::tensor::Device;
use pomp_motion::Skeleton;
use pomp_motion::features::FeatureLayout;
use std::borrow::Cow;
use std::sync::{Arc, OnceLock};

/// A controller as its file holds it, ready for any number of characters.
#[derive(Clone, Debug)]
pub enum TrainedController {
    /// A network with blended experts.
    Gated(Box<GatedController>),
    /// Clips to match against.
    Matching(Box<MatchingController>),
    /// Networks in place of the clips.
    Learned(Box<LearnedController>),
}

impl TrainedController {
    /// Reads the bytes of the file of `kind`; `source_name` is named in errors.
    ///
    /// # Errors
    /// Bytes that are damaged, or of another controller.
    pub fn from_bytes(
        kind: ControllerKind,
        bytes: &[u8],
        source_name: &str,
        device: &Device,
    ) -> Result<Self, ControllerError> {
        let is_of = |found: ControllerKind| {
            if found == kind {
                return Ok(());
            }
            let reason = format!("it holds the controller {found}, not {kind}");
            Err(ControllerError::BadFile { source_name: source_name.to_owned(), reason })
        };
        if matches!(kind, ControllerKind::Matching | ControllerKind::MatchingPhase) {
            let model = MatchingModel::from_bytes(bytes, source_name)?;
            is_of(model.description.kind)?;
            return Ok(Self::Matching(Box::new(model.controller())));
        }
        if kind == ControllerKind::LearnedMatching {
            let model = LearnedModel::from_bytes(bytes, source_name, device)?;
            return Ok(Self::Learned(Box::new(LearnedController::new(model)?)));
        }
        let model = GatedModel::from_bytes(bytes, source_name, device)?;
        is_of(model.description.kind)?;
        Ok(Self::Gated(Box::new(GatedController::new(model)?)))
    }

    /// The skeleton that its motion is of, where it holds one.
    pub fn skeleton(&self) -> Option<&Skeleton> {
        match self {
            Self::Gated(_) => None,
            Self::Matching(controller) => Some(controller.database().skeleton()),
            Self::Learned(controller) => Some(controller.skeleton()),
        }
    }

    /// Blocks of x and y of its network, where it is one.
    pub fn layout(&self) -> Option<&FeatureLayout> {
        match self {
            Self::Gated(controller) => Some(&controller.model().description.layout),
            Self::Matching(_) | Self::Learned(_) => None,
        }
    }

    /// A controller for one character.
    pub fn begin(&self) -> Box<dyn Controller> {
        match self {
            Self::Gated(controller) => controller.boxed(),
            Self::Matching(controller) => controller.boxed(),
            Self::Learned(controller) => controller.boxed(),
        }
    }
}

/// The file of a controller, which is read when it is first asked for. Clones share what has been read.
#[derive(Clone, Debug)]
pub struct ControllerFile {
    kind: ControllerKind,
    bytes: Cow<'static, [u8]>,
    source_name: String,
    read: Arc<OnceLock<TrainedController>>,
}

impl ControllerFile {
    /// Folder in a model's folder that holds the files.
    pub const FOLDER: &'static str = "controllers";

    /// Its place in a model's folder.
    pub fn place(kind: ControllerKind) -> String {
        format!("{}/{kind}.safetensors", Self::FOLDER)
    }

    /// The bytes of the file of `kind`; `source_name` is named in errors.
    pub fn new(kind: ControllerKind, bytes: impl Into<Cow<'static, [u8]>>, source_name: String) -> Self {
        Self { kind, bytes: bytes.into(), source_name, read: Arc::default() }
    }

    /// Where it came from, for messages.
    pub fn source_name(&self) -> &str {
        &self.source_name
    }

    /// Its bytes.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The controller that it holds.
    ///
    /// # Errors
    /// Bytes that are damaged, or of another controller.
    pub fn open(&self) -> Result<&TrainedController, ControllerError> {
        if self.read.get().is_none() {
            let found =
                TrainedController::from_bytes(self.kind, &self.bytes, &self.source_name, &Device::flex())?;
            // Another thread may have been quicker; it has read the same.
            let _ = self.read.set(found);
        }
        Ok(self.read.get().expect("it has just been read"))
    }
}
