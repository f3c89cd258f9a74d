//! The texts that a configuration is put together from, as stretches of one imagined text: a span that the parser gives
//! says which file it lies in, whatever was merged into whatever.

use crate::ConfigError;
use std::path::{Path, PathBuf};
use toml::de::{DeTable, DeValue};

/// Files that may extend each other in a row.
const MOST_FILES: usize = 8;
/// The key by which a file names the one that it changes.
const EXTENDS: &str = "extends";

/// Where a configuration comes from.
#[derive(Clone, Copy, Debug)]
pub enum Origin<'a> {
    /// Defaults alone.
    Defaults,
    /// A file, and those that it extends.
    File(&'a Path),
    /// A text that comes with the program; `name` stands for it in messages.
    BuiltIn {
        /// Its name.
        name: &'a str,
        /// Its text.
        text: &'a str,
    },
}

struct Source {
    name: String,
    /// Its text, behind as many blanks as the sources before it are long.
    padded: String,
    start: usize,
    kind: Kind,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// What the type itself says: a value from it has no place.
    Default,
    File,
    /// An argument, whose name alone says where a value stands.
    Setting,
}

/// The texts, from the one that gives way to the one that wins.
#[derive(Default)]
pub(crate) struct Sources {
    list: Vec<Source>,
    end: usize,
}

impl Sources {
    /// Reads everything that `origin` and `settings` (`key.path=value`) stand for, over `defaults`.
    pub fn gather(
        defaults: Option<&str>,
        origin: Origin<'_>,
        settings: &[String],
    ) -> Result<Self, ConfigError> {
        let mut sources = Self::default();
        if let Some(text) = defaults {
            sources.add("the defaults".to_owned(), text, Kind::Default);
        }
        match origin {
            Origin::Defaults => {}
            Origin::BuiltIn { name, text } => sources.add(name.to_owned(), text, Kind::File),
            Origin::File(path) => sources.add_with_extended(path)?,
        }
        for setting in settings {
            let text = setting_text(setting)
                .map_err(|reason| ConfigError::BadSetting { setting: setting.clone(), reason })?;
            sources.add(format!("--set {setting}"), &text, Kind::Setting);
        }
        Ok(sources)
    }

    fn add(&mut self, name: String, text: &str, kind: Kind) {
        let start = self.end;
        let padded = format!("{}{text}", " ".repeat(start));
        self.end = padded.len() + 1;
        self.list.push(Source { name, padded, start, kind });
    }

    /// Adds the file that `path` extends, the one that this one extends, and so on, and last `path` itself.
    fn add_with_extended(&mut self, path: &Path) -> Result<(), ConfigError> {
        let mut chain: Vec<(PathBuf, String)> = Vec::new();
        let mut next = Some(path.to_path_buf());
        while let Some(path) = next {
            let text = std::fs::read_to_string(&path)
                .map_err(|source| ConfigError::Read { path: path.clone(), source })?;
            let text = text.strip_prefix('\u{feff}').unwrap_or(&text).to_owned();
            let mut alone = Self::default();
            alone.add(path.display().to_string(), &text, Kind::File);
            next = match alone.parsed(0)?.get(EXTENDS) {
                None => None,
                Some(value) => {
                    let place = alone.place(value.span().start);
                    let Some(file) = value.get_ref().as_str() else {
                        let message = "extends names a file: give a string".to_owned();
                        return Err(ConfigError::Invalid { place, message });
                    };
                    let other = path.parent().unwrap_or(Path::new("")).join(file);
                    let bad = |reason: String| {
                        Err(ConfigError::BadOverlay { place: place.clone(), file: file.to_owned(), reason })
                    };
                    let real = |path: &Path| path.canonicalize().ok();
                    let mut before = chain.iter().map(|(path, _)| path).chain([&path]);
                    if before.any(|seen| real(seen).is_some() && real(seen) == real(&other)) {
                        return bad("the file leads back to itself; break the circle".to_owned());
                    }
                    if chain.len() + 2 > MOST_FILES {
                        return bad(format!("more than {MOST_FILES} files in a row; put some together"));
                    }
                    if !other.is_file() {
                        return bad(format!(
                            "there is no file {}; the path is relative to this one",
                            other.display()
                        ));
                    }
                    Some(other)
                }
            };
            chain.push((path, text));
        }
        for (path, text) in chain.into_iter().rev() {
            self.add(path.display().to_string(), &text, Kind::File);
        }
        Ok(())
    }

    fn parsed(&self, index: usize) -> Result<DeTable<'_>, ConfigError> {
        DeTable::parse(&self.list[index].padded).map(toml::Spanned::into_inner).map_err(|error| {
            let place = self.place(error.span().map_or(self.list[index].start, |span| span.start));
            ConfigError::Invalid { place, message: error.message().to_owned() }
        })
    }

    /// All texts as one table: a later one's values replace an earlier one's, tables are merged key by key.
    pub fn merged(&self) -> Result<DeTable<'_>, ConfigError> {
        let mut merged = DeTable::new();
        for (index, source) in self.list.iter().enumerate() {
            let mut table = self.parsed(index)?;
            if source.kind == Kind::File {
                table.remove(EXTENDS);
            }
            merge(&mut merged, table);
        }
        Ok(merged)
    }

    fn at(&self, offset: usize) -> Option<&Source> {
        self.list.iter().rev().find(|source| source.start <= offset)
    }

    /// Whether a byte of the imagined text is one of the defaults.
    pub fn is_default(&self, offset: usize) -> bool {
        self.at(offset).is_none_or(|source| source.kind == Kind::Default)
    }

    /// Where a byte of the imagined text stands: `file:line:column`, or the setting.
    pub fn place(&self, offset: usize) -> String {
        let Some(source) = self.at(offset).filter(|source| source.kind == Kind::File) else {
            return self.at(offset).map_or_else(|| self.name(), |source| source.name.clone());
        };
        let before = source.padded.get(source.start..offset).unwrap_or_default();
        let line = before.matches('\n').count() + 1;
        let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
        format!("{}:{line}:{column}", source.name)
    }

    /// The last file, for what stands nowhere in particular.
    pub fn name(&self) -> String {
        let file = self.list.iter().rev().find(|source| source.kind == Kind::File);
        file.map_or_else(|| "the defaults".to_owned(), |source| source.name.clone())
    }
}

fn merge<'a>(below: &mut DeTable<'a>, above: DeTable<'a>) {
    for (key, mut value) in above {
        let name: &str = key.get_ref();
        if let DeValue::Table(new) = value.get_mut()
            && let Some(DeValue::Table(old)) = below.get_mut(name).map(toml::Spanned::get_mut)
        {
            merge(old, std::mem::take(new));
            continue;
        }
        // Not `insert` alone, which would keep the old key and its place.
        below.remove(name);
        below.insert(key, value);
    }
}

/// `key.path=value` as TOML; a value that is no TOML is a string.
fn setting_text(setting: &str) -> Result<String, String> {
    let (key, value) = setting.split_once('=').ok_or("it has no =")?;
    let (key, value) = (key.trim(), value.trim());
    if let Err(error) = DeTable::parse(&format!("{key} = 0")) {
        return Err(format!("\"{key}\" is no key: {}", error.message()));
    }
    let as_toml = format!("{key} = {value}");
    match DeTable::parse(&as_toml) {
        Ok(_) => Ok(as_toml),
        Err(error) if value.is_empty() || value.starts_with(['[', '{', '"', '\'']) => {
            Err(format!("\"{value}\" is no TOML value: {}", error.message()))
        }
        Err(_) => Ok(format!("{key} = {}", toml::Value::String(value.to_owned()))),
    }
}
