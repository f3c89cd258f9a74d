use super::charts::{self, Chart, WITH_LAYERS};
use pomp_bench::performance::{
    KNOWN_PEERS, ModelTimes, PerformanceConfig, PerformanceReport, Precision, Spread, TogetherTime,
};
use pomp_motion::statistics::median;
use std::fmt::Write;

const KIB: f64 = 1024.0;
const MIB: f64 = KIB * KIB;

/// The page. It is a function of the report alone: the same figures give the same page.
pub fn markdown(report: &PerformanceReport) -> String {
    let mut page = Page(String::new());
    head(&mut page, report);
    frames(&mut page, report);
    parts(&mut page, report);
    controllers(&mut page, report);
    growth(&mut page, report);
    limits(&mut page, report);
    peers(&mut page, report);
    page.0
}

/// Text that grows by lines.
struct Page(String);

impl Page {
    fn line(&mut self, line: impl AsRef<str>) {
        writeln!(self.0, "{}", line.as_ref()).expect("a string takes all text");
    }

    /// A paragraph.
    fn text(&mut self, text: impl AsRef<str>) {
        self.line(wrapped(text.as_ref()));
        self.line("");
    }

    fn table(&mut self, head: &[&str], rows: impl IntoIterator<Item = Vec<String>>) {
        self.line(format!("| {} |", head.join(" | ")));
        self.line(format!("|{}", "---|".repeat(head.len())));
        for row in rows {
            self.line(format!("| {} |", row.join(" | ")));
        }
        self.line("");
    }

    fn charts(&mut self, charts: &[Chart]) {
        for chart in charts {
            self.line(chart.markdown());
            self.line("");
        }
    }
}

/// A paragraph in lines of 140 characters at most.
fn wrapped(text: &str) -> String {
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        let line = lines.last_mut().expect("there is a line");
        if !line.is_empty() && line.chars().count() + 1 + word.chars().count() > 140 {
            lines.push(word.to_owned());
            continue;
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    lines.join("\n")
}

/// A number with three significant digits.
fn number(value: f64) -> String {
    match value.abs() {
        v if v >= 99.95 => format!("{value:.0}"),
        v if v >= 9.995 => format!("{value:.1}"),
        v if v >= 0.9995 || v == 0.0 => format!("{value:.2}"),
        v if v >= 0.0995 => format!("{value:.3}"),
        _ => format!("{value:.4}"),
    }
}

fn spread(spread: &Spread) -> String {
    format!("{} ({}–{})", number(spread.median), number(spread.least), number(spread.most))
}

fn or_dash(value: Option<f64>) -> String {
    value.map_or("–".to_owned(), number)
}

fn head(page: &mut Page, report: &PerformanceReport) {
    let PerformanceReport { machine, config, .. } = report;
    page.line("# Performance");
    page.line("");
    page.line("<!-- Written by `pomp bench performance` from the figures in performance.json: run the command below again. -->");
    page.line("");
    page.text(
        "This page says what a frame of the closed loop costs on one machine, where the time goes, how the cost grows, and how far \
         it is from what the machine can do. One command measures all of it and writes the page, its figures \
         ([performance.json](performance.json)) and its charts. Times of another machine differ; compare ratios.",
    );
    page.line("```sh");
    page.line(&report.command);
    page.line("```");
    page.line("");
    if !report.complete {
        page.text(
            "**This is not the complete measurement**: the settings below differ from the defaults, and some of the figures scatter \
             more or are missing. `pomp bench performance --out docs` measures everything.",
        );
    }
    let caches: Vec<String> =
        machine.caches.iter().map(|cache| format!("level {}: {}", cache.level, cache.size)).collect();
    let load = report.load_average.map(or_dash);
    let rows = [
        ("program", report.made_by.clone()),
        ("processor", machine.processor.clone()),
        ("system", machine.system.clone()),
        ("instruction sets", machine.instruction_sets.join(", ")),
        ("registers of the networks", format!("{} bits", machine.register_bits)),
        ("cores", machine.cores.to_string()),
        ("data caches of a core", caches.join(", ")),
        ("memory", format!("{} GiB", or_dash(machine.memory_bytes.map(|bytes| bytes as f64 / MIB / KIB)))),
        ("load average before and after", load.join(", ")),
        ("beside it", report.remark.clone().unwrap_or_else(|| "not told (`--remark`)".to_owned())),
        ("duration", format!("{} s", number(report.wall_s))),
        ("settings", settings(config)),
    ];
    page.table(
        &["", ""],
        rows.into_iter().map(|(name, value)| {
            vec![name.to_owned(), if value.is_empty() { "not known".to_owned() } else { value }]
        }),
    );
    page.text(format!(
        "Times of frames, rates and limits were measured {} each, in turn. Tables give the median, and in parentheses the least and \
         the largest value. The model of the growth is {}. All commands are `walk` and without pushes, unless said otherwise; all \
         settings of the loop are those of configs/generate.toml, with the external root assist. `float32` and `tiles` behind the name \
         of a model stand for `precision = \"float32\"` and `\"bfloat16_tiles\"`; without one it is `\"bfloat16\"`.",
        times(config.repetitions),
        report.models.first().map_or("", |model| &model.name),
    ));
}

/// The settings that were measured with, on one line.
fn settings(config: &PerformanceConfig) -> String {
    let PerformanceConfig { repetitions, frame_s, ensemble_rollouts, ensemble_s, .. } = config;
    format!(
        "{repetitions} repetitions, {frame_s} s of frames each, ensembles of {ensemble_rollouts} rollouts of {ensemble_s} s"
    )
}

fn times(count: usize) -> String {
    if count == 1 { "once".to_owned() } else { format!("{count} times") }
}

fn frames(page: &mut Page, report: &PerformanceReport) {
    page.line("## A frame");
    page.line("");
    page.text(
        "A frame is 1/60 s, or 16.7 ms, of one character. The times are those that `pomp generate --clock` records, without the first \
         second and a half, in which no phases are read.",
    );
    let rows = report.models.iter().flat_map(|model| {
        model.grounds.iter().map(|ground| {
            let in_real_time = 1e3 / 60.0 / ground.p50_ms.median;
            vec![
                model.name.clone(),
                ground.ground.clone(),
                spread(&ground.p50_ms),
                spread(&ground.p99_ms),
                number(in_real_time),
            ]
        })
    });
    page.table(&["model", "ground", "p50, ms", "p99, ms", "times faster than real time"], rows);
    page.text(
        "`pomp generate --count` makes up to eight rollouts at a time in each thread and evaluates their networks together. Rates \
         include the writing of the files; the ground is level.",
    );
    let rows = report.models.iter().flat_map(|model| {
        let alone = model.ensembles.first().map(|rate| rate.frames_per_s.median);
        model.ensembles.iter().map(move |rate| {
            let median = rate.frames_per_s.median;
            vec![
                model.name.clone(),
                rate.threads.to_string(),
                spread(&rate.frames_per_s),
                number(median / rate.threads as f64),
                number(median / alone.unwrap_or(median)),
            ]
        })
    });
    page.table(&["model", "threads", "frames per second", "per thread", "ratio to one thread"], rows);
    together(page, report);
    if report.machine.cores < 2 {
        page.text("This machine lends the program one core, so that two threads cannot be faster than one.");
    }
}

/// Times of characters whose networks are evaluated together.
fn together(page: &mut Page, report: &PerformanceReport) {
    let counts = report.models.first().map_or(&[][..], |model| &model.together);
    if counts.is_empty() {
        return;
    }
    page.text(
        "Characters in worlds of their own, whose networks are evaluated together in one thread (`pomp_generator::Worlds`): the time of \
         a frame of one of them, ms, on level ground, without files.",
    );
    let rows = report.models.iter().map(|model| {
        let times = model.together.iter().map(|time| spread(&scaled(&time.frame_us, 1e-3)));
        let ends = model.together.first().zip(model.together.last());
        let ratio = ends.map(|(first, last)| number(first.frame_us.median / last.frame_us.median));
        std::iter::once(model.name.clone()).chain(times).chain(ratio).collect()
    });
    let of_many = |time: &TogetherTime| format!("{} together", time.characters);
    let headings: Vec<String> = counts.iter().map(of_many).collect();
    let mut headings: Vec<&str> = headings.iter().map(String::as_str).collect();
    headings.insert(0, "model");
    headings.push("first to last");
    page.table(&headings, rows);
}

fn parts(page: &mut Page, report: &PerformanceReport) {
    page.line("## Where the time of a frame goes");
    page.line("");
    page.text(format!(
        "A clock was read at the end of each stage of a frame. The figures are means of the quickest nine tenths of the frames, µs. \
         Loops with all default layers and without any took turns; what the stages \"{}\" take longer with layers is the time of the \
         layers, a difference of two measurements.",
        WITH_LAYERS.join("\", \"")
    ));
    page.charts(&[charts::frame(report)]);
    for model in &report.models {
        let Some(first) = model.grounds.first() else { continue };
        let steps = model.denoising_steps;
        let names = charts::parts(&first.stages).into_iter().map(|(name, _)| match name {
            "denoising steps" => format!("{name} ({steps})"),
            _ => name.to_owned(),
        });
        let head: Vec<String> =
            [model.name.clone()].into_iter().chain(names).chain(["together".to_owned()]).collect();
        let rows = model.grounds.iter().map(|ground| {
            let parts = charts::parts(&ground.stages);
            let total: f64 = parts.iter().map(|(_, us)| us).sum();
            let of = |us: f64| format!("{} ({:.0} %)", number(us), 100.0 * us / total);
            let cells = parts.iter().map(|(_, us)| of(*us));
            [ground.ground.clone()].into_iter().chain(cells).chain([number(total)]).collect()
        });
        page.table(&head.iter().map(String::as_str).collect::<Vec<_>>(), rows);
    }
    page.text(
        "Dynamics include the collision detection. Phases are the target velocities of the future and the reading of the phase code. \
         The rest is the window that the kinematic module is shown, its prediction as a target, and the state and history of the loop.",
    );
}

fn controllers(page: &mut Page, report: &PerformanceReport) {
    if report.controllers.is_empty() {
        return;
    }
    page.line("## Controllers");
    page.line("");
    page.text(format!(
        "The same walk on level ground without physics, by each [controller](controllers.md); `pomp` is the kinematic module. A time is the \
         median of the frames of one character. Shared memory is what became resident when the weights or clips of a controller were made \
         ready for the loop, a mean over copies: of `pomp` the packed networks, of the others all that their file holds, the search boxes \
         of clips included. Memory each is what became resident with {} characters and their worlds, divided by their number; all go on from \
         the end of the walk, where the loop has all of its past.",
        report.config.controller_characters
    ));
    let mib = |bytes: Option<f64>| or_dash(bytes.map(|bytes| bytes / MIB));
    let rows = report.controllers.iter().map(|row| {
        vec![
            format!("`{}`", row.controller),
            spread(&row.frame_us),
            mib(row.shared_bytes),
            mib(row.bytes_each),
        ]
    });
    page.table(&["controller", "frame, µs", "shared memory, MiB", "memory each, MiB"], rows);
}

fn growth(page: &mut Page, report: &PerformanceReport) {
    page.line("## Growth");
    page.line("");
    if !report.characters.is_empty() {
        page.line("### Characters");
        page.line("");
        page.text(
            "Each character has a world of its own on level ground; the networks are evaluated for all of them together \
             (`pomp_generator::Worlds`), in one thread. Memory is what became resident with the characters and their worlds; the \
             weights, which they share, were there before. A dash says that it was less than 1 MiB in all, which cannot be told from what \
             the process had kept of earlier work.",
        );
        let rows = report.characters.iter().map(|row| {
            let each = row.bytes_each.map(|bytes| bytes / MIB);
            let real_time = 1e6 / 60.0 / row.frame_us;
            vec![row.characters.to_string(), number(row.frame_us), number(real_time), or_dash(each)]
        });
        page.table(
            &[
                "characters",
                "frame of a character, µs",
                "characters in real time per core",
                "memory each, MiB",
            ],
            rows,
        );
        page.charts(&charts::characters(report));
    }
    if !report.terrains.is_empty() {
        page.line("### Terrain");
        page.line("");
        page.text(format!(
            "Hills with a height every {} m. A frame is that of one character that walks on them. Memory is what became resident with \
             the heights, the world and the character.",
            report.config.terrain_cell_m
        ));
        let rows = report.terrains.iter().map(|row| {
            vec![
                number(row.hectares),
                format!("{:.2}", row.heights as f64 / 1e6),
                number(row.frame_us),
                number(1e3 * row.generate_s),
                number(1e3 * row.build_s),
                or_dash(row.bytes.map(|bytes| bytes / MIB)),
            ]
        });
        page.table(
            &[
                "ha",
                "heights, million",
                "frame, µs",
                "generating the heights, ms",
                "building the world, ms",
                "memory, MiB",
            ],
            rows,
        );
        page.charts(&charts::terrains(report));
    }
    if !report.rollouts.is_empty() {
        page.line("### Length of a rollout");
        page.line("");
        page.text(
            "One rollout in a circle on level ground, recorded. Times are medians of ten seconds. Memory is what became resident since \
             the beginning, the recorded frames included; the loop itself keeps nothing of a frame.",
        );
        let rows = report.rollouts.iter().map(|row| {
            let each = row.bytes.map(|bytes| bytes / (3600.0 * row.minutes) / KIB);
            vec![
                number(row.minutes),
                number(row.first_frame_us),
                number(row.frame_us),
                or_dash(row.bytes.map(|bytes| bytes / MIB)),
                or_dash(each),
            ]
        });
        page.table(
            &[
                "minutes",
                "frame at the beginning, µs",
                "at the end, µs",
                "memory, MiB",
                "memory per frame, KiB",
            ],
            rows,
        );
        page.charts(&charts::rollouts(report));
    }
}

/// Operations of the forward dynamics of so many degrees of freedom by the articulated-body algorithm: 300 n − 267 products and
/// 279 n − 259 sums (R. Featherstone, Rigid Body Dynamics Algorithms, 2008, table 10.1).
fn forward_dynamics(degrees_of_freedom: usize) -> f64 {
    let n = degrees_of_freedom as f64;
    (300.0 * n - 267.0) + (279.0 * n - 259.0)
}

fn limits(page: &mut Page, report: &PerformanceReport) {
    let limits = &report.limits;
    page.line("## What the machine can do");
    page.line("");
    page.text(format!(
        "Small loops measure one core: some multiply and add numbers in registers, another one reads an array again and again. \
         A product with its addition is one operation here. One core makes {} thousand million of them a second in 32 bits{}.",
        spread(&scaled(&limits.multiply_adds_per_s, 1e-9)),
        limits.bfloat16_multiply_adds_per_s.map_or(String::new(), |rate| format!(
            ", and {} of bfloat16",
            spread(&scaled(&rate, 1e-9))
        )) + &limits.tile_multiply_adds_per_s.map_or(String::new(), |rate| format!(
            ", of tiles of bfloat16 {}",
            spread(&scaled(&rate, 1e-9))
        ))
    ));
    let rows = limits.bandwidths.iter().map(|row| {
        let size = row.bytes as f64;
        let size =
            if size < MIB { format!("{} KiB", size / KIB) } else { format!("{} MiB", number(size / MIB)) };
        vec![size, spread(&scaled(&row.bytes_per_s, 1e-9))]
    });
    page.table(&["array", "read, GB/s"], rows);
    page.text(
        "A part cannot take less than its operations at the best of these rates, nor less than the reading of its weights: once at the \
         best rate of an array as large as all weights together, because the frame has read the others since, and in later denoising \
         steps at the rate of an array as large as those of a step. The limit is the larger of the two. Operations include the padding of \
         rows to whole registers. They leave out nonlinearities, sums and everything that is not a product with a constant. In bfloat16 \
         the encoder and the denoising steps have the rate of bfloat16, or that of its tiles, of which one character fills half or less; \
         the phase networks multiply numbers of 32 bits in any case.",
    );
    for model in &report.models {
        limits_of(page, report, model);
    }
    page.text(
        "A factor below 1 says that some of the weights were still in a nearer cache than the limit takes them from.",
    );
    page.text(format!(
        "Operations of the dynamics are those of the articulated-body algorithm for {} degrees of freedom ({:.0} products and sums, \
         R. Featherstone, *Rigid Body Dynamics Algorithms*, 2008), once per frame. The dynamic module does more: the drives are implicit, \
         contacts are found and solved, and each step inverts the inertia of all joints. Its operations form chains of small matrices, \
         each of which waits for the one before; the factor shows what that costs beside a machine that never waits.",
        report.degrees_of_freedom,
        forward_dynamics(report.degrees_of_freedom)
    ));
}

fn scaled(spread: &Spread, factor: f64) -> Spread {
    let Spread { median, least, most } = *spread;
    Spread { median: factor * median, least: factor * least, most: factor * most }
}

fn limits_of(page: &mut Page, report: &PerformanceReport, model: &ModelTimes) {
    let Some(first) = model.grounds.first() else { return };
    let resident = model.resident_bytes();
    let single = report.limits.multiply_adds_per_s.most;
    let of_kinematic = match model.precision {
        Precision::Float32 => None,
        Precision::Bfloat16 => report.limits.bfloat16_multiply_adds_per_s,
        Precision::Bfloat16Tiles => report.limits.tile_multiply_adds_per_s,
    };
    let of_kinematic = of_kinematic.map_or(single, |rate| rate.most);
    let time_of =
        |name: &str| first.stages.iter().find(|stage| stage.stage == name).map_or(f64::NAN, |stage| stage.us);
    // Time to read bytes that lie among so many, µs.
    let reading = |bytes: f64, among: u64| {
        let bandwidth = report.limits.bandwidth_of(among).map_or(f64::NAN, |row| row.bytes_per_s.most);
        1e6 * bytes / bandwidth
    };
    let (mut rows, mut sums) = (Vec::new(), [0.0; 4]);
    let mut add = |name: &str, us: f64, operations: f64, bytes: f64, by_reading: f64| {
        let is_kinematic = ["kinematic encoder", "denoising steps"].contains(&name);
        let by_operations = 1e6 * operations / if is_kinematic { of_kinematic } else { single };
        let limit = by_operations.max(by_reading);
        for (sum, value) in sums.iter_mut().zip([us, operations, bytes, limit]) {
            *sum += value;
        }
        vec![
            name.to_owned(),
            number(us),
            number(operations / 1e6),
            number(bytes / KIB),
            number(by_operations),
            number(by_reading),
            number(us / limit),
        ]
    };
    for (stage, multiply_adds, bytes) in &model.work {
        let times = if stage == "denoising steps" { model.denoising_steps.max(1) as u64 } else { 1 };
        let once = bytes / times;
        let by_reading = reading(once as f64, resident) + reading((bytes - once) as f64, once);
        rows.push(add(stage, time_of(stage), *multiply_adds as f64, *bytes as f64, by_reading));
    }
    // A product and a sum are one operation where the machine makes them at once.
    let dynamics = 0.5 * forward_dynamics(report.degrees_of_freedom);
    rows.push(add("dynamics", time_of("dynamics"), dynamics, 0.0, 0.0));
    let [parts_us, operations, bytes, limit] = sums;
    let total: f64 = first.stages.iter().map(|stage| stage.us).sum();
    rows.push(vec![
        "everything else".to_owned(),
        number(total - parts_us),
        "–".to_owned(),
        "–".to_owned(),
        "–".to_owned(),
        "–".to_owned(),
        "–".to_owned(),
    ]);
    rows.push(vec![
        "**frame**".to_owned(),
        number(total),
        number(operations / 1e6),
        number(bytes / KIB),
        String::new(),
        String::new(),
        format!("**{}** (limit {} µs)", number(total / limit), number(limit)),
    ]);
    page.line(format!("### {}: {}", model.name, first.ground));
    page.line("");
    page.text(format!("The weights take {} KiB of memory.", number(resident as f64 / KIB)));
    page.table(
        &[
            "part",
            "time, µs",
            "operations, million",
            "weights read, KiB",
            "limit by operations, µs",
            "limit by reading, µs",
            "times its limit",
        ],
        rows,
    );
}

fn peers(page: &mut Page, report: &PerformanceReport) {
    page.line("## Other programs");
    page.line("");
    page.text(
        "These scripts measure this program and another one in turn on the same machine; `--peers FILE` adds what they have written. A \
         ratio below 1 says that this program is faster.",
    );
    for known in &KNOWN_PEERS {
        page.line(format!("### {}", known.name));
        page.line("");
        let Some(peer) = report.peers.iter().find(|peer| peer.peer == known.id) else {
            page.text(format!("Not measured here: {}. The command is:", known.about));
            page.line(format!("```sh\n{}\n```\n", known.command));
            continue;
        };
        page.text(format!("{} {}: {}. {}", known.name, peer.version, known.about, peer.how));
        let rows = peer.rows.iter().map(|row| {
            let of = |values: &[f64]| spread(&Spread::of(values));
            let middle = |values: &[f64]| median(values).unwrap_or(f64::NAN);
            vec![
                row.what.clone(),
                row.unit.clone(),
                of(&row.pomp),
                of(&row.peer),
                number(middle(&row.pomp) / middle(&row.peer)),
            ]
        });
        page.table(&["", "unit", "pomp", known.name, "ratio"], rows);
        page.line(format!("```sh\n{}\n```\n", known.command));
    }
    page.0.truncate(page.0.trim_end().len());
    page.line("");
}
