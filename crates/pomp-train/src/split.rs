//! Which recordings of a folder are learned from, measured with, and left out.

use pomp_files::Digest;
use serde_json::Value;

/// How a folder of recordings is divided. A clip goes with its mirror image and its variants.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Split {
    /// One clip in this many, by hash of its name, is held out for measuring; 0 holds out none.
    pub held_out_every: usize,
    /// Clips whose names begin with one of these are held out too.
    pub held_out: Vec<String>,
    /// Names of clips that are left out of both; one that ends in `*` stands for all that begin so.
    pub exclude: Vec<String>,
}

impl Split {
    /// That of a training whose configuration `config` a model's description gives.
    ///
    /// # Errors
    /// The key that is missing, or is none of a training's configuration.
    pub fn of_config(config: &Value) -> Result<Self, &'static str> {
        let names = |key: &'static str| -> Result<Vec<String>, &'static str> {
            serde_json::from_value(config.get(key).cloned().unwrap_or_default()).map_err(|_| key)
        };
        let every = config.get("held_out_every").and_then(Value::as_u64);
        Ok(Self {
            held_out_every: every.and_then(|every| usize::try_from(every).ok()).ok_or("held_out_every")?,
            // Models of earlier versions held out no clips by name.
            held_out: if config.get("held_out").is_some() { names("held_out")? } else { Vec::new() },
            exclude: names("exclude")?,
        })
    }

    /// Whether the recording `name` is held out.
    pub(crate) fn holds_out(&self, name: &str) -> bool {
        let name = original_name(name);
        let every = self.held_out_every as u64;
        self.held_out.iter().any(|beginning| name.starts_with(beginning.as_str()))
            || (every > 0 && Digest::of(name).number().is_multiple_of(every))
    }

    /// Whether the recording `name` is left out.
    pub(crate) fn excludes(&self, name: &str) -> bool {
        let name = original_name(name);
        self.exclude.iter().any(|excluded| match excluded.strip_suffix('*') {
            Some(beginning) => name.starts_with(beginning),
            None => name == excluded,
        })
    }

    /// The same, with nothing held out.
    pub(crate) fn without_held_out(self) -> Self {
        Self { held_out_every: 0, held_out: Vec::new(), ..self }
    }
}

/// Name of the clip that a mirror image or terrain variant was made from.
pub(crate) fn original_name(name: &str) -> &str {
    let name = name.split("_terrain").next().unwrap_or_default();
    name.strip_suffix("_mirrored").unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_subject_is_held_out_with_all_that_was_made_of_its_clips() {
        let split = Split { held_out: vec!["cmu_08_".to_owned()], ..Split::default() };
        for name in ["cmu_08_01", "cmu_08_01_mirrored", "cmu_08_01_mirrored_terrain0_bump1"] {
            assert!(split.holds_out(name), "{name}");
        }
        assert!(!split.holds_out("cmu_18_08_01") && !Split::default().holds_out("cmu_08_01"));
    }

    #[test]
    fn a_clip_is_left_out_by_its_name_and_by_the_beginning_of_it_before_a_star() {
        let split = Split { exclude: vec!["tennis_*".to_owned(), "walk_1".to_owned()], ..Split::default() };
        for name in ["tennis_serve_mirrored_terrain0_bump1", "tennis_", "walk_1", "walk_1_mirrored"] {
            assert!(split.excludes(name), "{name}");
        }
        for name in ["walk_10", "tennis", "table_tennis_1"] {
            assert!(!split.excludes(name), "{name}");
        }
    }

    #[test]
    fn the_configuration_of_a_model_without_names_holds_out_by_hash_alone() {
        let config = serde_json::json!({ "held_out_every": 8, "exclude": ["a"] });
        let split = Split::of_config(&config).unwrap();
        assert_eq!((split.held_out_every, split.held_out.len(), split.excludes("a_mirrored")), (8, 0, true));
        assert_eq!(Split::of_config(&serde_json::json!({ "held_out_every": 8 })), Err("exclude"));
        assert_eq!(Split::of_config(&serde_json::json!({ "exclude": [] })), Err("held_out_every"));
    }
}
