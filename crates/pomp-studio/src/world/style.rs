//! The styles of a scene: their weights, and what a slider does to them.

use super::scene::in_range;
use super::{Event, SceneRequest};
use crate::StudioError;
use pomp_controllers::ControllerKind;
use pomp_generator::GeneratorConfig;
use pomp_model::{Model, UsedParts};
use std::collections::BTreeMap;

/// Names of the styles that a character can move in: those of the model, where its kinematic module moves it.
pub fn offered_styles(model: &Model, controller: ControllerKind) -> Vec<String> {
    let styles = (controller == ControllerKind::Pomp).then(|| model.styles().ok()).flatten();
    styles.map(|styles| styles.names().map(str::to_owned).collect()).unwrap_or_default()
}

/// Refuses a weight outside 0 to 1, and a style that the model or its controller does not have.
pub(super) fn check_weight(
    style: usize,
    weight: f32,
    model: &Model,
    controller: ControllerKind,
) -> Result<(), StudioError> {
    let offered = offered_styles(model, controller);
    if style >= offered.len() {
        let range = match offered.len() {
            0 => format!("none: the model has no styles for the controller {controller}"),
            count => format!("0 to {}, which are {}", count - 1, offered.join(", ")),
        };
        return Err(StudioError::BadScene { field: "style", value: style.to_string(), range });
    }
    in_range("weight of a style", weight, 0.0, 1.0)
}

/// The styles with another weight of one of them. The others give way, in proportion, where the weights would add up to more than 1.
pub(super) fn with_weight(
    mut style: BTreeMap<String, f32>,
    name: &str,
    weight: f32,
) -> BTreeMap<String, f32> {
    style.remove(name);
    let others: f32 = style.values().sum();
    let left = 1.0 - weight;
    if others > left {
        style.values_mut().for_each(|other| *other *= left / others);
    }
    style.insert(name.to_owned(), weight);
    style.retain(|_, weight| *weight > 0.0);
    style
}

impl SceneRequest {
    /// The styles that the scene begins with, over those of the program's settings.
    pub(super) fn style_over(&self, base: &GeneratorConfig) -> BTreeMap<String, f32> {
        match self.controller_over(base) {
            ControllerKind::Pomp => self.style.clone().unwrap_or_else(|| base.style.clone()),
            _ => BTreeMap::new(),
        }
    }

    /// Refuses styles that the scene cannot begin in. The loop checks their weights.
    pub(super) fn check_style(&self, model: &Model, base: &GeneratorConfig) -> Result<(), StudioError> {
        let controller = self.controller_over(base);
        let offered = offered_styles(model, controller);
        let Some(style) = self.style.as_ref().filter(|style| !style.is_empty()) else { return Ok(()) };
        match style.keys().find(|name| !offered.contains(name)) {
            None => Ok(()),
            Some(name) => {
                let value = format!("\"{}\"", name.chars().take(40).collect::<String>());
                let range =
                    format!("styles of the model with the controller {controller}: {}", offered.join(", "));
                Err(StudioError::BadScene { field: "style", value, range })
            }
        }
    }

    /// What the scene and its events use of a model.
    pub(super) fn used_parts(&self, base: &GeneratorConfig) -> UsedParts {
        let used = self.generator_config(base).used_parts();
        let later =
            self.events.iter().any(|event| matches!(event, Event::Style(.., weight) if *weight > 0.0));
        UsedParts { styles: used.styles || later, ..used }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_styles_give_way_to_the_one_that_is_set() {
        let styles = with_weight(BTreeMap::new(), "zombie", 0.6);
        let styles = with_weight(styles, "march", 0.3);
        assert_eq!(styles, BTreeMap::from([("march".to_owned(), 0.3), ("zombie".to_owned(), 0.6)]));
        let styles = with_weight(styles, "stealthy", 0.55);
        let sum: f32 = styles.values().sum();
        println!("{styles:?}");
        assert!((sum - 1.0).abs() < 1e-6 && (styles["zombie"] / styles["march"] - 2.0).abs() < 1e-5);
        assert_eq!(with_weight(styles, "march", 1.0), BTreeMap::from([("march".to_owned(), 1.0)]));
        assert!(with_weight(BTreeMap::from([("march".to_owned(), 0.3)]), "march", 0.0).is_empty());
    }
}
