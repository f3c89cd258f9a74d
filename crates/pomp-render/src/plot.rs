//! Charts: named lines and points over x, or named bars, as PNG or SVG.

mod axis;
mod draw;
mod pixels;

use crate::{Image, RenderError};
use plotters::coord::Shift;
use plotters::prelude::{DrawingArea, DrawingBackend, IntoDrawingArea, SVGBackend};

/// Units of the drawing in a pixel. Plotters draws at whole units: finer ones keep curves smooth.
const UNITS: u32 = 8;

/// A chart: named lines and points over x, or named bars with their values.
///
/// ```
/// let steps: Vec<f32> = (0..100).map(|i| i as f32).collect();
/// let loss: Vec<f32> = steps.iter().map(|s| 0.1 + (-s / 30.0).exp()).collect();
/// let plot = pomp_render::Plot::new("Loss").x_label("step").y_label("MSE").log_y().series("train", &steps, &loss);
/// assert_eq!(&plot.png(640, 400)?[1..4], b"PNG");
/// assert!(plot.svg(640, 400)?.starts_with("<svg"));
/// # Ok::<(), pomp_render::RenderError>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Plot {
    title: String,
    x_label: String,
    y_label: String,
    log_x: bool,
    log_y: bool,
    stacked: bool,
    percent: bool,
    highlight_first: bool,
    series: Vec<Series>,
    bars: Vec<Bar>,
    markers: Vec<(f64, String)>,
    reference: Option<(f64, String)>,
}

#[derive(Clone, Debug)]
struct Series {
    name: String,
    x: Vec<f64>,
    y: Vec<f64>,
    /// Ends of the interval of each point; empty for a line without intervals.
    intervals: Vec<Option<[f64; 2]>>,
}

#[derive(Clone, Debug)]
struct Bar {
    group: String,
    name: String,
    value: f64,
    interval: Option<[f64; 2]>,
}

impl Plot {
    /// An empty chart.
    pub fn new(title: impl Into<String>) -> Self {
        Self { title: title.into(), ..Self::default() }
    }

    /// Name and unit of x; of the values of bars, which lie.
    #[must_use]
    pub fn x_label(mut self, label: impl Into<String>) -> Self {
        self.x_label = label.into();
        self
    }

    /// Name and unit of y.
    #[must_use]
    pub fn y_label(mut self, label: impl Into<String>) -> Self {
        self.y_label = label.into();
        self
    }

    /// Draws the x of series on a logarithmic scale; all of them must then be positive.
    #[must_use]
    pub fn log_x(mut self) -> Self {
        self.log_x = true;
        self
    }

    /// Draws the bars of one name end to end, one per group, with their sum beside them; no value may then be negative.
    #[must_use]
    pub fn stacked(mut self) -> Self {
        self.stacked = true;
        self
    }

    /// Draws the y of series on a logarithmic scale; all values must then be positive.
    #[must_use]
    pub fn log_y(mut self) -> Self {
        self.log_y = true;
        self
    }

    /// Values are shares: their axis goes from 0 to 100 %.
    #[must_use]
    pub fn percent(mut self) -> Self {
        self.percent = true;
        self
    }

    /// Draws the first bar darker than the others.
    #[must_use]
    pub fn highlight_first(mut self) -> Self {
        self.highlight_first = true;
        self
    }

    /// Adds a line through the points (x, y).
    #[must_use]
    pub fn series<V: Copy + Into<f64>>(mut self, name: impl Into<String>, x: &[V], y: &[V]) -> Self {
        let [x, y] = [x, y].map(|values| values.iter().map(|&value| value.into()).collect());
        self.series.push(Series { name: name.into(), x, y, intervals: Vec::new() });
        self
    }

    /// Adds a line through the points (x, y), each with the ends of its interval where it has one.
    #[must_use]
    pub fn series_with_intervals(
        mut self,
        name: impl Into<String>,
        points: &[(f64, f64, Option<[f64; 2]>)],
    ) -> Self {
        self.series.push(Series {
            name: name.into(),
            x: points.iter().map(|point| point.0).collect(),
            y: points.iter().map(|point| point.1).collect(),
            intervals: points.iter().map(|point| point.2).collect(),
        });
        self
    }

    /// Adds a bar; bars lie below each other in the order given.
    #[must_use]
    pub fn bar(self, name: impl Into<String>, value: impl Into<f64>) -> Self {
        self.bar_of("", name, value, None)
    }

    /// Adds a bar with the ends of its interval, in a group. Bars of one name lie beside each other, one per group; the
    /// groups are named in the legend.
    #[must_use]
    pub fn bar_of(
        mut self,
        group: impl Into<String>,
        name: impl Into<String>,
        value: impl Into<f64>,
        interval: Option<[f64; 2]>,
    ) -> Self {
        self.bars.push(Bar { group: group.into(), name: name.into(), value: value.into(), interval });
        self
    }

    /// Adds a labelled vertical line, for an event such as a push.
    #[must_use]
    pub fn marker(mut self, x: impl Into<f64>, label: impl Into<String>) -> Self {
        self.markers.push((x.into(), label.into()));
        self
    }

    /// Marks a value that bars are compared with; its name stands in the legend.
    #[must_use]
    pub fn reference(mut self, value: impl Into<f64>, label: impl Into<String>) -> Self {
        self.reference = Some((value.into(), label.into()));
        self
    }

    /// The chart as the bytes of a PNG of `width` × `height` pixels.
    ///
    /// # Errors
    /// [`RenderError::BadOption`] when a side is not 120 to 8192 pixels, a value cannot stand on a logarithmic scale or a
    /// chart has both bars and series, [`RenderError::NothingToDraw`] without a value, [`RenderError::UnequalSeries`],
    /// [`RenderError::NotFinite`].
    pub fn png(&self, width: u32, height: u32) -> Result<Vec<u8>, RenderError> {
        self.image(width, height)?.to_png()
    }

    /// The chart as a picture; see [`Self::png`].
    ///
    /// # Errors
    /// As [`Self::png`].
    pub fn image(&self, width: u32, height: u32) -> Result<Image, RenderError> {
        self.check(width, height)?;
        pixels::image(width, height, |root| self.draw(root))
    }

    /// The chart as an SVG element of `width` × `height` pixels, which can stand in a page.
    ///
    /// # Errors
    /// As [`Self::png`].
    pub fn svg(&self, width: u32, height: u32) -> Result<String, RenderError> {
        self.check(width, height)?;
        let mut svg = String::new();
        let size = (width * UNITS, height * UNITS);
        self.draw(&SVGBackend::with_string(&mut svg, size).into_drawing_area())?;
        // The drawing is in units, the picture in pixels.
        let [units, pixels] = [size, (width, height)]
            .map(|(width, height)| format!("<svg width=\"{width}\" height=\"{height}\""));
        Ok(svg.replacen(&units, &pixels, 1))
    }

    fn draw<B: DrawingBackend>(&self, root: &DrawingArea<B, Shift>) -> Result<(), RenderError> {
        pixels::register_fonts();
        draw::draw(self, root).map_err(|error| RenderError::Plot { reason: error.to_string() })
    }

    fn check(&self, width: u32, height: u32) -> Result<(), RenderError> {
        for (option, value) in [("width", width), ("height", height)] {
            if !(120..=8192).contains(&value) {
                let reason = "a chart has 120 to 8192 pixels a side";
                return Err(RenderError::BadOption { option, value: value.to_string(), reason });
            }
        }
        let has_lines = !self.series.is_empty() || !self.markers.is_empty() || self.log_x || self.log_y;
        if !self.bars.is_empty() && has_lines {
            let reason =
                "bars stand alone: a chart with bars has no series, no markers and no logarithmic scale";
            return Err(RenderError::BadOption { option: "bar", value: self.bars[0].name.clone(), reason });
        }
        for Series { name, x, y, .. } in &self.series {
            if x.len() != y.len() {
                return Err(RenderError::UnequalSeries { series: name.clone(), x: x.len(), y: y.len() });
            }
            for (index, (&x, &y)) in x.iter().zip(y).enumerate() {
                self.check_values(name, index, &[x], &[y])?;
            }
        }
        if let Some(series) = self.series.iter().find(|series| self.log_x && !series.intervals.is_empty()) {
            let (value, reason) = (series.name.clone(), "intervals are drawn over a linear x alone");
            return Err(RenderError::BadOption { option: "log_x", value, reason });
        }
        let ends = |interval: Option<[f64; 2]>| interval.map_or(Vec::new(), Vec::from);
        for series in &self.series {
            for (index, interval) in series.intervals.iter().enumerate() {
                self.check_values(&series.name, index, &[], &ends(*interval))?;
            }
        }
        if let Some(bar) = self.bars.iter().find(|bar| self.stacked && bar.value < 0.0) {
            let (value, reason) = (bar.value.to_string(), "a bar of a stack is not negative");
            return Err(RenderError::BadOption { option: "stacked", value, reason });
        }
        for (index, bar) in self.bars.iter().enumerate() {
            self.check_values(&bar.name, index, &ends(bar.interval), &[bar.value])?;
        }
        for (index, (x, name)) in self.markers.iter().chain(&self.reference).enumerate() {
            self.check_values(name, index, &[*x], &[])?;
        }
        if self.bars.is_empty() && self.series.iter().all(|series| series.x.is_empty()) {
            let (view, part) = ("the chart", "a value");
            return Err(RenderError::NothingToDraw { recording: self.title.clone(), view, part });
        }
        Ok(())
    }

    fn check_values(&self, name: &str, index: usize, x: &[f64], y: &[f64]) -> Result<(), RenderError> {
        if !x.iter().chain(y).all(|value| value.is_finite()) {
            return Err(RenderError::NotFinite { what: format!("series \"{name}\""), index });
        }
        for (option, is_log, values) in [("log_x", self.log_x, x), ("log_y", self.log_y, y)] {
            if let Some(value) = values.iter().find(|&&value| is_log && value <= 0.0) {
                let reason = "a value on a logarithmic scale is positive";
                return Err(RenderError::BadOption { option, value: value.to_string(), reason });
            }
        }
        Ok(())
    }
}
