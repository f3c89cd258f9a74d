//! Walks in the style of other walks, by the independent feature subspaces of `pomp style fit`.

use pomp_config::{Fields, OutOfRange, Validate};
use pomp_motion::random::Draws;
use pomp_motion::{Clip, Recording};
use pomp_style::{Scope, StyleError, StyleModel};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// Variants of walks in other styles.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct RestyleConfig {
    /// Variants in another style per clip and mirror image. Default 0: none.
    pub variants: usize,
    /// Style file written by `pomp style fit`; required if `variants` is not 0. The results also carry the licences of its clips.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<PathBuf>,
    /// Styles to draw from, by name. Default empty: all styles of the file.
    pub styles: Vec<String>,
    /// Range of the share of the style, 0 to 1. Default 0.4 to 1.
    pub share: [f32; 2],
    /// Subspaces of the walk that the style changes: only the `style` subspace, or `all`. Default `all`, because the style subspace may
    /// contain only a small part of a style (docs/style.md). The result keeps the path of the clip and the details that no subspace
    /// contains.
    pub scope: Scope,
    /// Least number of consecutive strides that fit the styles; the result covers the longest such run. Default 3.
    pub least_strides: usize,
    /// Seed of styles and shares. Default 1.
    pub seed: u64,
}

impl Default for RestyleConfig {
    fn default() -> Self {
        Self {
            variants: 0,
            file: None,
            styles: Vec::new(),
            share: [0.4, 1.0],
            scope: Scope::All,
            least_strides: 3,
            seed: 1,
        }
    }
}

impl Validate for RestyleConfig {
    fn check(&self, fields: &Fields) -> Result<(), OutOfRange> {
        fields.within("variants", self.variants, 0..=100)?;
        let is_named = self.variants == 0 || self.file.is_some();
        fields.holds(is_named, "file", "none", "a style file, where variants is not 0")?;
        fields.pair_within("share", self.share, 0.0..=1.0)?;
        fields.within("least_strides", self.least_strides, 1..=1000)
    }
}

/// A walk in another style.
#[derive(Clone, Debug)]
pub struct InStyle {
    /// The clip; its frames do not correspond to those of the source.
    pub clip: Clip,
    /// Name of the style.
    pub style: String,
    /// Its share.
    pub share: f32,
    /// Licences of the clips of the style.
    pub license: String,
}

/// Walks the clip of `recording` in a style that is drawn for the result `name`, or gives the reason why that is not possible.
pub fn in_style(
    model: &StyleModel,
    recording: &Recording,
    config: &RestyleConfig,
    name: &str,
) -> Result<InStyle, String> {
    let styles = drawn_from(model, config).map_err(|error| error.to_string())?;
    let mut draws = Draws::of_name(config.seed, name);
    let style = styles[draws.below(styles.len())].clone();
    let share = draws.within(config.share);
    let made = model
        .code_of(&style)
        .and_then(|code| {
            pomp_style::restyle(model, recording, &[(share.into(), code)], config.scope, config.least_strides)
        })
        .map_err(|error| error.to_string())?;
    let clip = made.recording.to_clip().map_err(|error| error.to_string())?;
    let license = model.data().licenses.get(&style).map(|all| all.join("; ")).unwrap_or_default();
    Ok(InStyle { clip, style, share, license })
}

/// The styles of the configuration, all of the model where it names none.
///
/// # Errors
/// A style that the model does not have.
pub fn drawn_from(model: &StyleModel, config: &RestyleConfig) -> Result<Vec<String>, StyleError> {
    if config.styles.is_empty() {
        return Ok(model.styles().into_iter().map(str::to_owned).collect());
    }
    match config.styles.iter().find(|style| !model.styles().contains(&style.as_str())) {
        None => Ok(config.styles.clone()),
        Some(unknown) => Err(StyleError::Unknown {
            kind: "style",
            name: unknown.clone(),
            known: model.styles().join(", "),
        }),
    }
}
