//! Arguments of the commands that show motion: render and studio.

use clap::{Args, ValueHint};
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
    /// BVH or GLB file, recording or rollout.
    #[arg(value_hint = ValueHint::FilePath)]
    pub motion: PathBuf,
    /// What to write: .gif (moving), .png (contact sheet), .html (a page that plays it), or .rrd (for the rerun viewer, in a
    /// program built with the feature of that name).
    #[arg(long, value_hint = ValueHint::FilePath)]
    pub out: PathBuf,
    /// A rig map of your own, tried before the built-in ones.
    #[arg(long, value_hint = ValueHint::FilePath)]
    pub rig: Vec<PathBuf>,
    /// Show clip and simulation side by side.
    #[arg(long)]
    pub side_by_side: bool,
}

/// Arguments of `pomp studio`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  pomp studio                                steer the embedded model
  pomp studio out/generate/rollout.npz       look at a rollout
  pomp studio data model --terrain rough     browse recordings, steer a model of your own
  pomp studio --model a --model b            choose between two models on the page

The page is served on this machine alone, unless --address says otherwise; then the printed URL holds a token.")]
pub struct StudioArguments {
    /// What to show: clips (.bvh, .glb), recordings and rollouts (.npz), folders of them, and model folders or a folder of these.
    pub shown: Vec<PathBuf>,
    /// A model folder to choose on the page, beside the embedded one; the first moves the character.
    #[arg(long, value_hint = ValueHint::DirPath)]
    pub model: Vec<PathBuf>,
    /// Port; 0 for any free one. In place of the configuration's.
    #[arg(long)]
    pub port: Option<u16>,
    /// Address to listen on, in place of the configuration's: 0.0.0.0 lets other machines in, with the token alone.
    #[arg(long)]
    pub address: Option<IpAddr>,
    /// Print the address, and open no browser; without it one is opened when a person is at the terminal.
    #[arg(long)]
    pub no_browser: bool,
    /// Ground of the first scene (flat, slope, stairs, hills, rough, gaps, mixed).
    #[arg(long, default_value = "flat")]
    pub terrain: String,
    /// Seed of the first scene.
    #[arg(long, default_value_t = 0)]
    pub seed: u32,
    /// Settings of the server; without it the defaults, which configs/studio.toml lists.
    #[arg(long, value_hint = ValueHint::FilePath)]
    pub config: Option<PathBuf>,
    /// A setting in place of the configuration's, as often as needed: KEY.PATH=VALUE.
    #[arg(long, value_name = "KEY=VALUE")]
    pub set: Vec<String>,
    /// Settings of the loop; without it the defaults, which configs/generate.toml lists.
    #[arg(long, value_hint = ValueHint::FilePath)]
    pub generator: Option<PathBuf>,
    /// A rig map of your own, tried before the built-in ones.
    #[arg(long, value_hint = ValueHint::FilePath)]
    pub rig: Vec<PathBuf>,
}
