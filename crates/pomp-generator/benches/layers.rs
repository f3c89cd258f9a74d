//! The time that each layer takes, as a share of a frame: two loops take turns, one with the layer and one without it, so that a machine
//! whose speed changes slows both.
//!
//! `cargo bench -p pomp-generator --bench layers [-- LAYER]`

#![allow(clippy::print_stdout, reason = "a bench prints what it has measured")]

use pomp_embedded::Device;
use pomp_generator::{ControlPlan, FRAME_RATE_HZ, Generator, GeneratorConfig, LayersConfig, Preset};
use pomp_model::Model;
use std::time::Instant;

/// Ground and command of the measurement: the layers of the feet work hardest on stairs, the others do the same anywhere.
const GROUNDS: [(&str, Preset); 2] = [("flat", Preset::Walk), ("stairs", Preset::Walk)];
/// Frames that a loop runs before it is the other one's turn.
const TURN: usize = 10;
/// Turns of each loop that are measured, after one that is not.
const TURNS: usize = 100;

/// A walk of one loop, begun again where the plan ends.
struct Walk<'a> {
    model: &'a Model,
    config: GeneratorConfig,
    ground: &'static str,
    plan: ControlPlan,
    generator: Generator,
    left: usize,
}

impl<'a> Walk<'a> {
    fn new(model: &'a Model, config: GeneratorConfig, ground: &'static str, command: Preset) -> Self {
        let plan = ControlPlan::preset(command, 12.0, FRAME_RATE_HZ);
        let generator = begun(model, &config, ground, &plan);
        Self { model, config, ground, plan, generator, left: 600 }
    }

    /// Time of a frame over a turn, seconds.
    fn turn(&mut self) -> f64 {
        if self.left < TURN {
            self.generator = begun(self.model, &self.config, self.ground, &self.plan);
            self.left = 600;
        }
        self.left -= TURN;
        let begun = Instant::now();
        for _ in 0..TURN {
            self.generator.step(&self.plan, &[]).expect("a walk without pushes");
        }
        begun.elapsed().as_secs_f64() / TURN as f64
    }
}

fn begun(model: &Model, config: &GeneratorConfig, ground: &str, plan: &ControlPlan) -> Generator {
    let spec = pomp_terrain::preset(ground).expect("a preset");
    let terrain = pomp_terrain::generate(&spec, 7).expect("a preset is valid");
    Generator::new(model, terrain, config, plan.start_gait(), 5).expect("a valid loop")
}

fn quantile(sorted: &[f64], share: f64) -> f64 {
    sorted[((sorted.len() - 1) as f64 * share).round() as usize]
}

fn main() {
    // Cargo passes options of its own.
    let wanted: Vec<String> = std::env::args().skip(1).filter(|word| !word.starts_with('-')).collect();
    let model = pomp_embedded::load(&Device::flex()).expect("the embedded model is whole");
    println!("layer, ground: time of a frame with it; its share: median [quarter, three quarters]");
    for name in
        LayersConfig::NAMES.iter().filter(|name| wanted.is_empty() || wanted.iter().any(|w| w == *name))
    {
        for (ground, command) in GROUNDS {
            let mut walks = [true, false].map(|is_on| {
                let mut config = GeneratorConfig::default();
                *config.layers.enabled_mut(name).expect("a layer") = is_on;
                // At the model's own stature the layer does nothing.
                config.layers.stature.height_m = 1.65;
                Walk::new(&model, config, ground, command)
            });
            walks.iter_mut().for_each(|walk| _ = walk.turn());
            let (mut shares, mut times) = (Vec::new(), Vec::new());
            for turn in 0..TURNS {
                // Either goes first as often.
                let first = turn % 2;
                let mut taken = [0.0; 2];
                for walk in [first, 1 - first] {
                    taken[walk] = walks[walk].turn();
                }
                shares.push(1.0 - taken[1] / taken[0]);
                times.push(taken[0]);
            }
            shares.sort_by(f64::total_cmp);
            times.sort_by(f64::total_cmp);
            let [low, middle, high] = [0.25, 0.5, 0.75].map(|share| 100.0 * quantile(&shares, share));
            let frame_ms = 1e3 * quantile(&times, 0.5);
            println!("{name}, {ground}: {frame_ms:.2} ms; {middle:.1} % [{low:.1}, {high:.1}]");
        }
    }
}
