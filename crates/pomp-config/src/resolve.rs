use crate::source::{Origin, Sources};
use crate::{ConfigError, Fields, Validate};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::collections::{BTreeMap, BTreeSet};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// Least likeness, of 1, at which a known key is named in place of an unknown one.
const LEAST_LIKENESS: f64 = 0.7;

/// A configuration, and where its values come from.
pub struct Resolved<T> {
    /// The configuration.
    pub config: T,
    /// Path of a value → its place. A value that is not in here is a default.
    places: BTreeMap<String, String>,
    /// What stands for values without a place in errors.
    name: String,
}

/// Puts a configuration together: the defaults of its type, the file and those that it extends, and `settings`
/// (`key.path=value`), each of which wins over those before it. Tables are merged key by key; everything else, arrays too,
/// is replaced as a whole. So a file may leave out any key of any section, and has the default of that very place.
///
/// # Errors
/// A file that cannot be read, text that is no TOML, an unknown key, a value of the wrong type; each with its place.
pub fn resolve<T: DeserializeOwned + Serialize + Default>(
    origin: Origin<'_>,
    settings: &[String],
) -> Result<Resolved<T>, ConfigError> {
    resolve_over(&T::default(), origin, settings)
}

/// The same over other defaults than those of the type.
///
/// # Errors
/// As [`resolve`].
pub fn resolve_over<T: DeserializeOwned + Serialize>(
    defaults: &T,
    origin: Origin<'_>,
    settings: &[String],
) -> Result<Resolved<T>, ConfigError> {
    let defaults = toml::to_string(defaults).expect("a configuration is plain data");
    merged(&Sources::gather(Some(&defaults), origin, settings)?)
}

/// The same for a configuration without defaults, of which the file says all.
///
/// # Errors
/// As [`resolve`], and a missing key.
pub fn resolve_whole<T: DeserializeOwned>(
    origin: Origin<'_>,
    settings: &[String],
) -> Result<Resolved<T>, ConfigError> {
    merged(&Sources::gather(None, origin, settings)?)
}

fn merged<T: DeserializeOwned>(sources: &Sources) -> Result<Resolved<T>, ConfigError> {
    let merged = sources.merged()?;
    let places = leaves(&merged)
        .into_iter()
        .filter(|leaf| !sources.is_default(leaf.key_start))
        .map(|leaf| (leaf.path, sources.place(leaf.key_start)))
        .collect();
    let deserializer = toml::de::Deserializer::from(Spanned::new(0..0, merged.clone()));
    match T::deserialize(deserializer) {
        Ok(config) => Ok(Resolved { config, places, name: sources.name() }),
        Err(error) => Err(placed(&error, sources, &merged)),
    }
}

impl<T: Validate> Resolved<T> {
    /// The configuration, once its ranges are checked.
    ///
    /// # Errors
    /// [`ConfigError::OutOfRange`] with the place of the value.
    pub fn checked(self) -> Result<T, ConfigError> {
        match self.config.check(&Fields::root()) {
            Ok(()) => Ok(self.config),
            Err(source) => {
                let place = self.places.get(&source.field).unwrap_or(&self.name).clone();
                Err(ConfigError::OutOfRange { place, source })
            }
        }
    }
}

impl<T: Serialize> Resolved<T> {
    /// The configuration as TOML, with the place of every value, or `default`, as a comment behind it.
    pub fn show(&self) -> String {
        let text = toml::to_string(&self.config).expect("a configuration is plain data");
        let table = DeTable::parse(&text).expect("it was just written");
        let mut comments: BTreeMap<usize, BTreeSet<&str>> = BTreeMap::new();
        for leaf in leaves(table.get_ref()) {
            let line_end = text[leaf.end..].find('\n').map_or(text.len(), |at| leaf.end + at);
            comments
                .entry(line_end)
                .or_default()
                .insert(self.places.get(&leaf.path).map_or("default", String::as_str));
        }
        let (mut shown, mut from) = (String::new(), 0);
        for (at, places) in comments {
            shown.push_str(&text[from..at]);
            shown.push_str("  # ");
            // A comment of TOML ends at a line break and holds no control characters; a setting may have both.
            let places = places.into_iter().collect::<Vec<_>>().join(", ");
            shown.push_str(&places.replace(char::is_control, "\u{fffd}"));
            from = at;
        }
        shown.push_str(&text[from..]);
        shown
    }
}

/// A value that is no table.
struct Leaf {
    /// `a.b[2].c`.
    path: String,
    /// First byte of its key.
    key_start: usize,
    /// Byte behind the value.
    end: usize,
}

fn leaves(table: &DeTable<'_>) -> Vec<Leaf> {
    let mut found = Vec::new();
    collect_leaves("", table, &mut found);
    found
}

fn collect_leaves(prefix: &str, table: &DeTable<'_>, found: &mut Vec<Leaf>) {
    for (key, value) in table {
        let path = format!("{prefix}{}", key.get_ref());
        match value.get_ref() {
            DeValue::Table(inner) => collect_leaves(&format!("{path}."), inner, found),
            DeValue::Array(items)
                if !items.is_empty() && items.iter().all(|item| item.get_ref().is_table()) =>
            {
                for (index, item) in items.iter().enumerate() {
                    let inner = item.get_ref().as_table().expect("all are tables");
                    collect_leaves(&format!("{path}[{index}]."), inner, found);
                }
            }
            _ => found.push(Leaf { path, key_start: key.span().start, end: value.span().end }),
        }
    }
}

/// An error of the parser with its place, and an unknown key with the nearest known one.
fn placed(error: &toml::de::Error, sources: &Sources, merged: &DeTable<'_>) -> ConfigError {
    // A missing key of the root has no span of its own.
    let span = error.span().filter(|span| *span != (0..0));
    let place = span.clone().map_or_else(|| sources.name(), |span| sources.place(span.start));
    let message = error.message().trim_end().to_owned();
    let mut quoted = message.split('`').skip(1).step_by(2);
    if message.starts_with("unknown field")
        && let Some(unknown) = quoted.next()
    {
        let known: Vec<String> = quoted.map(str::to_owned).collect();
        let section = span.and_then(|span| section_at("", merged, span.start)).unwrap_or_default();
        let key = format!("{section}{unknown}");
        let likeness = |known: &String| strsim::jaro_winkler(known, unknown);
        let nearest = elsewhere("", merged, unknown, &key).or_else(|| {
            let most = known.iter().max_by(|a, b| likeness(a).total_cmp(&likeness(b)));
            most.filter(|known| likeness(known) >= LEAST_LIKENESS).cloned()
        });
        return ConfigError::UnknownKey { place, key, nearest, known };
    }
    ConfigError::Invalid { place, message }
}

/// The path of a key `name` in another section than that of the path `not`: where it may have been meant.
fn elsewhere(prefix: &str, table: &DeTable<'_>, name: &str, not: &str) -> Option<String> {
    table.iter().find_map(|(key, value)| {
        let section = format!("{prefix}{}.", key.get_ref());
        let inner = value.get_ref().as_table()?;
        let here = format!("{section}{name}");
        let found = inner.contains_key(name) && here != not;
        if found { Some(here) } else { elsewhere(&section, inner, name, not) }
    })
}

/// The section, as a prefix of paths, whose key begins at a byte.
fn section_at(prefix: &str, table: &DeTable<'_>, offset: usize) -> Option<String> {
    table.iter().find_map(|(key, value)| {
        if key.span().start == offset {
            return Some(prefix.to_owned());
        }
        let path = format!("{prefix}{}", key.get_ref());
        match value.get_ref() {
            DeValue::Table(inner) => section_at(&format!("{path}."), inner, offset),
            DeValue::Array(items) => items.iter().enumerate().find_map(|(index, item)| {
                section_at(&format!("{path}[{index}]."), item.get_ref().as_table()?, offset)
            }),
            _ => None,
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::OutOfRange;
    use serde::Deserialize;
    use std::path::Path;
    use tempfile::TempDir;

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    #[serde(deny_unknown_fields, default)]
    struct Training {
        steps: usize,
        rate: f32,
        widths: Vec<usize>,
    }

    impl Default for Training {
        fn default() -> Self {
            Self { steps: 100, rate: 0.1, widths: vec![8, 8] }
        }
    }

    #[derive(Debug, Default, PartialEq, Serialize, Deserialize)]
    #[serde(deny_unknown_fields, default)]
    struct Config {
        name: String,
        training: Training,
        ground: Vec<Ground>,
    }

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Ground {
        share: f32,
        shape: Shape,
    }

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    #[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
    enum Shape {
        Flat {},
        Slope { angle_deg: f32 },
    }

    impl Validate for Config {
        fn check(&self, fields: &Fields) -> Result<(), OutOfRange> {
            fields.section("training").within("steps", self.training.steps, 1..)?;
            for (index, ground) in self.ground.iter().enumerate() {
                fields.section(format!("ground[{index}]")).within("share", ground.share, 0.0..=1.0)?;
            }
            Ok(())
        }
    }

    fn write(folder: &TempDir, name: &str, text: &str) -> std::path::PathBuf {
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text).unwrap();
        path
    }

    fn resolved(path: &Path, settings: &[&str]) -> Result<Resolved<Config>, ConfigError> {
        let settings: Vec<String> = settings.iter().map(|&setting| setting.to_owned()).collect();
        resolve(Origin::File(path), &settings)
    }

    fn refused(path: &Path, settings: &[&str]) -> String {
        let error = match resolved(path, settings) {
            Ok(resolved) => resolved.checked().unwrap_err(),
            Err(error) => error,
        };
        error.to_string()
    }

    #[test]
    fn an_overlay_changes_what_it_names_and_settings_win_over_it() {
        let folder = TempDir::new().unwrap();
        write(&folder, "base.toml", "name = \"base\"\n[training]\nsteps = 10\nwidths = [1, 2, 3]\n");
        let over = write(&folder, "over/over.toml", "extends = \"../base.toml\"\ntraining.widths = [4]\n");
        let found = resolved(&over, &["training.rate=0.5", "name=bare words"]).unwrap();
        let training = Training { steps: 10, rate: 0.5, widths: vec![4] };
        assert_eq!(found.config, Config { name: "bare words".to_owned(), training, ground: Vec::new() });
    }

    #[test]
    fn every_value_is_shown_with_its_source_and_what_is_shown_reads_the_same() {
        let folder = TempDir::new().unwrap();
        let base = write(
            &folder,
            "base.toml",
            "\n  name = \"base\"\n[[ground]]\nshare = 0.1\nshape = { kind = \"slope\", angle_deg = 3.0 }\n",
        );
        let over = write(&folder, "over.toml", "extends = \"base.toml\"\n[training]\nsteps = 7\n");
        let found = resolved(&over, &["training.rate = 0.3"]).unwrap();
        let shown = found.show();
        for line in [
            format!("name = \"base\"  # {}:2:3", base.display()),
            format!("steps = 7  # {}:3:1", over.display()),
            "rate = 0.3  # --set training.rate = 0.3".to_owned(),
            "widths = [8, 8]  # default".to_owned(),
            format!("share = 0.1  # {}:4:1", base.display()),
        ] {
            assert!(shown.lines().any(|shown| shown == line), "{line} is missing in\n{shown}");
        }
        assert_eq!(toml::from_str::<Config>(&shown).unwrap(), found.config);
    }

    #[test]
    fn a_setting_with_control_characters_is_shown_in_a_comment_that_toml_reads() {
        let folder = TempDir::new().unwrap();
        let found = resolved(&write(&folder, "a.toml", ""), &["name=b\0a\nsteps = 3"]).unwrap();
        assert_eq!(toml::from_str::<Config>(&found.show()).unwrap(), found.config);
    }

    #[test]
    fn an_unknown_key_is_told_with_its_place_and_the_nearest_known_one() {
        let folder = TempDir::new().unwrap();
        let base = write(&folder, "base.toml", "name = \"a\"\n\n[training]\n  setps = 3\n");
        let over = write(&folder, "over.toml", "extends = \"base.toml\"\nname = \"b\"\n");
        let told = format!(
            "{}:4:3: unknown key `training.setps`; the nearest known one is `steps` (known: steps, rate, widths)",
            base.display()
        );
        assert_eq!(refused(&over, &[]), told, "the place is that of the base");
        let found = refused(&write(&folder, "b.toml", ""), &["training.stops=1"]);
        assert!(found.starts_with("--set training.stops=1: unknown key `training.stops`"), "{found}");
        let found = refused(&write(&folder, "old.toml", "widths = [1]\n"), &[]);
        assert!(
            found.contains("unknown key `widths`; the nearest known one is `training.widths`"),
            "{found}"
        );
        let ground = "[[ground]]\nshare = 1.0\nshape = { kind = \"flat\" }\ntraining = 1\n";
        let found = refused(&write(&folder, "c.toml", ground), &[]);
        assert!(
            found.contains("c.toml:4:1: unknown key `ground[0].training` (known: share, shape)"),
            "{found}"
        );
    }

    #[test]
    fn a_value_of_the_wrong_type_or_out_of_range_is_told_with_its_place() {
        let folder = TempDir::new().unwrap();
        let base = write(&folder, "base.toml", "[training]\nsteps = 0\nrate = \"fast\"\n");
        let found = refused(&base, &[]);
        assert!(found.starts_with(&format!("{}:3:8: invalid type", base.display())), "{found}");
        let found = refused(&base, &["training.rate=1"]);
        let told = format!("{}:2:1: training.steps = 0 is out of range (allowed: 1 or more)", base.display());
        assert_eq!(found, told);
        let found = refused(
            &base,
            &["training.rate=1", "training.steps=1", "ground=[{share=2.0, shape={kind='flat'}}]"],
        );
        assert!(found.starts_with("--set ground=") && found.contains("ground[0].share = 2 "), "{found}");
        let broken = write(&folder, "broken.toml", "name = \"a\"\nname = \n");
        assert!(refused(&broken, &[]).contains("broken.toml:2:"), "{}", refused(&broken, &[]));
    }

    #[test]
    fn rejects_overlays_that_lead_back_to_themselves_go_too_deep_or_are_not_there() {
        let folder = TempDir::new().unwrap();
        write(&folder, "a.toml", "extends = \"b.toml\"\n");
        let b = write(&folder, "b.toml", "extends = \"./a.toml\"\n");
        let found = refused(&b, &[]);
        assert!(found.contains("a.toml:1:11: extends = \"b.toml\"") && found.contains("circle"), "{found}");
        for depth in 0..9 {
            write(&folder, &format!("{depth}.toml"), &format!("extends = \"{}.toml\"\n", depth + 1));
        }
        write(&folder, "9.toml", "");
        assert!(refused(&folder.path().join("0.toml"), &[]).contains("more than 8 files"));
        resolved(&folder.path().join("2.toml"), &[]).unwrap();
        let lost = write(&folder, "lost.toml", "extends = \"nowhere.toml\"\n");
        assert!(refused(&lost, &[]).contains("there is no file"));
        let number = write(&folder, "number.toml", "extends = 3\n");
        assert!(refused(&number, &[]).contains("give a string"));
    }

    #[test]
    fn rejects_settings_that_are_none() {
        let folder = TempDir::new().unwrap();
        let base = write(&folder, "base.toml", "");
        for (setting, words) in [
            ("training.steps", "it has no ="),
            ("=3", "is no key"),
            ("training.widths=[1,", "is no TOML value"),
            ("name=", "is no TOML value"),
            ("extends=base.toml", "unknown key `extends`"),
        ] {
            assert!(refused(&base, &[setting]).contains(words), "{}", refused(&base, &[setting]));
        }
    }
}
