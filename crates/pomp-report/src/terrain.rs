//! How well terrain reconstruction finds ground that is known, and how real feet lie on theirs.

use crate::output::json;
use pomp_motion::retarget::RigLibrary;
use pomp_preprocess::terrain_check::{
    CheckedGround, ProceduralFigures, RecordedFigures, procedural_figures, recorded_figures,
};
use pomp_preprocess::{Input, PreprocessConfig, PreprocessError};
use rayon::prelude::*;
use serde::Serialize;
use std::fmt::Write;

/// What the fit has to reach on known grounds, metres: root mean squares over the clips of a kind, the highest relief
/// of level ground, the farthest riser.
const UNDER_FEET_M: f32 = 0.02;
const CORRIDOR_M: f32 = 0.06;
const FLAT_RELIEF_M: f32 = 0.005;
const EDGE_M: f32 = 0.08;

/// Everything measured.
#[derive(Debug, Serialize)]
pub struct TerrainReport {
    /// Whether the procedural clips are within the limits.
    pub passed: bool,
    /// Clips on ground that is known.
    pub procedural: Vec<ProceduralFigures>,
    /// Recorded clips.
    pub recorded: Vec<RecordedFigures>,
    /// Clips whose ground was refused, with the reason.
    pub refused: Vec<String>,
}

/// Fits the ground of `count` procedural clips, drawn from seeds from `seed` on, and of recorded clips; `on_clip` is called
/// after each.
///
/// # Errors
/// A procedural clip cannot be made or fitted.
pub fn measure(
    (seed, count): (u64, u64),
    inputs: &[Input],
    config: &PreprocessConfig,
    rigs: &RigLibrary,
    on_clip: &(dyn Fn() + Sync),
) -> Result<TerrainReport, PreprocessError> {
    let procedural = (0..count)
        .into_par_iter()
        .map(|index| {
            let figures = procedural_figures(seed.wrapping_add(index), config);
            on_clip();
            figures
        })
        .collect::<Result<Vec<ProceduralFigures>, _>>()?;
    let outcomes: Vec<_> = inputs
        .par_iter()
        .map(|input| {
            let figures = recorded_figures(input, config, rigs);
            on_clip();
            figures
        })
        .collect();
    let (mut recorded, mut refused) = (Vec::new(), Vec::new());
    for outcome in outcomes {
        match outcome {
            Ok(figures) => recorded.push(figures),
            Err(error) => refused.push(error.to_string()),
        }
    }
    let passed = CheckedGround::ALL.iter().all(|&ground| Summary::of(ground, &procedural).passed());
    Ok(TerrainReport { passed, procedural, recorded, refused })
}

impl TerrainReport {
    /// The report as JSON.
    pub fn json(&self) -> String {
        json(self)
    }

    /// Tables of both kinds of clips, in cm.
    pub fn tables(&self) -> String {
        tables(self)
    }
}

/// The clips on one kind of ground, metres.
struct Summary {
    clips: usize,
    under_feet: [f32; 2],
    corridor: [f32; 2],
    relief: f32,
    edges: usize,
    edge: f32,
    ground: CheckedGround,
}

impl Summary {
    fn of(ground: CheckedGround, all: &[ProceduralFigures]) -> Self {
        let of: Vec<&ProceduralFigures> = all.iter().filter(|figures| figures.ground == ground).collect();
        let mean_and_worst = |value: &dyn Fn(&ProceduralFigures) -> f32| {
            let squares: f32 = of.iter().map(|figures| value(figures).powi(2)).sum();
            let worst = of.iter().map(|figures| value(figures)).fold(0.0f32, f32::max);
            [(squares / of.len().max(1) as f32).sqrt(), worst]
        };
        let edges: Vec<f32> = of.iter().flat_map(|figures| figures.edge_errors_m.iter().copied()).collect();
        Self {
            clips: of.len(),
            under_feet: mean_and_worst(&|figures| figures.under_feet_rmse_m),
            corridor: mean_and_worst(&|figures| figures.corridor_rmse_m),
            relief: of.iter().map(|figures| figures.relief_m).fold(0.0, f32::max),
            edges: edges.len(),
            edge: edges.into_iter().fold(0.0, f32::max),
            ground,
        }
    }

    fn passed(&self) -> bool {
        self.under_feet[0] <= UNDER_FEET_M
            && self.corridor[0] <= CORRIDOR_M
            && (self.ground != CheckedGround::Flat || self.relief <= FLAT_RELIEF_M)
            && self.edge <= EDGE_M
    }
}

fn tables(report: &TerrainReport) -> String {
    let mut text = String::new();
    let mut line =
        |parts: std::fmt::Arguments<'_>| writeln!(text, "{parts}").expect("a string takes all text");
    let cm = |metres: f32| format!("{:.2}", 100.0 * metres);
    line(format_args!("procedural clips, cm (root mean square over the clips, worst clip)"));
    line(format_args!("ground   clips  under feet   corridor     farthest riser"));
    for ground in CheckedGround::ALL {
        let s = Summary::of(ground, &report.procedural);
        let edges = if s.edges > 0 { format!("{} of {}", cm(s.edge), s.edges) } else { "-".to_owned() };
        line(format_args!(
            "{:8} {:5}  {:5} {:5}  {:5} {:5}  {edges}{}",
            ground.name(),
            s.clips,
            cm(s.under_feet[0]),
            cm(s.under_feet[1]),
            cm(s.corridor[0]),
            cm(s.corridor[1]),
            if s.passed() { "" } else { "  beyond the limit" }
        ));
    }
    line(format_args!(
        "limits: under feet {}, corridor {}, level ground {} high, risers {}",
        cm(UNDER_FEET_M),
        cm(CORRIDOR_M),
        cm(FLAT_RELIEF_M),
        cm(EDGE_M)
    ));
    if !report.recorded.is_empty() {
        line(format_args!(
            "\nrecorded clips, cm\nplanted median, p95  lifted inside >1 cm, p99  contradicting  ground"
        ));
        for f in &report.recorded {
            line(format_args!(
                "{:>14} {:>5}  {:>11.1} % {:>9}  {:>11.0} %  {:6} {}",
                cm(f.planted_m[0]),
                cm(f.planted_m[1]),
                100.0 * f.inside_share,
                cm(f.inside_m[0]),
                100.0 * f.fit.contradiction_share,
                f.fit.ground.name(),
                f.name
            ));
        }
        let within = |value: &dyn Fn(&RecordedFigures) -> f32, limit: f32| {
            report.recorded.iter().filter(|figures| value(figures) <= limit).count()
        };
        line(format_args!(
            "of {} clips: planted within 1.5 cm (median) in {}, within 4 cm (p95) in {}; at most 1 % of lifted feet inside in {}",
            report.recorded.len(),
            within(&|f| f.planted_m[0], 0.015),
            within(&|f| f.planted_m[1], 0.04),
            within(&|f| f.inside_share, 0.01)
        ));
    }
    for refused in &report.refused {
        line(format_args!("refused: {refused}"));
    }
    text
}
