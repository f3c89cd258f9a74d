//! The kinematic module of a model, measured on clips that it has not seen.
//!
//! The measuring itself is [`pomp_train::report_kinematic`], which makes of clips what training makes of them.

use crate::ReportError;
use crate::output::{json, make_folder, write};
use crate::training_split::TrainingSplit;
use burn::tensor::Device;
use pomp_kinematic::{Covariance, CovarianceEstimate};
use pomp_model::Model;
use pomp_train::{FRAME_RATE_HZ, KinematicReport, KinematicReportConfig, report_kinematic};
use std::fmt::Write;
use std::path::Path;

/// Share of the blend below which an expert serves a gait next to nothing.
const DEAD_BELOW: f32 = 0.01;

/// Figures of a kinematic module, and what they are of.
#[derive(Clone, Debug)]
pub struct Figures {
    /// What was found.
    pub found: KinematicReport,
    /// The same as Markdown.
    pub text: String,
}

/// Measures the kinematic module of `model`, which the report calls `name`, on the recordings in the folder `data`, with
/// each number of denoising `steps`, and noise from `seed`.
///
/// # Errors
/// A model without a kinematic module or that does not say how its data were divided, recordings that cannot be read, do not
/// fit it or are too short, and a number of steps that the module does not have.
pub fn measure(
    model: &Model,
    name: &str,
    data: &Path,
    steps: &[usize],
    seed: u64,
) -> Result<Figures, ReportError> {
    let split = TrainingSplit::of(model)?;
    let dataset = split.load(data, model)?;
    let data = format!("`{}` (data {})", data.display(), dataset.hash);
    let config = KinematicReportConfig {
        phase_edge_frames: split.phase_edge_frames,
        margin_frames: split.margin_frames,
        steps: steps.to_vec(),
        seed,
    };
    let found = report_kinematic(dataset, model, &config, &Device::flex())?;
    Ok(Figures { text: markdown(name, &data, &found), found })
}

impl Figures {
    /// The figures as JSON.
    pub fn json(&self) -> String {
        json(&self.found)
    }

    /// Writes `report.md` and `report.json` into a folder, which is made.
    ///
    /// # Errors
    /// The folder or a file cannot be written.
    pub fn write(&self, out: &Path) -> Result<(), ReportError> {
        make_folder(out)?;
        write(&out.join("report.json"), self.json().as_bytes())?;
        write(&out.join("report.md"), self.text.as_bytes())
    }
}

fn markdown(model: &str, data: &str, report: &KinematicReport) -> String {
    let clips = report.measured_on.replace('_', "-");
    let mut lines = vec![
        format!("# Kinematic module of {model}\n"),
        format!("{} weights, measured on {} {clips} clips of {data}.\n", report.weights, report.clips),
        format!(
            "## Rollouts\n\nMean distance of the joints from the clip, cm, over {} rollouts on the module's own output, one denoising step \
             per frame and nobody's physics; beside it the pose held, and every joint keeping its velocity.\n",
            report.rollouts
        ),
        "| ahead | module | hold | constant velocity |\n|---|---|---|---|".to_owned(),
    ];
    lines.extend(report.horizons.iter().map(|row| {
        let seconds = row.frames as f32 / FRAME_RATE_HZ;
        let ahead = if row.frames == 1 { "1 frame".to_owned() } else { format!("{seconds:.2} s") };
        format!("| {ahead} | {:.2} | {:.2} | {:.2} |", row.module_cm, row.hold_cm, row.coast_cm)
    }));
    lines.push(
        "\n## Samples\n\nSamples of the next frame at full temperature, in normalised units of pose and root motion. The spread of \
         the samples should equal the distance of the clip from their mean; the energy score is least for samples of the \
         data's own distribution.\n\n\
         | steps | covariance | estimate | spread | clip from mean | energy score |\n|---|---|---|---|---|---|"
            .to_owned(),
    );
    lines.extend(report.samplers.iter().map(|row| {
        let covariance = match row.covariance {
            Covariance::None => "none",
            Covariance::Scalar => "scalar",
            Covariance::PerFeature => "per feature",
        };
        let estimate = match row.estimate {
            None => "–",
            Some(CovarianceEstimate::NoiseEnergy) => "noise energy",
            Some(CovarianceEstimate::PredictionError) => "prediction error",
        };
        format!(
            "| {} | {covariance} | {estimate} | {:.4} | {:.4} | {:.4} |",
            row.steps, row.spread, row.error, row.energy_score
        )
    }));
    lines.push(experts(report));
    lines.join("\n")
}

fn experts(report: &KinematicReport) -> String {
    let mut text =
        "\n## Experts\n\nMean share of every expert in the blend, %, by the gait that prevails.\n\n"
            .to_owned();
    let count = report.experts.first().map_or(0, |row| row.shares.len());
    let numbers: Vec<String> = (1..=count).map(|number| number.to_string()).collect();
    write_line(&mut text, format_args!("| gait | frames | {} |", numbers.join(" | ")));
    write_line(&mut text, format_args!("|---|---|{}", "---|".repeat(count)));
    for row in &report.experts {
        let shares: Vec<String> = row.shares.iter().map(|share| format!("{:.0}", 100.0 * share)).collect();
        write_line(&mut text, format_args!("| {} | {} | {} |", row.gait, row.frames, shares.join(" | ")));
    }
    let dead: Vec<String> = (0..count)
        .filter(|&expert| report.experts.iter().all(|row| row.shares[expert] < DEAD_BELOW))
        .map(|expert| (expert + 1).to_string())
        .collect();
    let said = if dead.is_empty() {
        "No expert is dead: each has one hundredth of the blend or more in some gait.".to_owned()
    } else {
        format!("Dead, with less than a hundredth of the blend in every gait: {}.", dead.join(", "))
    };
    write_line(&mut text, format_args!("\n{said}"));
    text
}

fn write_line(text: &mut String, line: std::fmt::Arguments<'_>) {
    writeln!(text, "{line}").expect("a String takes everything");
}
