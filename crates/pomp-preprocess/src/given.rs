//! What variants need beside the clip: files that the configuration names.

use crate::get_up_clips::get_up_clips;
use crate::{PreprocessConfig, PreprocessError};
use pomp_augment::{GetUpClip, drawn_from};
use pomp_motion::retarget::RigLibrary;
use pomp_style::StyleModel;

/// Recorded get-up motions, and styles.
pub(crate) struct Given {
    pub get_up: Vec<GetUpClip>,
    pub styles: Option<StyleModel>,
}

impl Given {
    /// Reads the files that `config` names.
    ///
    /// # Errors
    /// A get-up clip or a style file that is refused, and a style that the file does not have.
    pub fn read(config: &PreprocessConfig, rigs: &RigLibrary) -> Result<Self, PreprocessError> {
        let file = config.style.file.as_deref().filter(|_| config.style.variants > 0);
        let styles = file.map(pomp_style::open).transpose()?.map(|(model, _)| model);
        if let Some(model) = &styles {
            drawn_from(model, &config.style)?;
        }
        Ok(Self { get_up: get_up_clips(config, rigs)?, styles })
    }
}
