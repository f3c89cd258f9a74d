//! The report as text.

use super::PhaseReport;
use super::neighbours::NEIGHBOURS;
use super::ranks::AHEAD;
use std::fmt::Write;

/// The tables and what they mean, with the pictures.
pub fn markdown(report: &PhaseReport) -> String {
    let mut text = tables(report);
    text.push_str("\n## Pictures\n");
    for picture in &report.pictures {
        write_line(&mut text, format_args!("\n![{0}]({1})\n\n{0}", picture.caption, picture.file));
    }
    text
}

/// The tables and what they mean.
pub fn tables(report: &PhaseReport) -> String {
    let mut text = String::new();
    let clips = report.measured_on.replace('_', "-");
    write_line(&mut text, format_args!("# Phase manifold of {}\n", report.model));
    write_line(
        &mut text,
        format_args!(
            "Measured on {} frames of {} {clips} clips of `{}` (data {}).",
            report.frames, report.clips, report.data, report.data_hash
        ),
    );
    channels(&mut text, report);
    reconstruction(&mut text, report);
    neighbours(&mut text, report);
    ranks(&mut text, report);
    alignment(&mut text, report);
    text
}

fn channels(text: &mut String, report: &PhaseReport) {
    text.push_str(
        "\n## Channels\n\nAmplitude and frequency are means over frames ± their standard deviation, as the network reads them. The advance is \
         the median slope of the shift over runs of a second or more, R² that of a straight line: on a good manifold phase \
         advances evenly, at the frequency of the motion.\n\n\
         | gait | channel | amplitude | frequency, Hz | advance, turns/s | R² |\n|---|---|---|---|---|---|\n",
    );
    for row in &report.channels {
        let optional = |value: Option<f32>| value.map_or("–".to_owned(), |value| format!("{value:.3}"));
        write_line(
            text,
            format_args!(
                "| {} | {} | {:.2} ± {:.2} | {:.2} ± {:.2} | {} | {} |",
                row.gait,
                row.channel,
                row.amplitude,
                row.amplitude_deviation,
                row.frequency_hz,
                row.frequency_deviation_hz,
                optional(row.advance_hz),
                optional(row.linearity)
            ),
        );
    }
}

fn reconstruction(text: &mut String, report: &PhaseReport) {
    write_line(
        text,
        format_args!(
            "\n## Reconstruction\n\nWindows of two seconds, {} clips. \"Lost\" is the share of their power that does not come back. The plain \
             autoencoder has as many weights and numbers as the periodic one and was trained here for {} steps of 64 windows; principal \
             components are the best linear code of that many numbers.\n\n\
             | method | numbers per window | weights | lost | MSE, m²/s² |\n|---|---|---|---|---|",
            report.measured_on.replace('_', "-"),
            report.plain_steps
        ),
    );
    for row in &report.reconstruction {
        write_line(
            text,
            format_args!(
                "| {} | {} | {} | {:.1} % | {:.4} |",
                row.method,
                row.numbers,
                row.weights,
                100.0 * row.lost,
                row.mse
            ),
        );
    }
}

fn neighbours(text: &mut String, report: &PhaseReport) {
    write_line(
        text,
        format_args!(
            "\n## Nearest neighbours\n\nMean joint distance, in cm, between a frame and the {NEIGHBOURS} frames of the training clips that are nearest to it by \
             a feature. Contact phases turn once from touch-down to touch-down of each foot; chance takes any frame.\n"
        ),
    );
    let gaits: Vec<&str> = report.neighbours[0].gaits_cm.keys().copied().collect();
    write_line(text, format_args!("| feature | numbers | all | {} |", gaits.join(" | ")));
    write_line(text, format_args!("|---|---|---|{}", "---|".repeat(gaits.len())));
    for row in &report.neighbours {
        let cells: Vec<String> = gaits
            .iter()
            .map(|gait| row.gaits_cm.get(gait).map_or("–".to_owned(), |v| format!("{v:.1}")))
            .collect();
        write_line(
            text,
            format_args!("| {} | {} | {:.1} | {} |", row.feature, row.numbers, row.all_cm, cells.join(" | ")),
        );
    }
}

fn ranks(text: &mut String, report: &PhaseReport) {
    let Some(first) = report.ranks.first() else { return };
    write_line(
        text,
        format_args!(
            "\n## Rank of the frame that follows\n\nPlace of the frame that truly follows a frame, by nearness to it in a feature, among {} frames of \
             the clips as they were recorded: median, and the rank that nine of ten keep. 1 is the nearest; the frame before is as near as the one after \
             it, so that 2 at one frame is as good as it gets without turning on. Turned on, each channel of the query moves on by its frequency.\n",
            first.candidates
        ),
    );
    let heads: Vec<String> = AHEAD.iter().map(|ahead| format!("+{ahead}")).collect();
    write_line(text, format_args!("| feature | numbers | {} |", heads.join(" | ")));
    write_line(text, format_args!("|---|---|{}", "---|".repeat(AHEAD.len())));
    for row in &report.ranks {
        let cells: Vec<String> = (row.median.iter().zip(&row.nine_of_ten).zip(row.queries))
            .map(
                |((median, most), queries)| {
                    if queries == 0 { "–".to_owned() } else { format!("{median} ({most})") }
                },
            )
            .collect();
        write_line(text, format_args!("| {} | {} | {} |", row.feature, row.numbers, cells.join(" | ")));
    }
}

fn alignment(text: &mut String, report: &PhaseReport) {
    let Some(rows) = &report.alignment else {
        text.push_str("\n## Alignment\n\nThe model has no aligned encoder.\n");
        return;
    };
    text.push_str(
        "\n## Alignment\n\nMean squared distance of phase codes, simulated to clean, of windows stitched as the closed loop does it, with the \
         true keys; beside it the share of the clean codes' own power.\n\n\
         | gait | frames | clean encoder | aligned encoder | ratio |\n|---|---|---|---|---|\n",
    );
    for row in rows {
        write_line(
            text,
            format_args!(
                "| {} | {} | {:.4} ({:.1} %) | {:.4} ({:.1} %) | {:.2} |",
                row.gait,
                row.frames,
                row.unaligned,
                100.0 * row.unaligned / row.power,
                row.aligned,
                100.0 * row.aligned / row.power,
                row.aligned / row.unaligned
            ),
        );
    }
}

fn write_line(text: &mut String, line: std::fmt::Arguments<'_>) {
    writeln!(text, "{line}").expect("writing to a string does not fail");
}
