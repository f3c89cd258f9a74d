use crate::cli::StudioArguments;
use crate::{config_file, default_model, errors, motion_file};
use anyhow::{Context, Result};
use burn::tensor::Device;
use pomp_front::support::Support;
use pomp_generator::GeneratorConfig;
use pomp_model::Model;
use pomp_preprocess::PreprocessConfig;
use pomp_studio::{Library, NamedModel, Studio, StudioConfig, serve};
use pomp_terrain::PRESET_NAMES;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Names of the models that come with the program: that of all directions, on its own feet, and the compact one.
const ALL_DIRECTIONS: &str = "all directions";
const EMBEDDED: &str = "embedded";

pub fn run(arguments: &StudioArguments) -> Result<ExitCode> {
    let mut config =
        config_file::over_defaults::<StudioConfig>(arguments.config.as_deref(), &arguments.set)?.checked()?;
    if let Some(port) = arguments.port {
        config.port = port;
    }
    if let Some(address) = arguments.address {
        config.address = address;
    }
    let generator = match &arguments.generator {
        Some(file) => config_file::over_defaults::<GeneratorConfig>(Some(file), &[])?.checked()?,
        None => arguments.support.unwrap_or(Support::Assist).defaults(),
    };
    if !PRESET_NAMES.contains(&arguments.terrain.as_str()) {
        return Err(errors::unknown("--terrain: ", "preset", &arguments.terrain, PRESET_NAMES));
    }
    let device = Device::flex();
    let (mut models, mut library) =
        (Models { generator: generator.clone(), named: Vec::new() }, Library::default());
    for path in &arguments.model {
        models.add(path, &device)?;
    }
    for path in &arguments.shown {
        let within = if is_model(path) { vec![path.clone()] } else { models_within(path)? };
        if within.is_empty() {
            library.add(path)?;
        }
        for model in within {
            models.add(&model, &device)?;
        }
    }
    let mut models = models.named;
    // It walks on its own feet only, and needs a loop that knows it.
    if arguments.generator.is_none() && arguments.support != Some(Support::Assist) {
        let (name, generator) = (ALL_DIRECTIONS.to_owned(), GeneratorConfig::own_feet_unrolled());
        models.push(NamedModel { name, model: pomp_front::model::load_unrolled(&device)?, generator });
    }
    models.push(NamedModel { name: EMBEDDED.to_owned(), model: default_model::load(&device)?, generator });
    let studio = Studio {
        models,
        preprocess: PreprocessConfig::default(),
        rigs: motion_file::rigs(&arguments.rig)?,
        library,
        terrain: arguments.terrain.clone(),
        seed: arguments.seed.into(),
    };
    serve(studio, &config, |started| {
        println!("The studio is open at {}", started.url);
        if !arguments.no_browser
            && std::io::stdout().is_terminal()
            && let Err(error) = open::that_detached(&started.url)
        {
            tracing::debug!("no browser was opened: {error}");
        }
        if !started.address.ip().is_loopback() {
            println!("Anyone with this URL may use it, and nothing on the way is encrypted.");
        }
        println!("Ctrl-C ends it.");
    })?;
    Ok(ExitCode::SUCCESS)
}

fn is_model(path: &Path) -> bool {
    path.join("model.json").is_file()
}

/// The models in a folder that is none itself, by name.
fn models_within(path: &Path) -> Result<Vec<PathBuf>> {
    if !path.is_dir() {
        return Ok(Vec::new());
    }
    let entries = std::fs::read_dir(path).with_context(|| path.display().to_string())?;
    let paths: std::io::Result<Vec<PathBuf>> = entries.map(|entry| entry.map(|entry| entry.path())).collect();
    let mut models = paths.with_context(|| path.display().to_string())?;
    models.retain(|path| is_model(path));
    models.sort();
    Ok(models)
}

/// Models under names of their own.
struct Models {
    /// Settings of the loop of each.
    generator: GeneratorConfig,
    named: Vec<NamedModel>,
}

impl Models {
    fn add(&mut self, path: &Path, device: &Device) -> Result<()> {
        let model = Model::load(path, device)?;
        let plain = path.canonicalize().ok().and_then(|path| Some(path.file_name()?.to_str()?.to_owned()));
        let plain = plain.unwrap_or_else(|| path.display().to_string());
        let taken = |name: &String| {
            [ALL_DIRECTIONS, EMBEDDED].contains(&name.as_str())
                || self.named.iter().any(|named| named.name == *name)
        };
        let numbered = (2..).map(|number| format!("{plain} {number}"));
        let name = std::iter::once(plain.clone()).chain(numbered).find(|name| !taken(name)).unwrap_or(plain);
        self.named.push(NamedModel { name, model, generator: self.generator.clone() });
        Ok(())
    }
}
