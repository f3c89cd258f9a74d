//! A backend of plotters on tiny-skia, with smooth edges, and the typeface.

use super::UNITS;
use crate::image::mix;
use crate::{Image, RenderError};
use ab_glyph::{Font, FontRef, PxScale, PxScaleFont, ScaleFont, point};
use plotters::coord::Shift;
use plotters::prelude::{DrawingArea, IntoDrawingArea};
use plotters::style::{FontStyle, register_font};
use plotters_backend::text_anchor::{HPos, VPos};
use plotters_backend::{
    BackendColor, BackendCoord, BackendStyle, BackendTextStyle, DrawingBackend, DrawingErrorKind,
    FontTransform,
};
use std::convert::Infallible;
use std::sync::LazyLock;
use tiny_skia::{
    Color, FillRule, LineCap, LineJoin, Paint, Path, PathBuilder, Pixmap, Rect, Stroke, Transform,
};

/// Roboto, cut down to Latin, Greek and signs (fonts/README.md).
const REGULAR: &[u8] = include_bytes!("../../fonts/Roboto-Regular.ttf");
const BOLD: &[u8] = include_bytes!("../../fonts/Roboto-Medium.ttf");

static FACES: LazyLock<[FontRef<'static>; 2]> = LazyLock::new(|| {
    [REGULAR, BOLD].map(|bytes| FontRef::try_from_slice(bytes).expect("the embedded font is whole"))
});

/// Tells plotters of the typeface, by which it lays text out.
pub(super) fn register_fonts() {
    static REGISTERED: LazyLock<()> = LazyLock::new(|| {
        for (style, bytes) in [(FontStyle::Normal, REGULAR), (FontStyle::Bold, BOLD)] {
            assert!(register_font("sans-serif", style, bytes).is_ok(), "the embedded font is whole");
        }
    });
    LazyLock::force(&REGISTERED);
}

/// Draws on white paper of `width` × `height` pixels.
pub(super) fn image(
    width: u32,
    height: u32,
    draw: impl FnOnce(&DrawingArea<Pixels<'_>, Shift>) -> Result<(), RenderError>,
) -> Result<Image, RenderError> {
    let mut pixmap = Pixmap::new(width, height).expect("the sides were checked to be positive and small");
    pixmap.fill(Color::WHITE);
    draw(&Pixels(&mut pixmap).into_drawing_area())?;
    // The paper is opaque, so that premultiplied and plain bytes are the same.
    Ok(Image::from_rgba(width, height, pixmap.take()))
}

pub(super) struct Pixels<'a>(&'a mut Pixmap);

type Drawn = Result<(), DrawingErrorKind<Infallible>>;

fn pixels(units: i32) -> f32 {
    units as f32 / UNITS as f32
}

fn paint(color: BackendColor) -> Paint<'static> {
    let (r, g, b) = color.rgb;
    let mut paint = Paint { anti_alias: true, ..Paint::default() };
    paint.set_color(Color::from_rgba8(r, g, b, (255.0 * color.alpha).round() as u8));
    paint
}

/// A path through points; `None` where it has no length.
fn path(points: impl IntoIterator<Item = BackendCoord>, closed: bool) -> Option<Path> {
    let mut builder = PathBuilder::new();
    for (index, (x, y)) in points.into_iter().enumerate() {
        let (x, y) = (pixels(x), pixels(y));
        if index == 0 { builder.move_to(x, y) } else { builder.line_to(x, y) }
    }
    if closed {
        builder.close();
    }
    builder.finish()
}

impl Pixels<'_> {
    fn stroke<S: BackendStyle>(&mut self, path: Option<Path>, style: &S) {
        let stroke = Stroke {
            width: pixels(style.stroke_width() as i32),
            line_cap: LineCap::Round,
            line_join: LineJoin::Round,
            ..Stroke::default()
        };
        if let Some(path) = path {
            self.0.stroke_path(&path, &paint(style.color()), &stroke, Transform::identity(), None);
        }
    }

    fn fill(&mut self, path: Option<Path>, color: BackendColor) {
        if let Some(path) = path {
            self.0.fill_path(&path, &paint(color), FillRule::Winding, Transform::identity(), None);
        }
    }

    fn blend(&mut self, [x, y]: [i32; 2], color: BackendColor, cover: f32) {
        let (width, height) = (self.0.width() as i32, self.0.height() as i32);
        if (0..width).contains(&x) && (0..height).contains(&y) {
            let at = 4 * (y as usize * width as usize + x as usize);
            let (r, g, b) = color.rgb;
            let alpha = cover.min(1.0) * color.alpha as f32;
            for (channel, value) in self.0.data_mut()[at..at + 3].iter_mut().zip([r, g, b]) {
                *channel = mix(*channel, value, alpha);
            }
        }
    }
}

impl DrawingBackend for Pixels<'_> {
    type ErrorType = Infallible;

    fn get_size(&self) -> (u32, u32) {
        (self.0.width() * UNITS, self.0.height() * UNITS)
    }

    fn ensure_prepared(&mut self) -> Drawn {
        Ok(())
    }

    fn present(&mut self) -> Drawn {
        Ok(())
    }

    fn draw_pixel(&mut self, (x, y): BackendCoord, color: BackendColor) -> Drawn {
        self.draw_rect((x, y), (x + 1, y + 1), &color, true)
    }

    fn draw_line<S: BackendStyle>(&mut self, from: BackendCoord, to: BackendCoord, style: &S) -> Drawn {
        self.stroke(path([from, to], false), style);
        Ok(())
    }

    fn draw_path<S: BackendStyle, I: IntoIterator<Item = BackendCoord>>(
        &mut self,
        points: I,
        style: &S,
    ) -> Drawn {
        self.stroke(path(points, false), style);
        Ok(())
    }

    fn draw_rect<S: BackendStyle>(
        &mut self,
        (left, top): BackendCoord,
        (right, bottom): BackendCoord,
        style: &S,
        fill: bool,
    ) -> Drawn {
        let rect = Rect::from_ltrb(pixels(left), pixels(top), pixels(right), pixels(bottom));
        let path = rect.map(PathBuilder::from_rect);
        if fill {
            self.fill(path, style.color());
        } else {
            self.stroke(path, style);
        }
        Ok(())
    }

    fn draw_circle<S: BackendStyle>(
        &mut self,
        (x, y): BackendCoord,
        radius: u32,
        style: &S,
        fill: bool,
    ) -> Drawn {
        let path = PathBuilder::from_circle(pixels(x), pixels(y), pixels(radius as i32));
        if fill {
            self.fill(path, style.color());
        } else {
            self.stroke(path, style);
        }
        Ok(())
    }

    fn fill_polygon<S: BackendStyle, I: IntoIterator<Item = BackendCoord>>(
        &mut self,
        points: I,
        style: &S,
    ) -> Drawn {
        self.fill(path(points, true), style.color());
        Ok(())
    }

    /// Plotters' own would set every glyph at a whole pixel without its side bearing.
    fn draw_text<S: BackendTextStyle>(&mut self, text: &str, style: &S, (x, y): BackendCoord) -> Drawn {
        let face = &FACES[usize::from(matches!(style.style(), FontStyle::Bold))];
        let em = em_pixels(style.size());
        let font = face
            .as_scaled(PxScale::from(em * face.height_unscaled() / face.units_per_em().unwrap_or(1000.0)));
        let anchor = style.anchor();
        // As the SVG backend puts baselines.
        let baseline = match anchor.v_pos {
            VPos::Top => 0.76 * em,
            VPos::Center => 0.26 * em,
            VPos::Bottom => -0.26 * em,
        };
        let mut at = match anchor.h_pos {
            HPos::Left => 0.0,
            HPos::Center => -0.5 * width_pixels(text, &font),
            HPos::Right => -width_pixels(text, &font),
        };
        let (left, top) = (pixels(x), pixels(y));
        let turned = matches!(style.transform(), FontTransform::Rotate270);
        // Positions along the line, and across it, are whole pixels away from the anchor's.
        let (whole_left, whole_top) = (left.round() as i32, top.round() as i32);
        let mut last = None;
        for id in text.chars().map(|c| font.glyph_id(c)) {
            at += last.map_or(0.0, |last| font.kern(last, id));
            let glyph = id.with_scale_and_position(font.scale(), point(at, baseline.round()));
            if let Some(outline) = font.outline_glyph(glyph) {
                let corner = outline.px_bounds().min;
                outline.draw(|dx, dy, cover| {
                    let (dx, dy) = (corner.x as i32 + dx as i32, corner.y as i32 + dy as i32);
                    let [dx, dy] = if turned { [dy, -dx] } else { [dx, dy] };
                    self.blend([whole_left + dx, whole_top + dy], style.color(), cover);
                });
            }
            at += font.h_advance(id);
            last = Some(id);
        }
        Ok(())
    }
}

/// Pixels of an em of a font of this size; plotters' sizes are 1.24 em.
fn em_pixels(size: f64) -> f32 {
    (size / 1.24) as f32 / UNITS as f32
}

/// Length of a line of text.
fn width_pixels(text: &str, font: &PxScaleFont<&FontRef<'static>>) -> f32 {
    let mut last = None;
    text.chars()
        .map(|c| font.glyph_id(c))
        .map(|id| {
            let kern = last.map_or(0.0, |last| font.kern(last, id));
            last = Some(id);
            kern + font.h_advance(id)
        })
        .sum()
}
