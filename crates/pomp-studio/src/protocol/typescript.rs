//! The page's types are those of this module's messages.

use super::{FLOATS_EXTENSION, FromPage, ToPage};
use crate::ClipPackage;
use crate::clip_card::CardAnswer;
use crate::library::LibraryList;
use crate::rig_choice::RigChoice;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;
use ts_rs::{Config, TS, TypeVisitor};

const FILE: &str = "web/src/generated/protocol.ts";
/// Environment variable that has the file written anew.
const UPDATE: &str = "UPDATE_TYPES";

/// Declarations by name: those of the types that were visited and of all that they are made of.
struct Declarations {
    config: Config,
    found: BTreeMap<String, String>,
}

impl TypeVisitor for Declarations {
    fn visit<T: TS + 'static + ?Sized>(&mut self) {
        // Only types with a file of their own have a declaration.
        if T::output_path().is_none() || self.found.contains_key(&T::ident(&self.config)) {
            return;
        }
        let docs = T::docs().unwrap_or_default();
        let text = format!("{docs}export {}\n", T::decl(&self.config));
        self.found.insert(T::ident(&self.config), text);
        T::visit_dependencies(self);
        T::visit_generics(self);
    }
}

fn generated() -> String {
    let config = Config::new().with_large_int("number");
    let mut declarations = Declarations { config, found: BTreeMap::new() };
    declarations.visit::<FromPage>();
    declarations.visit::<ToPage>();
    declarations.visit::<ClipPackage>();
    declarations.visit::<LibraryList>();
    declarations.visit::<CardAnswer>();
    declarations.visit::<RigChoice>();
    let mut text = format!(
        "// Generated from the Rust types of crates/pomp-studio; do not edit. After a change of those types run\n\
         // `{UPDATE}=1 cargo test --release -p pomp-studio --lib the_types_of_the_page_are_current`.\n\n\
         /** MessagePack's extension type of a row of f32, little-endian. */\n\
         export const FLOATS_EXTENSION = {FLOATS_EXTENSION};\n"
    );
    for declaration in declarations.found.values() {
        write!(text, "\n{declaration}").expect("a string takes every text");
    }
    text
}

#[test]
fn the_types_of_the_page_are_current() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(FILE);
    let wanted = generated();
    if std::env::var_os(UPDATE).is_some() {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, &wanted).unwrap();
    }
    let found = std::fs::read_to_string(&path).unwrap_or_default().replace("\r\n", "\n");
    assert!(
        found == wanted,
        "{} is stale: run this test with {UPDATE}=1, then build the page",
        path.display()
    );
}
