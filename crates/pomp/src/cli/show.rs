//! Arguments of the commands that show motion: render and studio.

use clap::{Args, ValueHint};
use pomp_front::support::Support;
use std::net::IpAddr;
use std::path::PathBuf;

/// Arguments of `pomp render`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  pomp render walk.bvh --out walk.gif
  pomp render out/generate/rollout.npz --out sheet.png
  pomp render out/generate/rollout.npz --out rollout.html    one file that any browser plays, offline")]
pub struct RenderArguments {
    /// Motion file (.bvh, .glb, .gltf), recording or rollout.
    #[arg(value_hint = ValueHint::FilePath)]
    pub motion: PathBuf,
    /// File to write: .gif (animation), .png (contact sheet), .html (a page that plays the motion), or .rrd (for the Rerun
    /// viewer, if the program is built with the feature rerun).
    #[arg(long, value_hint = ValueHint::FilePath)]
    pub out: PathBuf,
    /// A rig map file of your own, tried before the built-in ones.
    #[arg(long, value_hint = ValueHint::FilePath)]
    pub rig: Vec<PathBuf>,
    /// Show the clip and the simulation side by side.
    #[arg(long)]
    pub side_by_side: bool,
}

/// Arguments of `pomp studio`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  pomp studio                                steer a character on its own feet
  pomp studio out/generate/rollout.npz       look at a rollout
  pomp studio data model --terrain rough     browse recordings, steer a model of your own
  pomp studio --model a --model b            choose between two models on the page

The page is reachable from this machine only, unless --address says otherwise; the printed URL then contains a token.")]
pub struct StudioArguments {
    /// What to show: clips (.bvh, .glb, .gltf), recordings and rollouts (.npz), folders of these, model folders, or a folder of model
    /// folders.
    pub shown: Vec<PathBuf>,
    /// A model folder that can be chosen on the page, besides the embedded models. The first one drives the character.
    #[arg(long, value_hint = ValueHint::DirPath)]
    pub model: Vec<PathBuf>,
    /// Port, overriding that of the configuration; 0 for any free port.
    #[arg(long)]
    pub port: Option<u16>,
    /// Address to listen on, overriding that of the configuration. With 0.0.0.0, other machines can connect, but only with the
    /// token.
    #[arg(long)]
    pub address: Option<IpAddr>,
    /// Print the address without opening a browser. By default, a browser is opened if the command runs in a terminal.
    #[arg(long)]
    pub no_browser: bool,
    /// Ground of the first scene (flat, slope, stairs, hills, rough, gaps, mixed).
    #[arg(long, default_value = "flat")]
    pub terrain: String,
    /// Seed of the first scene.
    #[arg(long, default_value_t = 0)]
    pub seed: u32,
    /// Configuration of the server; the defaults, listed in configs/studio.toml, if left out.
    #[arg(long, value_hint = ValueHint::FilePath)]
    pub config: Option<PathBuf>,
    /// Override a setting of the configuration: KEY.PATH=VALUE. May be given several times.
    #[arg(long, value_name = "KEY=VALUE")]
    pub set: Vec<String>,
    /// What holds the characters up: assist (a bounded external wrench on the pelvis) or own-feet (nothing from outside while they are up;
    /// a frame that searches for a correction takes up to 0.2 s, so that the motion halts for a moment). If left out, own-feet for the
    /// embedded model of all directions, and assist for other models.
    #[arg(long, value_name = "SUPPORT", conflicts_with = "generator")]
    pub support: Option<Support>,
    /// Configuration of the closed loop, over the settings of configs/generate.toml.
    #[arg(long, value_hint = ValueHint::FilePath)]
    pub generator: Option<PathBuf>,
    /// A rig map file of your own, tried before the built-in ones.
    #[arg(long, value_hint = ValueHint::FilePath)]
    pub rig: Vec<PathBuf>,
}
