use crate::cli::StudioArguments;
use crate::{config_file, default_model, motion_file};
use anyhow::{Result, bail};
use burn::tensor::Device;
use pomp_generator::GeneratorConfig;
use pomp_model::Model;
use pomp_preprocess::PreprocessConfig;
use pomp_studio::{Library, Studio, StudioConfig, serve};
use pomp_terrain::PRESET_NAMES;
use std::process::ExitCode;

pub fn run(arguments: &StudioArguments) -> Result<ExitCode> {
    let mut config: StudioConfig = match &arguments.config {
        Some(path) => config_file::read(path)?,
        None => StudioConfig::default(),
    };
    if let Some(port) = arguments.port {
        config.port = port;
    }
    if let Some(address) = arguments.address {
        config.address = address;
    }
    let generator: GeneratorConfig = match &arguments.generator {
        Some(path) => config_file::read(path)?,
        None => GeneratorConfig::default(),
    };
    if !PRESET_NAMES.contains(&arguments.terrain.as_str()) {
        bail!("--terrain \"{}\": the terrains are {}", arguments.terrain, PRESET_NAMES.join(", "));
    }
    let device = Device::flex();
    let (mut model, mut library) = (None, Library::default());
    for path in &arguments.shown {
        if path.join("model.json").is_file() {
            if model.is_some() {
                bail!("{}: one model at a time moves the character; leave one out", path.display());
            }
            model = Some(Model::load(path, &device)?);
        } else {
            library.add(path)?;
        }
    }
    let model = match model {
        Some(model) => model,
        None => default_model::load(&device)?,
    };
    let studio = Studio {
        model,
        generator,
        preprocess: PreprocessConfig::default(),
        rigs: motion_file::rigs(&arguments.rig)?,
        library,
        terrain: arguments.terrain.clone(),
        seed: arguments.seed.into(),
    };
    serve(studio, &config, |started| {
        println!("The studio is open at {}", started.url);
        if !started.address.ip().is_loopback() {
            println!("Anyone with this URL may use it, and nothing on the way is encrypted.");
        }
        println!("Ctrl-C ends it.");
    })?;
    Ok(ExitCode::SUCCESS)
}
