//! Ranges of axes, and what their ticks say.

use super::Plot;
use plotters::coord::ranged1d::{BoldPoints, Ranged};
use plotters::coord::types::RangedCoordf64;
use std::ops::Range;

/// The smallest range that holds all values.
fn range(values: impl Iterator<Item = f64>) -> Option<Range<f64>> {
    values.fold(None, |range, v| {
        Some(range.map_or(v..v, |range: Range<f64>| range.start.min(v)..range.end.max(v)))
    })
}

/// `range` with a margin at either end, and from or to 0 where it nearly reaches that.
fn widened(range: Range<f64>) -> Range<f64> {
    let (low, high) = (range.start, range.end);
    let touches_zero = low >= 0.0 && (low < 0.3 * high || high == 0.0);
    let margin = 0.05 * (high - low).max(1e-6 * high.abs().max(low.abs()).max(1e-6));
    let start = if touches_zero { 0.0 } else { low - margin };
    start..(high + margin).max(start + f64::MIN_POSITIVE)
}

/// The whole decades that hold a range.
fn decades(range: Range<f64>) -> Range<f64> {
    // Rounding must not open another one for a value at its end.
    let low = (range.start.log10() + 1e-4).floor();
    let high = (range.end.log10() - 1e-4).ceil().max(low + 1.0);
    // The ends are ticks themselves.
    10f64.powf(low) * (1.0 - 1e-9)..10f64.powf(high) * (1.0 + 1e-9)
}

impl Plot {
    /// Of the x of series and markers.
    pub(super) fn x_range(&self) -> Range<f64> {
        let xs = self.series.iter().flat_map(|s| &s.x).copied().chain(self.markers.iter().map(|m| m.0));
        let range = range(xs).unwrap_or(0.0..1.0);
        if self.log_x {
            return decades(range);
        }
        let width = range.end - range.start;
        let has_intervals = self.series.iter().any(|series| !series.intervals.is_empty());
        let margin = match (width > 0.0, has_intervals) {
            (true, false) => 0.0,
            // Whiskers of the first and the last points stay off the axes.
            (true, true) => 0.03 * width,
            (false, _) => 0.5 * range.start.abs().max(1.0),
        };
        range.start - margin..range.end + margin
    }

    /// Of the values of series, their intervals included.
    pub(super) fn y_range(&self) -> Range<f64> {
        let ends = self.series.iter().flat_map(|s| s.intervals.iter().flatten().flatten());
        let values = self.series.iter().flat_map(|s| &s.y).chain(ends).copied();
        let range = range(values).unwrap_or(0.0..1.0);
        if self.percent {
            return 0.0..1.0;
        }
        if !self.log_y {
            return widened(range);
        }
        decades(range)
    }

    /// Where a bar begins: at 0, or in a stack where those of its name before it end.
    pub(super) fn foot(&self, index: usize) -> f64 {
        let (before, rest) = self.bars.split_at(index);
        let below = before.iter().filter(|bar| self.stacked && bar.name == rest[0].name);
        below.map(|bar| bar.value).sum()
    }

    /// Of the values of bars, their intervals and the reference; 0 is in it.
    pub(super) fn bar_range(&self) -> Range<f64> {
        let ends = self.bars.iter().flat_map(|bar| bar.interval.into_iter().flatten());
        let values = self.bars.iter().enumerate().map(|(index, bar)| self.foot(index) + bar.value);
        let values = values.chain(ends);
        let values = values.chain(self.reference.as_ref().map(|reference| reference.0)).chain([0.0]);
        let range = range(values).expect("0 is a value");
        let margin = 0.03 * (range.end - range.start).max(1e-30);
        match (self.percent, range.start < 0.0) {
            (true, _) => 0.0..1.0,
            (false, true) => range.start - margin..range.end + margin,
            (false, false) => 0.0..range.end + margin,
        }
    }
}

/// Number of decimals, or an exponent, with which all ticks of an axis are told apart.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Format {
    Decimals(usize),
    Exponent,
    Percent,
}

impl Format {
    /// For about `count` ticks of `range`.
    pub fn of(range: &Range<f64>, count: usize) -> Self {
        let ticks = RangedCoordf64::from(range.clone()).key_points(BoldPoints(count));
        let largest = range.start.abs().max(range.end.abs());
        let step = ticks.windows(2).map(|pair| pair[1] - pair[0]).fold(largest, f64::min);
        let whole = |decimals: &usize| {
            let scale = 10f64.powi(*decimals as i32);
            ticks.iter().all(|tick| ((tick * scale).round() / scale - tick).abs() < 1e-3 * step)
        };
        if largest >= 1e5 {
            return Self::Exponent;
        }
        (0..=4).find(whole).map_or(Self::Exponent, Self::Decimals)
    }

    pub fn text(self, value: f64) -> String {
        match self {
            Self::Decimals(decimals) => {
                let text = format!("{value:.decimals$}");
                // Rounding leaves a sign on 0.
                if text.starts_with('-') && text.chars().all(|c| "-0.".contains(c)) {
                    text[1..].to_owned()
                } else {
                    text
                }
            }
            Self::Exponent => {
                let text = format!("{value:.1e}");
                text.replacen(".0e", "e", 1)
            }
            Self::Percent => format!("{:.0} %", 100.0 * value),
        }
    }
}

/// A power of ten, short.
pub(super) fn decade(value: f64) -> String {
    if (1e-3..1e5).contains(&(value * 1.0001)) {
        format!("{}", (value * 1e3).round() / 1e3)
    } else {
        format!("{value:.0e}")
    }
}

/// A value beside its bar: three significant digits.
pub(super) fn short(value: f64) -> String {
    match value.abs() {
        v if v >= 1e5 || v > 0.0 && v < 1e-3 => format!("{value:.1e}"),
        v if v >= 99.95 => format!("{value:.0}"),
        v if v >= 9.995 => format!("{value:.1}"),
        v if v >= 0.9995 || v == 0.0 => format!("{value:.2}"),
        _ => format!("{value:.3}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_have_the_decimals_that_they_need() {
        let said = |range: Range<f64>| {
            let format = Format::of(&range, 6);
            [range.start, range.end].map(|value| format.text(value))
        };
        assert_eq!(said(0.0..10.0), ["0", "10"]);
        assert_eq!(said(0.0..1.0), ["0.0", "1.0"]);
        assert_eq!(said(-0.02..0.02), ["-0.02", "0.02"]);
        assert_eq!(said(0.0..2e6), ["0e0", "2e6"]);
        assert_eq!(Format::Decimals(1).text(-0.01), "0.0");
        assert_eq!(
            [0.001, 0.1, 1.0, 1e4, 1e6, 1e-5].map(decade),
            ["0.001", "0.1", "1", "10000", "1e6", "1e-5"]
        );
        assert_eq!([0.0, 0.1234, 9.999, 12.34, 1234.0].map(short), ["0.00", "0.123", "10.0", "12.3", "1234"]);
    }
}
