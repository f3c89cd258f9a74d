//! `pomp completions` and `pomp man`, both made from the definition of the command line.

use crate::cli::{Arguments, CompletionsArguments, ManArguments};
use crate::command::generate;
use anyhow::{Context, Result};
use clap::CommandFactory;
use std::io::Write;
use std::process::ExitCode;

pub fn completions(arguments: &CompletionsArguments) -> Result<ExitCode> {
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut Arguments::command(), "pomp", &mut script);
    print!("{}", String::from_utf8(script).context("the script is no UTF-8")?);
    std::io::stdout().flush()?;
    Ok(ExitCode::SUCCESS)
}

pub fn man(arguments: &ManArguments) -> Result<ExitCode> {
    let out = &arguments.out;
    generate::create_folder(out)?;
    clap_mangen::generate_to(Arguments::command(), out).with_context(|| {
        format!("{}: cannot write the pages; give another folder with --out", out.display())
    })?;
    println!(
        "the pages are in {}; read one with: man -l {}",
        out.display(),
        out.join("pomp-generate.1").display()
    );
    Ok(ExitCode::SUCCESS)
}
