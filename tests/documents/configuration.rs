//! docs/reference_config.md: every key of every kind of configuration. Names, types and meanings are those of the structs and their
//! documentation, defaults those of the types, and ranges what the checks of the types answer to values that they refuse.

use super::fields::{Alternative, Choice, Definition, Field, FieldDefault, Shape, Sources, Table};
use pomp_config::{Fields, Origin, Validate, resolve_whole};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use toml::Value;

pub const PAGE: &str = "docs/reference_config.md";

const HEAD: &str = "\
# Configurations

<!-- Written by the test `documents` from the structs of the configurations: change these, then run the test with POMP_UPDATE=1. -->

Every key of every kind of configuration, by the kinds of `pomp config show`. The files are TOML. A file may begin with
`extends = \"OTHER.toml\"`, relative to itself: it changes what it names and leaves the rest. `--set KEY.PATH=VALUE` changes a key on
the command line. An unknown key and a value out of range are errors with file, line and column. Where the column of ranges is
empty, reading the file checks the type alone; the command may check more when it starts.
";

/// A kind of configuration.
pub struct Kind {
    name: &'static str,
    package: String,
    root: String,
    /// `None` where a file has to say everything.
    defaults: Option<Value>,
    /// What is allowed, by path.
    ranges: BTreeMap<String, BTreeSet<String>>,
}

impl Kind {
    /// One whose keys have defaults; `files` of `configs/` show keys that the defaults leave out.
    pub fn with_defaults<T>(name: &'static str, files: &[&str]) -> Self
    where
        T: DeserializeOwned + Serialize + Validate + Default,
    {
        let text = toml::to_string(&T::default()).unwrap();
        let defaults: Value = toml::from_str(&text).unwrap();
        let mut kind = Self::of::<T>(name);
        let shown = files.iter().map(|file| {
            let path = super::repository().join("configs").join(file);
            let resolved = pomp_config::resolve::<T>(Origin::File(&path), &[]).unwrap().config;
            toml::from_str(&toml::to_string(&resolved).unwrap()).unwrap()
        });
        let samples: Vec<Value> = [defaults.clone()].into_iter().chain(shown).collect();
        samples.iter().for_each(|sample| kind.probe::<T>(sample));
        kind.defaults = Some(defaults);
        kind
    }

    /// One of which a file says everything.
    pub fn whole<T: DeserializeOwned + Serialize + Validate>(name: &'static str, files: &[&str]) -> Self {
        let mut kind = Self::of::<T>(name);
        for file in files {
            let path = super::repository().join("configs").join(file);
            let resolved = resolve_whole::<T>(Origin::File(&path), &[]).unwrap().config;
            kind.probe::<T>(&toml::from_str(&toml::to_string(&resolved).unwrap()).unwrap());
        }
        kind
    }

    /// The same with the ranges of what only `sample` has.
    pub fn also<T: DeserializeOwned + Serialize + Validate>(mut self, sample: &T) -> Self {
        self.probe::<T>(&toml::from_str(&toml::to_string(sample).unwrap()).unwrap());
        self
    }

    fn of<T>(name: &'static str) -> Self {
        let path: Vec<&str> = std::any::type_name::<T>().split("::").collect();
        let (package, root) = (path[0].replace('_', "-"), path[path.len() - 1].to_owned());
        Self { name, package, root, defaults: None, ranges: BTreeMap::new() }
    }

    /// Puts values that are hardly ever allowed into every place of a configuration, and keeps what is said to that.
    fn probe<T: DeserializeOwned + Validate>(&mut self, sample: &Value) {
        let accepted = |value: &Value| {
            let config = value.clone().try_into::<T>().ok()?;
            Some(config.check(&Fields::root()))
        };
        assert_eq!(accepted(sample), Some(Ok(())), "{}: the sample is valid", self.name);
        for place in places(sample) {
            let path = place.path();
            for candidate in candidates(place.find(sample)) {
                let mut changed = sample.clone();
                *place.find_mut(&mut changed) = candidate;
                if let Some(Err(refused)) = accepted(&changed)
                    && without_indices(&refused.field) == path
                {
                    self.ranges.entry(path.clone()).or_default().insert(refused.allowed);
                }
            }
        }
    }
}

/// A way to a value: keys, and indices of lists of tables.
#[derive(Clone, Default)]
struct Place(Vec<Step>);

#[derive(Clone)]
enum Step {
    Key(String),
    Index(usize),
}

impl Place {
    fn then(&self, step: Step) -> Self {
        Self(self.0.iter().cloned().chain([step]).collect())
    }

    /// `ground[].share`.
    fn path(&self) -> String {
        let mut text = String::new();
        for step in &self.0 {
            match step {
                Step::Key(key) => text = joined(&text, key),
                Step::Index(_) => text.push_str("[]"),
            }
        }
        text
    }

    fn find<'a>(&self, value: &'a Value) -> &'a Value {
        self.0.iter().fold(value, |value, step| match step {
            Step::Key(key) => &value[key.as_str()],
            Step::Index(index) => &value[*index],
        })
    }

    fn find_mut<'a>(&self, value: &'a mut Value) -> &'a mut Value {
        self.0.iter().fold(value, |value, step| match step {
            Step::Key(key) => &mut value[key.as_str()],
            Step::Index(index) => &mut value[*index],
        })
    }
}

fn joined(path: &str, key: &str) -> String {
    if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") }
}

/// `ground[2].share` as `ground[].share`.
fn without_indices(path: &str) -> String {
    path.split('[')
        .map(|part| part.split_once(']').map_or(part, |(_, rest)| rest))
        .collect::<Vec<_>>()
        .join("[]")
}

/// Every place but those of tables.
fn places(value: &Value) -> Vec<Place> {
    let mut found = Vec::new();
    let mut open = vec![(Place::default(), value)];
    while let Some((place, value)) = open.pop() {
        match value {
            Value::Table(table) => {
                open.extend(table.iter().map(|(key, inner)| (place.then(Step::Key(key.clone())), inner)));
            }
            Value::Array(list) if list.iter().any(Value::is_table) => {
                open.extend(
                    list.iter().enumerate().map(|(index, inner)| (place.then(Step::Index(index)), inner)),
                );
                found.push(place);
            }
            _ => found.push(place),
        }
    }
    found
}

/// Values of a type that a range, if there is one, does not hold.
fn candidates(value: &Value) -> Vec<Value> {
    match value {
        Value::Integer(_) => {
            [0, 1, 3, i64::from(u16::MAX), i64::from(u32::MAX), i64::MAX].map(Value::Integer).to_vec()
        }
        Value::Float(_) => [f64::NAN, -1e30, 0.0].map(Value::Float).to_vec(),
        Value::String(_) => vec![Value::String(String::new())],
        Value::Array(list) => {
            let backwards = list.iter().rev().cloned().collect();
            let mut found = vec![Value::Array(Vec::new()), Value::Array(backwards)];
            if let Some(first) = list.first() {
                found.extend(candidates(first).into_iter().map(|one| Value::Array(vec![one; list.len()])));
            }
            found
        }
        Value::Boolean(_) | Value::Datetime(_) | Value::Table(_) => Vec::new(),
    }
}

/// The page; `about` says of each kind what it is for.
pub fn page(kinds: &[Kind], about: impl Fn(&str) -> String) -> String {
    let sources = Sources::read();
    let mut page = HEAD.to_owned();
    for kind in kinds {
        let links = match kind.defaults {
            Some(_) => "A key that is left out has its default.",
            None => "Required keys have no default.",
        };
        let about = about(kind.name);
        writeln!(page, "\n## {}\n\n{}. {links}", kind.name, about.trim_end_matches('.')).unwrap();
        let mut reference = Reference { kinds, kind, sources: &sources, page: &mut page, open: Vec::new() };
        reference.named(&kind.package, &kind.root, &[String::new()]);
    }
    page
}

/// A section that is still to be written: its paths, its documentation and what it holds.
struct Child {
    /// Name of the first field that it is of.
    first: String,
    paths: Vec<String>,
    docs: String,
    of: (String, String),
}

struct Reference<'a> {
    kinds: &'a [Kind],
    kind: &'a Kind,
    sources: &'a Sources,
    page: &'a mut String,
    /// Types that are being described: a shape of terrain may hold further ones.
    open: Vec<(String, String)>,
}

impl Reference<'_> {
    fn named(&mut self, package: &str, name: &str, paths: &[String]) {
        let of = (package.to_owned(), name.to_owned());
        if self.open.contains(&of) {
            self.page.push_str("\nThe same keys again.\n");
            return;
        }
        self.open.push(of);
        match self.sources.definition(package, name) {
            Definition::Table(table) => self.table(&table.fields, paths, table.has_defaults),
            Definition::Choice(choice) => self.choice(&choice, paths),
        }
        self.open.pop();
    }

    fn table(&mut self, fields: &[Field], paths: &[String], has_defaults: bool) {
        let mut children: Vec<Child> = Vec::new();
        let mut rows = String::new();
        for field in fields {
            let own: Vec<String> = paths.iter().map(|path| joined(path, &field.name)).collect();
            let shape = self.resolved(&field.shape);
            let left_out = if self.is_optional(&shape) { " May be left out." } else { "" };
            if let Some((of, is_list)) = self.section(&shape)
                && self.other_kind(&of).is_none()
            {
                let own = own.into_iter().map(|path| if is_list { path + "[]" } else { path });
                match children.iter_mut().find(|child| child.of == of && !is_list) {
                    Some(child) => {
                        if child.paths.len() == paths.len() {
                            child.docs = format!("`{}`: {}", child.first, child.docs);
                        }
                        child.paths.extend(own);
                        write!(child.docs, " `{}`: {}", field.name, field.docs).unwrap();
                    }
                    None => {
                        let (first, docs) = (field.name.clone(), field.docs.clone() + left_out);
                        children.push(Child { first, paths: own.collect(), docs, of });
                    }
                }
                continue;
            }
            let default = self.default(field, &shape, &own, has_defaults);
            let ranges: BTreeSet<&String> =
                own.iter().filter_map(|path| self.kind.ranges.get(path)).flatten().collect();
            let range = ranges.into_iter().cloned().collect::<Vec<_>>().join("; ");
            let meaning = format!("{}{}", field.docs, self.alternatives(&shape, &own));
            writeln!(
                rows,
                "| `{}` | {} | {default} | {range} | {meaning} |",
                field.name,
                self.type_name(&shape)
            )
            .unwrap();
            if let Some(choice) = self.choice_of(&shape)
                && choice
                    .variants
                    .iter()
                    .any(|variant| !variant.fields.is_empty() || self.payload(variant).is_some())
                && let Some(of) = self.name_of(&shape)
            {
                children.push(Child { first: field.name.clone(), paths: own, docs: String::new(), of });
            }
        }
        if !rows.is_empty() {
            writeln!(
                self.page,
                "\n| key | type | default | range | meaning |\n|---|---|---|---|---|\n{}",
                rows.trim_end()
            )
            .unwrap();
        }
        for child in children {
            let (package, name) = &child.of;
            if !child.docs.is_empty() {
                let headings: Vec<String> = child.paths.iter().map(|path| heading(path)).collect();
                writeln!(self.page, "\n### {}\n\n{}", headings.join(", "), child.docs).unwrap();
            }
            self.named(package, name, &child.paths);
        }
    }

    /// The fields of the alternatives of a choice, each under a heading of its own.
    fn choice(&mut self, choice: &Choice, paths: &[String]) {
        for variant in &choice.variants {
            for path in paths {
                let tag = choice.tag.as_ref();
                let inner = if tag.is_some() { path.clone() } else { joined(path, &variant.name) };
                let title = tag.map_or_else(
                    || heading(&inner),
                    |tag| format!("{} with `{tag} = \"{}\"`", heading(path), variant.name),
                );
                if !variant.fields.is_empty() {
                    writeln!(self.page, "\n### {title}\n\n{}", variant.docs).unwrap();
                    self.table(&variant.fields, &[inner], false);
                } else if let Some((package, name)) = self.payload(variant) {
                    let inner = inner + "[]";
                    writeln!(self.page, "\n### {}\n\n{}", heading(&inner), variant.docs).unwrap();
                    self.named(&package, &name, &[inner]);
                }
            }
        }
    }

    /// The table that an alternative holds a list of.
    fn payload(&self, variant: &Alternative) -> Option<(String, String)> {
        match variant.payload.as_ref().map(|shape| self.section(shape)) {
            Some(Some((of, true))) => Some(of),
            _ => None,
        }
    }

    /// A shape without the structs that are written as their only field.
    fn resolved(&self, shape: &Shape) -> Shape {
        if let Shape::Named(package, name) = shape
            && let Definition::Table(Table { fields, transparent: true, .. }) =
                self.sources.definition(package, name)
        {
            return self.resolved(&fields[0].shape);
        }
        shape.clone()
    }

    fn is_optional(&self, shape: &Shape) -> bool {
        matches!(shape, Shape::Optional(_))
    }

    /// The struct that a value is a table of, or a list of tables of; also an enum in a list.
    fn section(&self, shape: &Shape) -> Option<((String, String), bool)> {
        match shape {
            Shape::Optional(inner) => self.section(inner),
            Shape::List(inner, None) => match &**inner {
                Shape::Named(package, name) => match self.sources.definition(package, name) {
                    Definition::Choice(choice) if choice.tag.is_none() => None,
                    _ => Some(((package.clone(), name.clone()), true)),
                },
                _ => None,
            },
            Shape::Named(package, name) => match self.sources.definition(package, name) {
                Definition::Table(_) => Some(((package.clone(), name.clone()), false)),
                Definition::Choice(_) => None,
            },
            _ => None,
        }
    }

    fn name_of(&self, shape: &Shape) -> Option<(String, String)> {
        match shape {
            Shape::Named(package, name) => Some((package.clone(), name.clone())),
            Shape::Optional(inner) | Shape::List(inner, _) => self.name_of(inner),
            Shape::Plain(_) => None,
        }
    }

    fn choice_of(&self, shape: &Shape) -> Option<Choice> {
        let (package, name) = self.name_of(shape)?;
        match self.sources.definition(&package, &name) {
            Definition::Choice(choice) => Some(choice),
            Definition::Table(_) => None,
        }
    }

    /// The other kind of configuration that a struct is the root of.
    fn other_kind(&self, (_, name): &(String, String)) -> Option<&Kind> {
        self.kinds.iter().find(|kind| kind.root == *name && kind.name != self.kind.name)
    }

    fn type_name(&self, shape: &Shape) -> String {
        match shape {
            Shape::Plain(name) => (*name).to_owned(),
            Shape::Optional(inner) => self.type_name(inner),
            Shape::List(inner, count) => {
                let inner = self.type_name(inner);
                let count = count.as_ref().map_or_else(String::new, |count| format!("{count} × "));
                format!("list of {count}{inner}")
            }
            Shape::Named(package, name) => match self.sources.definition(package, name) {
                Definition::Table(_) => "table".to_owned(),
                Definition::Choice(_) => "choice".to_owned(),
            },
        }
    }

    /// What may be chosen, each on a line of its own, and where the keys of a table are listed that is a kind of its own.
    fn alternatives(&self, shape: &Shape, paths: &[String]) -> String {
        if let Some((of, _)) = self.section(shape)
            && let Some(other) = self.other_kind(&of)
        {
            let differing: Vec<String> = paths.iter().flat_map(|path| self.differing(path, other)).collect();
            let told = if differing.is_empty() {
                String::new()
            } else {
                format!("; other defaults: {}", differing.join(", "))
            };
            return format!(" The keys are those of [{0}](#{0}){told}.", other.name);
        }
        let Some(choice) = self.choice_of(shape) else { return String::new() };
        let mut text = String::new();
        for variant in &choice.variants {
            let name = &variant.name;
            let form = match (&choice.tag, &variant.payload) {
                (Some(tag), _) if variant.fields.is_empty() => format!("{{ {tag} = \"{name}\" }}"),
                (Some(tag), _) => format!("{{ {tag} = \"{name}\", … }}"),
                (None, Some(payload)) => format!("{{ {name} = {} }}", self.example(payload)),
                (None, None) if variant.fields.is_empty() && !self.is_empty_table(shape, name) => {
                    format!("\"{name}\"")
                }
                (None, None) if variant.fields.is_empty() => format!("{{ {name} = {{}} }}"),
                (None, None) => {
                    let keys: Vec<String> =
                        variant.fields.iter().map(|field| format!("{} = …", field.name)).collect();
                    format!("{{ {name} = {{ {} }} }}", keys.join(", "))
                }
            };
            write!(text, "<br>`{form}`: {}", variant.docs).unwrap();
            if let Some(payload) = &variant.payload {
                text.push_str(&self.alternatives(payload, &[]));
            }
        }
        text
    }

    /// Whether a variant without fields is written as an empty table.
    fn is_empty_table(&self, shape: &Shape, variant: &str) -> bool {
        let (package, name) = self.name_of(shape).expect("a choice has a name");
        self.sources.is_empty_table(&package, &name, variant)
    }

    fn example(&self, payload: &Shape) -> String {
        match payload {
            Shape::List(_, _) => "[…]".to_owned(),
            Shape::Named(package, name) => match self.sources.definition(package, name) {
                Definition::Table(_) => "{ … }".to_owned(),
                Definition::Choice(_) => "\"…\"".to_owned(),
            },
            _ => "…".to_owned(),
        }
    }

    /// Defaults in which a section differs from the kind that it is of.
    fn differing(&self, path: &str, other: &Kind) -> Vec<String> {
        let (Some(mine), Some(theirs)) =
            (self.kind.defaults.as_ref().and_then(|all| at(all, path)), &other.defaults)
        else {
            return Vec::new();
        };
        let differs = |place: &Place| place.find(mine) != place.find(theirs);
        let mut found: Vec<String> = places(mine)
            .iter()
            .filter(|place| differs(place))
            .map(|place| format!("`{} = {}`", place.path(), place.find(mine)))
            .collect();
        found.sort();
        found
    }

    fn default(&self, field: &Field, shape: &Shape, paths: &[String], has_defaults: bool) -> String {
        if let Some(all) = &self.kind.defaults {
            let found: Vec<Option<String>> =
                paths.iter().map(|path| at(all, path).map(Value::to_string)).collect();
            if let [Some(first), rest @ ..] = found.as_slice() {
                if rest.iter().all(|other| other.as_ref() == Some(first)) {
                    let is_section = self.section(shape).is_some();
                    return if is_section { String::new() } else { format!("`{first}`") };
                }
                let each = paths.iter().zip(&found).map(|(path, value)| {
                    let name = path.rsplit('.').nth(1).unwrap_or(path);
                    format!("{name} `{}`", value.as_deref().unwrap_or("none"))
                });
                return each.collect::<Vec<_>>().join(", ");
            }
        }
        if matches!(shape, Shape::Optional(_)) {
            return "none".to_owned();
        }
        match &field.default {
            FieldDefault::Value(value) => format!("`{value}`"),
            FieldDefault::None if !has_defaults => "required".to_owned(),
            FieldDefault::None | FieldDefault::OfType => match shape {
                Shape::Plain("true or false") => "`false`".to_owned(),
                Shape::Plain("number") => "`0.0`".to_owned(),
                Shape::Plain("whole number") => "`0`".to_owned(),
                Shape::Plain("numbers by name") => "`{}`".to_owned(),
                Shape::Plain(_) => "`\"\"`".to_owned(),
                Shape::List(_, _) => "`[]`".to_owned(),
                _ => self.choice_of(shape).and_then(|choice| choice.default).map_or_else(
                    || panic!("{}: its default is not known", paths[0]),
                    |name| format!("`\"{name}\"`"),
                ),
            },
        }
    }
}

/// The value at a path; nothing within lists.
fn at<'a>(value: &'a Value, path: &str) -> Option<&'a Value> {
    path.split('.').try_fold(value, |value, key| value.get(key))
}

/// A path as the heading of a section of a TOML file.
fn heading(path: &str) -> String {
    let bare = path.replace("[]", "");
    if path.ends_with("[]") { format!("`[[{bare}]]`") } else { format!("`[{bare}]`") }
}
