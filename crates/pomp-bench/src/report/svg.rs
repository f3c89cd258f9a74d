//! Charts as inline SVG.

use super::columns::number;
use crate::summary::Interval;
use std::fmt::Write;

const ROW: f64 = 20.0;
const LABEL: f64 = 150.0;
const PLOT: f64 = 190.0;
const VALUE: f64 = 56.0;
/// Colours of lines, told apart by hue and by lightness.
const COLORS: [&str; 10] = [
    "#266eb8", "#e06c34", "#28966e", "#c4325c", "#8060be", "#b28c14", "#46aac8", "#6e747c", "#1b3a5c",
    "#a03c96",
];

/// Horizontal bars with their intervals; the first row is dark, a line marks `mark`.
pub(super) fn bars(title: &str, rows: &[(String, Interval)], mark: Option<(f64, &str)>) -> String {
    let largest = rows
        .iter()
        .flat_map(|(_, figure)| [figure.value, figure.interval_95.map_or(0.0, |ends| ends[1])])
        .chain(mark.map(|(value, _)| value))
        .fold(0.0, f64::max)
        .max(1e-9);
    let x = |value: f64| LABEL + PLOT * (value / largest).clamp(0.0, 1.0);
    let height = 34.0 + ROW * rows.len() as f64;
    let width = LABEL + PLOT + VALUE;
    let mut svg = open(width, height, title);
    for (row, (name, figure)) in rows.iter().enumerate() {
        let y = 26.0 + ROW * row as f64;
        let class = if row == 0 { "first" } else { "bar" };
        put(
            &mut svg,
            format_args!(
                "<text x=\"{:.1}\" y=\"{:.1}\" class=\"name\">{}</text><rect x=\"{LABEL}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{:.1}\" class=\"{class}\"/>",
                LABEL - 6.0,
                y + 12.0,
                escape(name),
                y + 2.0,
                x(figure.value) - LABEL,
                ROW - 6.0,
            ),
        );
        if let Some([low, high]) = figure.interval_95 {
            put(
                &mut svg,
                format_args!(
                    "<path d=\"M{:.1} {m:.1}H{:.1}M{0:.1} {a:.1}V{b:.1}M{1:.1} {a:.1}V{b:.1}\" class=\"whisker\"/>",
                    x(low),
                    x(high),
                    m = y + 9.0,
                    a = y + 5.0,
                    b = y + 13.0,
                ),
            );
        }
        put(
            &mut svg,
            format_args!(
                "<text x=\"{:.1}\" y=\"{:.1}\">{}</text>",
                LABEL + PLOT + 6.0,
                y + 12.0,
                number(figure.value),
            ),
        );
    }
    if let Some((value, name)) = mark {
        put(
            &mut svg,
            format_args!(
                "<path d=\"M{0:.1} 24V{1:.1}\" class=\"mark\"><title>{2}: {3}</title></path>",
                x(value),
                height - 6.0,
                escape(name),
                number(value),
            ),
        );
    }
    svg + "</svg>"
}

/// Lines over x with intervals; `percent` fixes the y axis at 0 to 100 %.
pub(super) fn lines(
    title: &str,
    x_label: &str,
    series: &[(String, Vec<(f64, Interval)>)],
    percent: bool,
) -> String {
    let points = || series.iter().flat_map(|(_, points)| points);
    let right = points().map(|(x, _)| *x).fold(0.0, f64::max).max(1e-9);
    let top = if percent { 1.0 } else { round_up(points().map(|(_, y)| y.value).fold(0.0, f64::max)) };
    let (left, plot_width, upper, plot_height) = (44.0, 330.0, 28.0, 170.0);
    let width = left + plot_width + 130.0;
    let height = upper + plot_height + 38.0;
    let x = |value: f64| left + plot_width * value / right;
    let y = |value: f64| upper + plot_height * (1.0 - (value / top).clamp(0.0, 1.0));
    let mut svg = open(width, height, title);
    for tick in 0..=4 {
        let value = top * f64::from(tick) / 4.0;
        let shown = if percent { format!("{:.0} %", 100.0 * value) } else { number(value) };
        put(
            &mut svg,
            format_args!(
                "<path d=\"M{left} {0:.1}H{1:.1}\" class=\"grid\"/><text x=\"{2:.1}\" y=\"{3:.1}\" class=\"name\">{shown}</text>",
                y(value),
                left + plot_width,
                left - 4.0,
                y(value) + 4.0,
            ),
        );
    }
    let mut at: Vec<f64> = points().map(|(x, _)| *x).collect();
    at.sort_by(f64::total_cmp);
    at.dedup();
    for value in at {
        put(
            &mut svg,
            format_args!(
                "<text x=\"{:.1}\" y=\"{:.1}\" class=\"tick\">{}</text>",
                x(value),
                upper + plot_height + 15.0,
                number_short(value),
            ),
        );
    }
    put(
        &mut svg,
        format_args!(
            "<text x=\"{:.1}\" y=\"{:.1}\" class=\"tick\">{}</text>",
            left + 0.5 * plot_width,
            height - 6.0,
            escape(x_label),
        ),
    );
    for (index, (name, points)) in series.iter().enumerate() {
        let color = COLORS[index % COLORS.len()];
        let path: Vec<String> =
            points.iter().map(|(at, figure)| format!("{:.1} {:.1}", x(*at), y(figure.value))).collect();
        put(
            &mut svg,
            format_args!(
                "<path d=\"M{}\" fill=\"none\" stroke=\"{color}\" stroke-width=\"2\"/>",
                path.join("L")
            ),
        );
        for (at, figure) in points {
            if let Some([low, high]) = figure.interval_95 {
                put(
                    &mut svg,
                    format_args!(
                        "<path d=\"M{0:.1} {1:.1}V{2:.1}\" stroke=\"{color}\" stroke-opacity=\"0.45\"/>",
                        // Intervals of several methods at one place would hide each other.
                        x(*at) + 2.0 * (index as f64 - 2.0),
                        y(low),
                        y(high),
                    ),
                );
            }
            put(
                &mut svg,
                format_args!(
                    "<circle cx=\"{:.1}\" cy=\"{:.1}\" r=\"3\" fill=\"{color}\"/>",
                    x(*at),
                    y(figure.value)
                ),
            );
        }
        let row = upper + 8.0 + 16.0 * index as f64;
        put(
            &mut svg,
            format_args!(
                "<circle cx=\"{:.1}\" cy=\"{:.1}\" r=\"4\" fill=\"{color}\"/><text x=\"{:.1}\" y=\"{:.1}\">{}</text>",
                left + plot_width + 14.0,
                row - 4.0,
                left + plot_width + 22.0,
                row,
                escape(name),
            ),
        );
    }
    svg + "</svg>"
}

fn open(width: f64, height: f64, title: &str) -> String {
    format!(
        "<svg viewBox=\"0 0 {width} {height}\" width=\"{width}\" height=\"{height}\" role=\"img\"><text x=\"4\" y=\"14\" class=\"title\">{}</text>",
        escape(title)
    )
}

fn put(svg: &mut String, parts: std::fmt::Arguments<'_>) {
    svg.write_fmt(parts).expect("a string takes all text");
}

/// The next number above `value` that a quarter of is a short number.
fn round_up(value: f64) -> f64 {
    let power = 10f64.powf(value.max(1e-9).log10().floor());
    let steps = [1.0, 2.0, 3.0, 4.0, 6.0, 8.0, 10.0];
    steps.into_iter().find(|step| step * power >= value).unwrap_or(10.0) * power
}

fn number_short(value: f64) -> String {
    if value.fract() == 0.0 { format!("{value:.0}") } else { number(value) }
}

/// Text that stands in HTML and SVG.
pub(super) fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
