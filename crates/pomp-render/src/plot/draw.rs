//! Titles, legends, axes, lines and bars, on any backend of plotters.

use super::axis::{Format, decade, short};
use super::{Plot, Series, UNITS};
use plotters::chart::{ChartBuilder, ChartContext, LabelAreaPosition};
use plotters::coord::Shift;
use plotters::coord::cartesian::Cartesian2d;
use plotters::coord::combinators::IntoLogRange;
use plotters::coord::ranged1d::{Ranged, ValueFormatter};
use plotters::drawing::DrawingAreaErrorKind;
use plotters::element::{Circle, PathElement, Rectangle, Text};
use plotters::prelude::{DrawingArea, DrawingBackend};
use plotters::style::text_anchor::{HPos, Pos, VPos};
use plotters::style::{Color, FontDesc, FontFamily, FontStyle, RGBColor, ShapeStyle, TextStyle, WHITE};

/// Colours of lines and groups, told apart by hue and by lightness.
const COLORS: [RGBColor; 10] = [
    RGBColor(38, 110, 184),
    RGBColor(224, 108, 52),
    RGBColor(40, 150, 110),
    RGBColor(196, 50, 92),
    RGBColor(128, 96, 190),
    RGBColor(178, 140, 20),
    RGBColor(70, 170, 200),
    RGBColor(110, 116, 124),
    RGBColor(27, 58, 92),
    RGBColor(160, 60, 150),
];
/// Bars beside a first one that is highlighted.
const PALE: RGBColor = RGBColor(180, 200, 220);
const MARK: RGBColor = RGBColor(196, 50, 92);
const INK: RGBColor = RGBColor(38, 46, 58);
const SOFT_INK: RGBColor = RGBColor(96, 106, 120);
const GRID: RGBColor = RGBColor(228, 232, 236);

/// Sizes of text, pixels per em.
const TITLE: f64 = 15.0;
const PLAIN: f64 = 12.0;
const SMALL: f64 = 11.0;
/// Height of a row of the legend, and the place of the first one, pixels.
const LEGEND_ROW: i32 = 18;
const LEGEND_TOP: i32 = 34;
/// Margin at the left and right, pixels.
const MARGIN: i32 = 14;
/// Room for the value beside a bar, pixels.
const VALUE_ROOM: i32 = 56;

type Drawn<B> = Result<(), DrawingAreaErrorKind<<B as DrawingBackend>::ErrorType>>;
type Area<B> = DrawingArea<B, Shift>;

/// Units of so many pixels.
fn units(pixels: i32) -> i32 {
    pixels * UNITS as i32
}

fn line(color: RGBColor, tenths: u32) -> ShapeStyle {
    ShapeStyle { color: color.to_rgba(), filled: false, stroke_width: tenths * UNITS / 10 }
}

fn font(em_pixels: f64, style: FontStyle) -> FontDesc<'static> {
    // Plotters' sizes are 1.24 em.
    FontDesc::new(FontFamily::SansSerif, 1.24 * em_pixels * f64::from(UNITS), style)
}

fn text(em_pixels: f64, color: RGBColor, h: HPos, v: VPos) -> TextStyle<'static> {
    let plain = TextStyle::from(font(em_pixels, FontStyle::Normal));
    TextStyle { color: color.to_backend_color(), pos: Pos::new(h, v), ..plain }
}

/// Room for a text, pixels: a browser may set it in a wider face.
fn width<B: DrawingBackend>(
    area: &Area<B>,
    said: &str,
    em_pixels: f64,
) -> Result<i32, DrawingAreaErrorKind<B::ErrorType>> {
    let style = text(em_pixels, INK, HPos::Left, VPos::Top);
    Ok((1.12 * f64::from(area.estimate_text_size(said, &style)?.0) / f64::from(UNITS)).ceil() as i32)
}

/// An entry of the legend; with a sign of a line or of a bar.
struct Entry<'a> {
    name: &'a str,
    color: RGBColor,
    is_line: bool,
}

/// The whole chart.
pub(super) fn draw<B: DrawingBackend>(plot: &Plot, root: &Area<B>) -> Drawn<B> {
    root.fill(&WHITE)?;
    let title = TextStyle { font: font(TITLE, FontStyle::Bold), ..text(TITLE, INK, HPos::Left, VPos::Top) };
    root.draw_text(&plot.title, &title, (units(MARGIN), units(10)))?;
    let bottom_of_legend = legend(plot, root)?;
    let (wide, high) = root.dim_in_pixel();
    let below = root
        .clone()
        .shrink((0, units(bottom_of_legend)), (wide, high.saturating_sub(units(bottom_of_legend) as u32)));
    if plot.bars.is_empty() {
        lines(plot, &below)?;
    } else {
        bars(plot, &below)?;
    }
    root.present()
}

/// Draws the legend in rows below the title; gives where it ends, pixels.
fn legend<B: DrawingBackend>(plot: &Plot, root: &Area<B>) -> Result<i32, DrawingAreaErrorKind<B::ErrorType>> {
    let groups = plot.groups();
    let series = plot.series.iter().map(|series| series.name.as_str());
    let is_line = plot.bars.is_empty();
    let mut entries: Vec<Entry<'_>> = series
        .chain(groups)
        .enumerate()
        .map(|(index, name)| Entry { name, color: COLORS[index % COLORS.len()], is_line })
        .filter(|entry| !entry.name.is_empty())
        .collect();
    entries.extend(plot.reference.iter().map(|(_, name)| Entry { name, color: MARK, is_line: true }));
    let right = root.dim_in_pixel().0 as i32 / UNITS as i32 - MARGIN;
    let (mut x, mut y) = (MARGIN, LEGEND_TOP);
    for Entry { name, color, is_line } in &entries {
        let needed = 22 + width(root, name, PLAIN)? + 14;
        if x + needed > right && x > MARGIN {
            (x, y) = (MARGIN, y + LEGEND_ROW);
        }
        let middle = y + LEGEND_ROW / 2;
        if *is_line {
            let way = vec![(units(x), units(middle)), (units(x + 16), units(middle))];
            root.draw(&PathElement::new(way, line(*color, 30)))?;
        } else {
            let corners = [(units(x + 2), units(middle - 5)), (units(x + 14), units(middle + 5))];
            root.draw(&Rectangle::new(corners, color.filled()))?;
        }
        root.draw_text(name, &text(PLAIN, INK, HPos::Left, VPos::Center), (units(x + 22), units(middle)))?;
        x += needed;
    }
    Ok(if entries.is_empty() { LEGEND_TOP } else { y + LEGEND_ROW + 4 })
}

/// Series over x.
fn lines<B: DrawingBackend>(plot: &Plot, area: &Area<B>) -> Drawn<B> {
    let (x, y) = (plot.x_range(), plot.y_range());
    let (wide, high) = area.dim_in_pixel();
    let counts = [wide / UNITS / 90, high / UNITS / 45].map(|count| (count as usize).clamp(2, 12));
    let format = if plot.percent { Format::Percent } else { Format::of(&y, counts[1]) };
    let said = |value: &f64| if plot.log_y { decade(*value) } else { format.text(*value) };
    let x_format = Format::of(&x, counts[0]);
    let x_said = |value: &f64| if plot.log_x { decade(*value) } else { x_format.text(*value) };
    let widest = if plot.log_y {
        let decades = (y.end / y.start).log10().round() as i32;
        (0..=decades)
            .map(|power| decade(y.start * 10f64.powi(power)))
            .max_by_key(String::len)
            .unwrap_or_default()
    } else {
        let [low, high] = [y.start, y.end].map(|value| format.text(value));
        if low.len() > high.len() { low } else { high }
    };
    let label_room = width(area, &widest, SMALL)? + if plot.y_label.is_empty() { 12 } else { 30 };
    let mut builder = ChartBuilder::on(area);
    builder
        .margin_right(units(MARGIN + 4))
        .margin_left(units(6))
        .margin_top(units(8))
        .margin_bottom(units(6))
        .x_label_area_size(units(if plot.x_label.is_empty() { 22 } else { 40 }))
        .y_label_area_size(units(label_room));
    // As many labels as there are decades, where they fit.
    let labels = [(plot.log_x, &x, counts[0]), (plot.log_y, &y, counts[1])].map(|(is_log, range, count)| {
        if is_log { ((range.end / range.start).log10().round() as usize).min(count) } else { count }
    });
    let labels = Labels { counts: labels, x: &x_said, y: &said };
    match (plot.log_x, plot.log_y) {
        (false, false) => contents(plot, area, &mut builder.build_cartesian_2d(x, y)?, &labels),
        (false, true) => contents(plot, area, &mut builder.build_cartesian_2d(x, y.log_scale())?, &labels),
        (true, false) => contents(plot, area, &mut builder.build_cartesian_2d(x.log_scale(), y)?, &labels),
        (true, true) => {
            contents(plot, area, &mut builder.build_cartesian_2d(x.log_scale(), y.log_scale())?, &labels)
        }
    }
}

/// How many labels the axes have, and what these say.
struct Labels<'a> {
    counts: [usize; 2],
    x: &'a dyn Fn(&f64) -> String,
    y: &'a dyn Fn(&f64) -> String,
}

/// An axis of numbers, on either scale.
trait Scale: Ranged<ValueType = f64> + ValueFormatter<f64> {}

impl<T: Ranged<ValueType = f64> + ValueFormatter<f64>> Scale for T {}

type Chart<'a, B, X, Y> = ChartContext<'a, B, Cartesian2d<X, Y>>;

fn contents<B: DrawingBackend, X: Scale, Y: Scale>(
    plot: &Plot,
    area: &Area<B>,
    chart: &mut Chart<'_, B, X, Y>,
    labels: &Labels<'_>,
) -> Drawn<B> {
    let small = text(SMALL, SOFT_INK, HPos::Center, VPos::Top);
    let named = text(PLAIN, INK, HPos::Center, VPos::Top);
    chart
        .configure_mesh()
        .x_desc(&plot.x_label)
        .y_desc(&plot.y_label)
        .axis_desc_style(named)
        .label_style(small)
        .x_label_formatter(&labels.x)
        .y_label_formatter(&labels.y)
        .x_labels(labels.counts[0])
        .y_labels(labels.counts[1])
        .max_light_lines(0)
        .bold_line_style(line(GRID, 10))
        .axis_style(line(SOFT_INK, 10))
        .set_all_tick_mark_size(units(4))
        .draw()?;
    let top = chart.plotting_area().get_pixel_range().1.start;
    for (x, name) in &plot.markers {
        let range = plot.y_range();
        chart
            .draw_series([PathElement::new(vec![(*x, range.start), (*x, range.end)], line(SOFT_INK, 10))])?;
        let at = (chart.backend_coord(&(*x, range.end)).0 + units(4), top + units(3));
        let base = area.get_base_pixel();
        let style = text(SMALL, SOFT_INK, HPos::Left, VPos::Top);
        area.draw_text(name, &style, (at.0 - base.0, at.1 - base.1))?;
    }
    for (index, series) in plot.series.iter().enumerate() {
        draw_series(plot, chart, index, series)?;
    }
    Ok(())
}

fn draw_series<B: DrawingBackend, X: Scale, Y: Scale>(
    plot: &Plot,
    chart: &mut Chart<'_, B, X, Y>,
    index: usize,
    series: &Series,
) -> Drawn<B> {
    let color = COLORS[index % COLORS.len()];
    let points: Vec<(f64, f64)> = series.x.iter().copied().zip(series.y.iter().copied()).collect();
    let x = plot.x_range();
    // Intervals of several series at one place would hide each other.
    let aside = (x.end - x.start) * 0.006 * (index as f64 - 0.5 * (plot.series.len() as f64 - 1.0));
    let cap = (x.end - x.start) * 0.003;
    for (&(x, _), [low, high]) in points.iter().zip(&series.intervals).filter_map(|(p, i)| Some((p, (*i)?))) {
        let x = x + aside;
        let style = ShapeStyle { color: color.mix(0.55), ..line(color, 12) };
        for ends in
            [[(x, low), (x, high)], [(x - cap, low), (x + cap, low)], [(x - cap, high), (x + cap, high)]]
        {
            chart.draw_series([PathElement::new(ends.to_vec(), style)])?;
        }
    }
    // Measured at so few places, a line alone would hide where.
    if points.len() == 1 || plot.log_x || !series.intervals.is_empty() {
        chart.draw_series(points.iter().map(|&point| Circle::new(point, units(3), color.filled())))?;
    }
    chart.draw_series([PathElement::new(points, line(color, 18))])?;
    Ok(())
}

/// Bars that lie, with names at the left and values at the right.
fn bars<B: DrawingBackend>(plot: &Plot, area: &Area<B>) -> Drawn<B> {
    let (names, groups, range) = (plot.names(), plot.groups(), plot.bar_range());
    let mut widest = 0;
    for name in &names {
        widest = widest.max(width(area, name, PLAIN)?);
    }
    let (wide, high) = area.dim_in_pixel();
    let axis_room = if plot.x_label.is_empty() { 22 } else { 40 };
    let left = units((widest + 12).min(wide as i32 / UNITS as i32 / 2));
    let count = ((wide as i32 - left) / units(90)).clamp(2, 10) as usize;
    let format = if plot.percent { Format::Percent } else { Format::of(&range, count) };
    let mut chart = ChartBuilder::on(area)
        .margin_left(units(6))
        .margin_right(units(VALUE_ROOM))
        .margin_top(units(2))
        .margin_bottom(units(6))
        .x_label_area_size(units(axis_room))
        .y_label_area_size(left)
        .build_cartesian_2d(range.clone(), names.len() as f64..0.0)?;
    chart
        .configure_mesh()
        .x_desc(&plot.x_label)
        .axis_desc_style(text(PLAIN, INK, HPos::Center, VPos::Top))
        .label_style(text(SMALL, SOFT_INK, HPos::Center, VPos::Top))
        .x_label_formatter(&|value| format.text(*value))
        .x_labels(count)
        .y_labels(0)
        .disable_y_mesh()
        .max_light_lines(0)
        .bold_line_style(line(GRID, 10))
        .axis_style(line(SOFT_INK, 10))
        .set_all_tick_mark_size(units(4))
        .set_tick_mark_size(LabelAreaPosition::Left, 0)
        .draw()?;
    let base = area.get_base_pixel();
    let ends = chart.plotting_area().get_pixel_range().0;
    // A bar takes four fifths of its place, or of its share of the place of a name, and 22 pixels at most.
    let place = (high as f64 / f64::from(UNITS) - f64::from(axis_room)) / names.len() as f64;
    let beside = if plot.stacked { 1 } else { groups.len() };
    let thick = (0.8 / beside as f64).min(22.0 / place.max(1.0));
    for (index, bar) in plot.bars.iter().enumerate() {
        let foot = plot.foot(index);
        let row = names.iter().position(|name| *name == bar.name).expect("every bar has a name");
        let group = groups.iter().position(|group| *group == bar.group).expect("every bar has a group");
        let color = match (plot.highlight_first, row) {
            (true, 1..) => PALE,
            _ => COLORS[group % COLORS.len()],
        };
        let aside = if plot.stacked { 0.0 } else { group as f64 - 0.5 * (groups.len() as f64 - 1.0) };
        let middle = row as f64 + 0.5 + thick * aside;
        let half = 0.45 * thick;
        let clamped = |value: f64| value.clamp(range.start, range.end);
        let body = [(clamped(foot), middle - half), (clamped(foot + bar.value), middle + half)];
        chart.draw_series([Rectangle::new(body, color.filled())])?;
        if let Some([low, high]) = bar.interval.map(|ends| ends.map(clamped)) {
            let cap = 0.5 * half;
            let whisker = [
                [(low, middle), (high, middle)],
                [(low, middle - cap), (low, middle + cap)],
                [(high, middle - cap), (high, middle + cap)],
            ];
            chart.draw_series(whisker.map(|way| PathElement::new(way.to_vec(), line(INK, 12))))?;
        }
        if plot.stacked && plot.bars[index + 1..].iter().any(|other| other.name == bar.name) {
            continue;
        }
        let y = chart.backend_coord(&(0.0, middle)).1 - base.1;
        let value = if plot.stacked { foot + bar.value } else { bar.value };
        let value = if plot.percent { Format::Percent.text(value) } else { short(value) };
        let style = text(SMALL, INK, HPos::Left, VPos::Center);
        area.draw_text(&value, &style, (ends.end - base.0 + units(6), y))?;
    }
    if let Some((value, _)) = &plot.reference {
        let way = vec![(*value, 0.0), (*value, names.len() as f64)];
        chart.draw_series([PathElement::new(way, line(MARK, 18))])?;
    }
    for (row, name) in names.iter().enumerate() {
        let y = chart.backend_coord(&(0.0, row as f64 + 0.5)).1 - base.1;
        let at = (ends.start - base.0 - units(6), y);
        area.draw(&Text::new((*name).to_owned(), at, text(PLAIN, INK, HPos::Right, VPos::Center)))?;
    }
    Ok(())
}

impl Plot {
    /// Groups of bars, in the order of their first ones.
    fn groups(&self) -> Vec<&str> {
        distinct(self.bars.iter().map(|bar| bar.group.as_str()))
    }

    /// Names of bars, in the order of their first ones.
    fn names(&self) -> Vec<&str> {
        distinct(self.bars.iter().map(|bar| bar.name.as_str()))
    }
}

fn distinct<'a>(all: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    all.fold(Vec::new(), |mut kept, one| {
        if !kept.contains(&one) {
            kept.push(one);
        }
        kept
    })
}
