//! Passes the linker of macOS the arguments for an extension module, whose Python symbols the interpreter provides.

fn main() {
    pyo3_build_config::add_extension_module_link_args();
}
