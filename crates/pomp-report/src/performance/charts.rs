use pomp_bench::performance::PerformanceReport;
use pomp_render::Plot;

/// Width of the charts, pixels.
pub(super) const WIDTH: u32 = 720;
/// Height of a chart with lines, pixels.
const HEIGHT: u32 = 300;
/// Height of a chart with bars without its bars, and of a bar, pixels.
const BARS: [u32; 2] = [130, 34];

/// Stages that one bar shows together, and its name. The order is that of a frame.
const PARTS: [(&str, &[&str]); 6] = [
    ("kinematic encoder", &["kinematic encoder"]),
    ("denoising steps", &["denoising steps"]),
    ("phases", &["phase decoder", "phase encoder"]),
    ("dynamics", &["dynamics"]),
    ("layers", &[]),
    ("the rest", &["window", "target", "observation", "history"]),
];

/// Parts that layers act in.
pub(super) const WITH_LAYERS: &[&str] = PARTS[5].1;

/// A chart of the page.
pub(super) struct Chart {
    /// Its name in the names of files.
    name: &'static str,
    /// What the page says of it.
    pub(super) alternative: &'static str,
    pub(super) plot: Plot,
    pub(super) height: u32,
}

impl Chart {
    /// Its file, relative to the page.
    pub(super) fn file(&self) -> String {
        format!("images/performance_{}.svg", self.name)
    }

    /// The picture in Markdown.
    pub(super) fn markdown(&self) -> String {
        format!("![{}]({})", self.alternative, self.file())
    }
}

/// All charts that there are figures for.
pub(super) fn all(report: &PerformanceReport) -> Vec<Chart> {
    [frame(report)]
        .into_iter()
        .chain(characters(report))
        .chain(terrains(report))
        .chain(rollouts(report))
        .collect()
}

/// A part of a frame on a ground, µs, in the order of the chart.
pub(super) fn parts(stages: &[pomp_bench::performance::StageTime]) -> Vec<(&'static str, f64)> {
    let of = |names: &[&str]| {
        stages.iter().filter(|stage| names.contains(&stage.stage.as_str())).collect::<Vec<_>>()
    };
    let rest = of(WITH_LAYERS);
    let bare: f64 = rest.iter().map(|stage| stage.without_layers_us).sum();
    let all: f64 = rest.iter().map(|stage| stage.us).sum();
    // A difference of two measurements: where layers cost less than their scatter, it may come out below zero.
    let layers = (all - bare).max(0.0);
    PARTS
        .iter()
        .map(|(name, names)| match *name {
            "layers" => ("layers", layers),
            "the rest" => ("the rest", all - layers),
            _ => (*name, of(names).iter().map(|stage| stage.us).sum()),
        })
        .collect()
}

/// Where the time of a frame goes: a bar per model and ground.
pub(super) fn frame(report: &PerformanceReport) -> Chart {
    let mut plot = Plot::new("Where the time of a frame goes").x_label("ms").stacked();
    let mut bars = 0;
    for model in &report.models {
        for ground in &model.grounds {
            bars += 1;
            for (part, us) in parts(&ground.stages) {
                plot = plot.bar_of(part, format!("{}, {}", model.name, ground.ground), us / 1e3, None);
            }
        }
    }
    let alternative = "Time of each part of a frame, stacked, by model and ground";
    Chart { name: "frame", alternative, plot, height: BARS[0] + BARS[1] * bars }
}

/// Points of a line, those with a value that a logarithmic axis has room for.
fn line(plot: Plot, name: &str, points: impl Iterator<Item = (f64, Option<f64>)>) -> Plot {
    let points = points.filter_map(|(x, y)| Some((x, y.filter(|y| *y > 0.0)?)));
    let (x, y): (Vec<f64>, Vec<f64>) = points.unzip();
    plot.series(name, &x, &y)
}

/// A chart with logarithmic axes.
fn growth(
    name: &'static str,
    alternative: &'static str,
    [title, x, y]: [&str; 3],
    lines: &[Line<'_>],
) -> Option<Chart> {
    let drawn = lines.iter().any(|(_, points)| points.iter().any(|(_, y)| y.is_some_and(|y| y > 0.0)));
    let empty = Plot::new(title).x_label(x).y_label(y).log_x().log_y();
    let plot = lines.iter().fold(empty, |plot, (name, points)| line(plot, name, points.iter().copied()));
    drawn.then_some(Chart { name, alternative, plot, height: HEIGHT })
}

type Line<'a> = (&'a str, Vec<(f64, Option<f64>)>);

const MIB: f64 = 1024.0 * 1024.0;

/// Growth with characters.
pub(super) fn characters(report: &PerformanceReport) -> Vec<Chart> {
    let rows = &report.characters;
    let at = |value: fn(&pomp_bench::performance::CharacterGrowth) -> Option<f64>| {
        rows.iter().map(|row| (row.characters as f64, value(row))).collect::<Vec<_>>()
    };
    let time = growth(
        "characters_time",
        "Time of a frame of a character over the number of characters, both axes logarithmic",
        ["Time of a frame", "characters", "µs per character"],
        &[("", at(|row| Some(row.frame_us)))],
    );
    let memory = growth(
        "characters_memory",
        "Memory of a character over the number of characters, both axes logarithmic",
        ["Memory", "characters", "MiB per character"],
        &[("", at(|row| row.bytes_each.map(|bytes| bytes / MIB)))],
    );
    time.into_iter().chain(memory).collect()
}

/// Growth with the ground.
pub(super) fn terrains(report: &PerformanceReport) -> Vec<Chart> {
    let rows = &report.terrains;
    let at = |value: fn(&pomp_bench::performance::TerrainGrowth) -> Option<f64>| {
        rows.iter().map(|row| (row.hectares, value(row))).collect::<Vec<_>>()
    };
    let time = growth(
        "terrain_time",
        "Times over the area of the terrain, both axes logarithmic",
        ["Times on hills", "hectares", "ms"],
        &[
            ("frame", at(|row| Some(row.frame_us / 1e3))),
            ("generating the heights", at(|row| Some(1e3 * row.generate_s))),
            ("building the world", at(|row| Some(1e3 * row.build_s))),
        ],
    );
    let memory = growth(
        "terrain_memory",
        "Memory over the area of the terrain, both axes logarithmic",
        ["Memory", "hectares", "MiB"],
        &[("", at(|row| row.bytes.map(|bytes| bytes / MIB)))],
    );
    time.into_iter().chain(memory).collect()
}

/// Growth with the length of a rollout.
pub(super) fn rollouts(report: &PerformanceReport) -> Vec<Chart> {
    let rows = &report.rollouts;
    let at = |value: fn(&pomp_bench::performance::RolloutGrowth) -> Option<f64>| {
        rows.iter().map(|row| (row.minutes, value(row))).collect::<Vec<_>>()
    };
    let time = growth(
        "rollout_time",
        "Time of a frame over the length of a rollout, both axes logarithmic",
        ["Time of a frame", "minutes", "µs"],
        &[
            ("last ten seconds", at(|row| Some(row.frame_us))),
            ("first ten seconds", at(|row| Some(row.first_frame_us))),
        ],
    );
    let memory = growth(
        "rollout_memory",
        "Memory over the length of a rollout, both axes logarithmic",
        ["Memory with the recorded frames", "minutes", "MiB"],
        &[("", at(|row| row.bytes.map(|bytes| bytes / MIB)))],
    );
    time.into_iter().chain(memory).collect()
}
