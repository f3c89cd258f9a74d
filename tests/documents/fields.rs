//! The fields of configurations with their types and documentation, read from the sources of the structs themselves.

use std::collections::BTreeMap;
use std::fs;
use syn::{Attribute, Expr, Fields, GenericArgument, Item, Lit, Meta, PathArguments, Type, Variant};

/// A field of a table.
pub struct Field {
    pub name: String,
    pub docs: String,
    pub shape: Shape,
    /// What stands for it where it is left out, as far as the field itself says so.
    pub default: FieldDefault,
}

/// What a field itself says of being left out.
#[derive(Clone, PartialEq)]
pub enum FieldDefault {
    /// Nothing.
    None,
    /// The default of its type.
    OfType,
    /// The value of a function, as TOML.
    Value(String),
}

/// The form of a value.
#[derive(Clone)]
pub enum Shape {
    /// A plain value, in words.
    Plain(&'static str),
    /// Some number of values.
    List(Box<Shape>, Option<String>),
    Optional(Box<Shape>),
    /// A struct or an enum of the workspace: crate and name.
    Named(String, String),
}

/// A struct or an enum.
pub enum Definition {
    Table(Table),
    Choice(Choice),
}

pub struct Table {
    pub fields: Vec<Field>,
    /// Every field has a default.
    pub has_defaults: bool,
    /// It is written as its only field.
    pub transparent: bool,
}

pub struct Choice {
    /// The key that names the variant within the table of its fields, if there is one.
    pub tag: Option<String>,
    pub variants: Vec<Alternative>,
    pub default: Option<String>,
}

pub struct Alternative {
    pub name: String,
    pub docs: String,
    /// Fields of a variant that is a table.
    pub fields: Vec<Field>,
    /// What a variant with one unnamed field holds.
    pub payload: Option<Shape>,
}

/// All structs and enums that are read from files, by name and then by crate.
pub struct Sources {
    items: BTreeMap<String, BTreeMap<String, Item>>,
    /// The literals that functions give as defaults, as TOML, by crate and function.
    functions: BTreeMap<(String, String), String>,
}

impl Sources {
    /// Reads every source of every crate.
    pub fn read() -> Self {
        let mut found = Self { items: BTreeMap::new(), functions: BTreeMap::new() };
        let in_sources = |name: &str| name.contains("/src/") && name.ends_with(".rs");
        for name in super::files_below("crates", in_sources) {
            let text = fs::read_to_string(super::repository().join(&name)).unwrap();
            if text.contains("Deserialize") {
                let package = name.split('/').nth(1).unwrap().to_owned();
                let file = syn::parse_file(&text).unwrap_or_else(|error| panic!("{name}: {error}"));
                file.items.into_iter().for_each(|item| found.add(&package, item));
            }
        }
        found
    }

    fn add(&mut self, package: &str, item: Item) {
        let (name, attributes) = match &item {
            Item::Struct(item) => (item.ident.to_string(), &item.attrs),
            Item::Enum(item) => (item.ident.to_string(), &item.attrs),
            Item::Fn(item) => {
                if let [syn::Stmt::Expr(Expr::Lit(value), None)] = item.block.stmts.as_slice() {
                    let text = match &value.lit {
                        Lit::Bool(value) => value.value.to_string(),
                        Lit::Int(value) => value.base10_digits().to_owned(),
                        Lit::Float(value) => value.base10_digits().to_owned(),
                        _ => return,
                    };
                    self.functions.insert((package.to_owned(), item.sig.ident.to_string()), text);
                }
                return;
            }
            _ => return,
        };
        let derived = attributes.iter().filter(|attribute| attribute.path().is_ident("derive"));
        let mut is_read = false;
        for attribute in derived {
            attribute
                .parse_nested_meta(|meta| {
                    is_read |= meta.path.segments.last().is_some_and(|last| last.ident == "Deserialize");
                    Ok(())
                })
                .unwrap();
        }
        if is_read {
            self.items.entry(name).or_default().insert(package.to_owned(), item);
        }
    }

    /// A struct or an enum, as a type of `package` names it.
    pub fn definition(&self, package: &str, name: &str) -> Definition {
        let found = &self.items[name];
        let (package, item) = match (found.get_key_value(package), found.len()) {
            (Some(own), _) => own,
            (None, 1) => found.first_key_value().expect("there is one"),
            (None, _) => panic!("{name} is in several crates: {:?}", found.keys()),
        };
        match item {
            Item::Struct(item) => {
                let serde = serde_words(&item.attrs);
                Definition::Table(Table {
                    fields: self.fields(package, &item.fields),
                    has_defaults: serde.contains_key("default"),
                    transparent: serde.contains_key("transparent"),
                })
            }
            Item::Enum(item) => {
                let serde = serde_words(&item.attrs);
                let renamed = serde.get("rename_all").map(String::as_str);
                let is_default =
                    |variant: &&Variant| variant.attrs.iter().any(|a| a.path().is_ident("default"));
                Definition::Choice(Choice {
                    tag: serde.get("tag").cloned(),
                    variants: item
                        .variants
                        .iter()
                        .map(|variant| self.alternative(package, variant, renamed))
                        .collect(),
                    default: item
                        .variants
                        .iter()
                        .find(is_default)
                        .map(|variant| written(&variant.ident.to_string(), renamed)),
                })
            }
            _ => unreachable!("only structs and enums are kept"),
        }
    }

    /// Whether a variant is written as an empty table, `Flat {}`, and not as a word, `Flat`.
    pub fn is_empty_table(&self, package: &str, name: &str, variant: &str) -> bool {
        let Item::Enum(item) = &self.items[name][package] else { return false };
        let serde = serde_words(&item.attrs);
        let renamed = serde.get("rename_all").map(String::as_str);
        let found = item.variants.iter().find(|one| written(&one.ident.to_string(), renamed) == variant);
        found.is_some_and(|one| matches!(one.fields, Fields::Named(_)))
    }

    fn alternative(&self, package: &str, variant: &Variant, renamed: Option<&str>) -> Alternative {
        let (fields, payload) = match &variant.fields {
            Fields::Unnamed(one) if one.unnamed.len() == 1 => {
                (Vec::new(), Some(self.shape(package, &one.unnamed[0].ty)))
            }
            other => (self.fields(package, other), None),
        };
        let docs = docs(&variant.attrs);
        assert!(!docs.is_empty(), "{package}: the variant {} has no documentation", variant.ident);
        Alternative { name: written(&variant.ident.to_string(), renamed), docs, fields, payload }
    }

    fn fields(&self, package: &str, fields: &Fields) -> Vec<Field> {
        let field = |field: &syn::Field| {
            let serde = serde_words(&field.attrs);
            let default = match serde.get("default").map(String::as_str) {
                None => FieldDefault::None,
                Some("") => FieldDefault::OfType,
                Some(function) => FieldDefault::Value(self.value(package, function)),
            };
            let name = field.ident.as_ref().expect("a table names its fields").to_string();
            let docs = docs(&field.attrs);
            assert!(!docs.is_empty(), "{package}: the field {name} has no documentation");
            Field { name, docs, shape: self.shape(package, &field.ty), default }
        };
        fields.iter().map(field).collect()
    }

    fn value(&self, package: &str, function: &str) -> String {
        let value = self.functions.get(&(package.to_owned(), function.to_owned()));
        value.unwrap_or_else(|| panic!("{package}: {function} is no function that gives a literal")).clone()
    }

    fn shape(&self, package: &str, kind: &Type) -> Shape {
        let path = match kind {
            Type::Array(list) => {
                let count = match &list.len {
                    Expr::Lit(literal) => match &literal.lit {
                        Lit::Int(count) => count.base10_digits().to_owned(),
                        _ => panic!("{package}: a length is a number"),
                    },
                    _ => panic!("{package}: the length of a list in a configuration is a literal"),
                };
                return Shape::List(Box::new(self.shape(package, &list.elem)), Some(count));
            }
            Type::Path(path) => &path.path,
            _ => panic!("{package}: a configuration holds neither references nor tuples"),
        };
        let last = path.segments.last().expect("a path has a last part");
        let inner = || match &last.arguments {
            PathArguments::AngleBracketed(arguments) => match arguments.args.last() {
                Some(GenericArgument::Type(inner)) => Box::new(self.shape(package, inner)),
                _ => panic!("{package}: {} of what?", last.ident),
            },
            _ => panic!("{package}: {} of what?", last.ident),
        };
        match last.ident.to_string().as_str() {
            "f32" | "f64" => Shape::Plain("number"),
            "u16" | "u32" | "u64" | "usize" | "i32" => Shape::Plain("whole number"),
            "bool" => Shape::Plain("true or false"),
            "String" => Shape::Plain("text"),
            "PathBuf" => Shape::Plain("path"),
            "IpAddr" => Shape::Plain("IP address"),
            "Vec2" => Shape::List(Box::new(Shape::Plain("number")), Some("2".to_owned())),
            "Vec3" => Shape::List(Box::new(Shape::Plain("number")), Some("3".to_owned())),
            "Vec" => Shape::List(inner(), None),
            "BTreeMap" => match *inner() {
                Shape::Plain("number") => Shape::Plain("numbers by name"),
                _ => panic!("{package}: the reference knows maps to numbers alone"),
            },
            "Option" => Shape::Optional(inner()),
            name => {
                assert!(self.items.contains_key(name), "{package}: no source of the type {name}");
                let own = self.items[name].contains_key(package);
                let package =
                    if own { package } else { self.items[name].keys().next().expect("there is one") };
                Shape::Named(package.to_owned(), name.to_owned())
            }
        }
    }
}

/// The words of `#[serde(…)]` with what they are set to, or nothing.
fn serde_words(attributes: &[Attribute]) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    for attribute in attributes.iter().filter(|attribute| attribute.path().is_ident("serde")) {
        attribute
            .parse_nested_meta(|meta| {
                let value = match meta.value() {
                    Ok(value) => value.parse::<syn::LitStr>()?.value(),
                    Err(_) => String::new(),
                };
                let name = meta.path.get_ident().expect("a word").to_string();
                assert!(name != "flatten" && name != "rename", "the reference does not know serde({name})");
                found.insert(name, value);
                Ok(())
            })
            .expect("serde has accepted it");
    }
    found
}

/// The name of a variant in files.
fn written(name: &str, renamed: Option<&str>) -> String {
    let mark = match renamed {
        Some("snake_case") => '_',
        Some("kebab-case") => '-',
        None => return name.to_owned(),
        Some(other) => panic!("the reference does not know rename_all = {other}"),
    };
    let mut text = String::new();
    for letter in name.chars() {
        if letter.is_uppercase() && !text.is_empty() {
            text.push(mark);
        }
        text.extend(letter.to_lowercase());
    }
    text
}

/// The documentation as one line of markdown, its links to items as plain code.
fn docs(attributes: &[Attribute]) -> String {
    let lines = attributes.iter().filter_map(|attribute| match &attribute.meta {
        Meta::NameValue(meta) if meta.path.is_ident("doc") => match &meta.value {
            Expr::Lit(literal) => match &literal.lit {
                Lit::Str(line) => Some(line.value()),
                _ => None,
            },
            _ => None,
        },
        _ => None,
    });
    let text = lines.collect::<Vec<_>>().join(" ");
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    text.replace("[`", "`")
        .replace("`]", "`")
        .replace("`crate::", "`")
        .replace("`Self::", "`")
        .replace('|', "\\|")
}
