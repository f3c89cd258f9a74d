//! Tells the linker of macOS that the interpreter brings its own symbols.

fn main() {
    pyo3_build_config::add_extension_module_link_args();
}
