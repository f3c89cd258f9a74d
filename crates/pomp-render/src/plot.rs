use crate::text::{Direction, Face, draw};
use crate::{Image, RenderError};
use tiny_skia::{
    Color, FillRule, LineCap, LineJoin, Paint, Path, PathBuilder, Pixmap, Rect, Stroke, Transform,
};

/// Line colours, told apart by hue and by lightness.
const COLORS: [[u8; 3]; 8] = [
    [38, 110, 184],
    [224, 108, 52],
    [40, 150, 110],
    [196, 50, 92],
    [128, 96, 190],
    [178, 140, 20],
    [70, 170, 200],
    [110, 116, 124],
];
const INK: [u8; 3] = [38, 46, 58];
const SOFT_INK: [u8; 3] = [96, 106, 120];
const GRID: [u8; 3] = [228, 232, 236];
const PAPER: [u8; 3] = [255, 255, 255];

/// A chart: named lines and points over x, or named bars.
///
/// ```
/// let steps: Vec<f32> = (0..100).map(|i| i as f32).collect();
/// let loss: Vec<f32> = steps.iter().map(|s| 0.1 + (-s / 30.0).exp()).collect();
/// let png = pomp_render::Plot::new("Loss").x_label("step").y_label("MSE").log_y().series("train", &steps, &loss)
///     .render(640, 400)?;
/// assert_eq!(&png[1..4], b"PNG");
/// # Ok::<(), pomp_render::RenderError>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Plot {
    title: String,
    x_label: String,
    y_label: String,
    log_y: bool,
    series: Vec<Series>,
    bars: Vec<(String, f32)>,
    markers: Vec<(f32, String)>,
}

#[derive(Clone, Debug)]
struct Series {
    name: String,
    x: Vec<f32>,
    y: Vec<f32>,
}

impl Plot {
    /// An empty chart.
    pub fn new(title: impl Into<String>) -> Self {
        Self { title: title.into(), ..Self::default() }
    }

    /// Name and unit of x.
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

    /// Draws y on a logarithmic scale; all values must then be positive.
    #[must_use]
    pub fn log_y(mut self) -> Self {
        self.log_y = true;
        self
    }

    /// Adds a line through the points (x, y).
    #[must_use]
    pub fn series(mut self, name: impl Into<String>, x: &[f32], y: &[f32]) -> Self {
        self.series.push(Series { name: name.into(), x: x.to_vec(), y: y.to_vec() });
        self
    }

    /// Adds a bar; bars stand side by side in the order given, at x = 0, 1, 2, …
    #[must_use]
    pub fn bar(mut self, name: impl Into<String>, value: f32) -> Self {
        self.bars.push((name.into(), value));
        self
    }

    /// Adds a labelled vertical line, for an event such as a push.
    #[must_use]
    pub fn marker(mut self, x: f32, label: impl Into<String>) -> Self {
        self.markers.push((x, label.into()));
        self
    }

    /// The chart as the bytes of a PNG of `width` × `height` pixels.
    ///
    /// # Errors
    /// [`RenderError::BadOption`] when a side is not 120 to 8192 pixels or a value cannot stand on a logarithmic
    /// scale, [`RenderError::NothingToDraw`] without a value, [`RenderError::UnequalSeries`],
    /// [`RenderError::NotFinite`].
    pub fn render(&self, width: u32, height: u32) -> Result<Vec<u8>, RenderError> {
        self.image(width, height)?.to_png()
    }

    /// The chart as a picture; see [`Self::render`].
    ///
    /// # Errors
    /// As [`Self::render`].
    pub fn image(&self, width: u32, height: u32) -> Result<Image, RenderError> {
        self.check(width, height)?;
        let (x_axis, y_axis) = self.axes(width, height);
        let mut pixmap = Pixmap::new(width, height).expect("the sides were checked to be positive and small");
        pixmap.fill(color(PAPER));
        self.draw_shapes(&mut pixmap, &x_axis, &y_axis);
        // The page is opaque, so that premultiplied and plain bytes are the same.
        let mut image = Image::from_rgba(width, height, pixmap.take());
        self.draw_text(&mut image, &x_axis, &y_axis);
        Ok(image)
    }

    fn check(&self, width: u32, height: u32) -> Result<(), RenderError> {
        for (option, value) in [("width", width), ("height", height)] {
            if !(120..=8192).contains(&value) {
                let reason = "a chart has 120 to 8192 pixels a side";
                return Err(RenderError::BadOption { option, value: value.to_string(), reason });
            }
        }
        for Series { name, x, y } in &self.series {
            if x.len() != y.len() {
                return Err(RenderError::UnequalSeries { series: name.clone(), x: x.len(), y: y.len() });
            }
        }
        let series = self.series.iter().flat_map(|s| {
            s.x.iter().zip(&s.y).enumerate().map(move |(index, (&x, &y))| (s.name.as_str(), index, x, y))
        });
        let bars = self.bars.iter().enumerate().map(|(index, (name, y))| (name.as_str(), index, 0.0, *y));
        let markers =
            self.markers.iter().enumerate().map(|(index, (x, name))| (name.as_str(), index, *x, 1.0));
        let mut values = 0;
        for (name, index, x, y) in series.chain(bars) {
            self.check_value(name, index, x, y)?;
            values += 1;
        }
        for (name, index, x, y) in markers {
            self.check_value(name, index, x, y)?;
        }
        if values == 0 {
            let (view, part) = ("the chart", "a value");
            return Err(RenderError::NothingToDraw { recording: self.title.clone(), view, part });
        }
        Ok(())
    }

    fn check_value(&self, name: &str, index: usize, x: f32, y: f32) -> Result<(), RenderError> {
        if !(x.is_finite() && y.is_finite()) {
            return Err(RenderError::NotFinite { what: format!("series \"{name}\""), index });
        }
        if self.log_y && y <= 0.0 {
            let reason = "a value on a logarithmic scale is positive";
            return Err(RenderError::BadOption { option: "log_y", value: y.to_string(), reason });
        }
        Ok(())
    }

    fn axes(&self, width: u32, height: u32) -> (Axis, Axis) {
        let xs = self.series.iter().flat_map(|s| &s.x).copied().chain(self.markers.iter().map(|m| m.0));
        let mut x_range = range(xs);
        if !self.bars.is_empty() {
            let bars = (-0.5, self.bars.len() as f32 - 0.5);
            x_range = Some(x_range.map_or(bars, |(low, high)| (low.min(bars.0), high.max(bars.1))));
        }
        let scale = |y: f32| if self.log_y { y.log10() } else { y };
        let ys =
            self.series.iter().flat_map(|s| &s.y).chain(self.bars.iter().map(|b| &b.1)).map(|&y| scale(y));
        let zero = (!self.bars.is_empty() && !self.log_y).then_some(0.0);
        let (mut low, mut high) = range(ys.chain(zero)).unwrap_or((0.0, 1.0));
        if !self.log_y {
            let touches_zero = zero.is_some() || low >= 0.0 && low < 0.3 * high;
            let margin = 0.05 * (high - low).max(1e-6 * high.abs().max(1e-6));
            low = if touches_zero && low >= 0.0 { 0.0 } else { low - margin };
            high = if touches_zero && high <= 0.0 { 0.0 } else { high + margin };
        }
        let (x_low, x_high) = x_range.unwrap_or((0.0, 1.0));
        let y_axis = Axis::new(
            low,
            high,
            [height as f32 - 44.0, 34.0 + self.legend_rows(width) as f32 * 15.0],
            self.log_y,
        );
        let widest = y_axis.ticks.iter().map(|t| Face::Small.size(&t.1)[0]).max().unwrap_or(0);
        let left = 14.0 + widest as f32 + if self.y_label.is_empty() { 0.0 } else { 18.0 };
        let mut x_axis = Axis::new(x_low, x_high, [left, width as f32 - 18.0], false);
        if !self.bars.is_empty() {
            x_axis.ticks =
                self.bars.iter().enumerate().map(|(i, (name, _))| (i as f32, name.clone())).collect();
        }
        (x_axis, y_axis)
    }

    /// Places of the legend entries: row, x, name, colour.
    fn legend(&self, width: u32) -> Vec<(usize, i32, &str, [u8; 3])> {
        let (mut row, mut x) = (0, 14);
        self.series
            .iter()
            .enumerate()
            .map(|(index, series)| {
                let needed = 22 + Face::Regular.size(&series.name)[0] + 16;
                if x + needed > width as i32 && x > 14 {
                    (row, x) = (row + 1, 14);
                }
                let place = (row, x, series.name.as_str(), COLORS[index % COLORS.len()]);
                x += needed;
                place
            })
            .collect()
    }

    fn legend_rows(&self, width: u32) -> usize {
        self.legend(width).last().map_or(0, |entry| entry.0 + 1)
    }

    fn draw_shapes(&self, pixmap: &mut Pixmap, x_axis: &Axis, y_axis: &Axis) {
        let [left, right] = x_axis.pixels;
        let [bottom, top] = y_axis.pixels;
        for (value, _) in &y_axis.ticks {
            let y = y_axis.pixel(*value).round() + 0.5;
            stroke(pixmap, &[[left, y], [right, y]], GRID, 1.0);
        }
        if self.bars.is_empty() {
            for (value, _) in &x_axis.ticks {
                let x = x_axis.pixel(*value).round() + 0.5;
                stroke(pixmap, &[[x, top], [x, bottom]], GRID, 1.0);
            }
        }
        for (index, (_, value)) in self.bars.iter().enumerate() {
            let (from, to) = (x_axis.pixel(index as f32 - 0.36), x_axis.pixel(index as f32 + 0.36));
            let foot = if self.log_y { bottom } else { y_axis.pixel(0.0) };
            let head = y_axis.pixel(self.scaled(*value));
            if let Some(rect) =
                Rect::from_ltrb(from, head.min(foot), to, head.max(foot).max(head.min(foot) + 0.5))
            {
                let paint = paint(COLORS[index % COLORS.len()]);
                pixmap.fill_rect(rect, &paint, Transform::identity(), None);
            }
        }
        for (x, _) in &self.markers {
            let x = x_axis.pixel(*x).round() + 0.5;
            stroke(pixmap, &[[x, top], [x, bottom]], SOFT_INK, 1.0);
        }
        for (index, series) in self.series.iter().enumerate() {
            let points: Vec<[f32; 2]> = series
                .x
                .iter()
                .zip(&series.y)
                .map(|(&x, &y)| [x_axis.pixel(x), y_axis.pixel(self.scaled(y))])
                .collect();
            let rgb = COLORS[index % COLORS.len()];
            if let [point] = points[..] {
                dot(pixmap, point, rgb);
            } else {
                stroke(pixmap, &points, rgb, 1.8);
            }
        }
        let base =
            if y_axis.low < 0.0 && y_axis.high > 0.0 && !self.log_y { y_axis.pixel(0.0) } else { bottom };
        stroke(pixmap, &[[left, base.round() + 0.5], [right, base.round() + 0.5]], SOFT_INK, 1.0);
        for (row, x, _, rgb) in self.legend(pixmap.width()) {
            let y = 38.0 + row as f32 * 15.0;
            stroke(pixmap, &[[x as f32, y], [x as f32 + 16.0, y]], rgb, 3.0);
        }
    }

    fn draw_text(&self, image: &mut Image, x_axis: &Axis, y_axis: &Axis) {
        let [left, right] = x_axis.pixels.map(|v| v as i32);
        let [bottom, top] = y_axis.pixels.map(|v| v as i32);
        let right_of = Direction::Right;
        draw(image, [14, 9], &self.title, Face::Title, INK, right_of);
        for (row, x, name, _) in self.legend(image.width()) {
            draw(image, [x + 22, 32 + row as i32 * 15], name, Face::Regular, INK, right_of);
        }
        for (value, label) in &y_axis.ticks {
            let [width, height] = Face::Small.size(label);
            let y = y_axis.pixel(*value) as i32 - height / 2;
            draw(image, [left - 6 - width, y], label, Face::Small, SOFT_INK, right_of);
        }
        let mut free_from = i32::MIN;
        for (value, label) in &x_axis.ticks {
            let [width, _] = Face::Small.size(label);
            let x = (x_axis.pixel(*value) as i32 - width / 2).min(image.width() as i32 - width - 2);
            if x >= free_from {
                draw(image, [x, bottom + 6], label, Face::Small, SOFT_INK, right_of);
                free_from = x + width + 4;
            }
        }
        for (x, label) in &self.markers {
            draw(image, [x_axis.pixel(*x) as i32 + 4, top + 2], label, Face::Small, SOFT_INK, right_of);
        }
        let [width, _] = Face::Regular.size(&self.x_label);
        draw(image, [(left + right - width) / 2, bottom + 22], &self.x_label, Face::Regular, INK, right_of);
        let [width, _] = Face::Regular.size(&self.y_label);
        draw(image, [4, (top + bottom + width) / 2], &self.y_label, Face::Regular, INK, Direction::Up);
    }

    fn scaled(&self, y: f32) -> f32 {
        if self.log_y { y.log10() } else { y }
    }
}

/// A range of values laid on a range of pixels, with round ticks.
struct Axis {
    low: f32,
    high: f32,
    pixels: [f32; 2],
    ticks: Vec<(f32, String)>,
}

impl Axis {
    fn new(low: f32, high: f32, pixels: [f32; 2], log: bool) -> Self {
        if log {
            // Rounding must not open another decade for a value at its end.
            let low = (low + 1e-4).floor();
            let high = (high - 1e-4).ceil().max(low + 1.0);
            let stride = (((high - low) / 8.0).ceil() as usize).max(1);
            let ticks = (low as i32..=high as i32).step_by(stride).map(|e| (e as f32, decimal(e))).collect();
            return Self { low, high, pixels, ticks };
        }
        let high = if high > low { high } else { low + low.abs().max(1e-6) };
        let room = (pixels[1] - pixels[0]).abs() / 60.0;
        let step = f64::from(round_step((high - low) / room.clamp(2.0, 10.0)));
        let digits = (-step.log10().floor()).max(0.0) as usize;
        let (first, last) =
            ((f64::from(low) / step - 1e-6).ceil() as i64, (f64::from(high) / step + 1e-6).floor() as i64);
        let label = |v: f64| {
            if (1e-5..1e5).contains(&step) { format!("{v:.digits$}") } else { format!("{v:.1e}") }
        };
        let ticks = (first..=last).map(|i| i as f64 * step).map(|v| (v as f32, label(v))).collect();
        Self { low, high, pixels, ticks }
    }

    fn pixel(&self, value: f32) -> f32 {
        self.pixels[0] + (self.pixels[1] - self.pixels[0]) * (value - self.low) / (self.high - self.low)
    }
}

/// 10 to the power of `exponent`, short.
fn decimal(exponent: i32) -> String {
    if (-3..=4).contains(&exponent) { format!("{}", 10f64.powi(exponent)) } else { format!("1e{exponent}") }
}

/// The least of 1, 2, 5 × 10ⁿ that is not below `step`.
fn round_step(step: f32) -> f32 {
    let power = 10f32.powf(step.log10().floor());
    [1.0, 2.0, 5.0, 10.0].map(|m| m * power).into_iter().find(|&s| s >= step * 0.999).unwrap_or(10.0 * power)
}

fn range(values: impl Iterator<Item = f32>) -> Option<(f32, f32)> {
    values.fold(None, |range, v| {
        Some(range.map_or((v, v), |(low, high): (f32, f32)| (low.min(v), high.max(v))))
    })
}

fn color([r, g, b]: [u8; 3]) -> Color {
    Color::from_rgba8(r, g, b, 255)
}

fn paint(rgb: [u8; 3]) -> Paint<'static> {
    let mut paint = Paint { anti_alias: true, ..Paint::default() };
    paint.set_color(color(rgb));
    paint
}

fn stroke(pixmap: &mut Pixmap, points: &[[f32; 2]], rgb: [u8; 3], width: f32) {
    let mut builder = PathBuilder::new();
    for (index, &[x, y]) in points.iter().enumerate() {
        if index == 0 { builder.move_to(x, y) } else { builder.line_to(x, y) }
    }
    let style = Stroke { width, line_cap: LineCap::Round, line_join: LineJoin::Round, ..Stroke::default() };
    // `None` means a line without length: nothing to see.
    if let Some(path) = builder.finish() {
        pixmap.stroke_path(&path, &paint(rgb), &style, Transform::identity(), None);
    }
}

fn dot(pixmap: &mut Pixmap, [x, y]: [f32; 2], rgb: [u8; 3]) {
    let path: Option<Path> = PathBuilder::from_circle(x, y, 3.0);
    if let Some(path) = path {
        pixmap.fill_path(&path, &paint(rgb), FillRule::Winding, Transform::identity(), None);
    }
}
