use crate::Image;
use embedded_graphics::mono_font::iso_8859_1::{FONT_6X10, FONT_7X13, FONT_7X13_BOLD};
use embedded_graphics::mono_font::{MonoFont, MonoTextStyle};
use embedded_graphics::pixelcolor::BinaryColor;
use embedded_graphics::prelude::*;
use embedded_graphics::text::{Baseline, Text};
use std::convert::Infallible;

/// Size and weight of a line of text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Face {
    Small,
    Regular,
    Bold,
}

impl Face {
    fn font(self) -> &'static MonoFont<'static> {
        match self {
            Self::Small => &FONT_6X10,
            Self::Regular => &FONT_7X13,
            Self::Bold => &FONT_7X13_BOLD,
        }
    }

    /// Width and height of `text` in this face, pixels.
    pub(crate) fn size(self, text: &str) -> [i32; 2] {
        let size = self.font().character_size;
        [text.chars().count() as i32 * size.width as i32, size.height as i32]
    }
}

/// Draws one line; the upper left corner of its first character is `at`.
pub(crate) fn draw(image: &mut Image, at: [i32; 2], text: &str, face: Face, color: [u8; 3]) {
    let mut target = Target { image, at, color };
    let style = MonoTextStyle::new(face.font(), BinaryColor::On);
    let line = Text::with_baseline(text, Point::zero(), style, Baseline::Top);
    let Ok(_) = line.draw(&mut target);
}

/// Draws one line with an outline of `halo`, readable on any ground.
pub(crate) fn draw_outlined(
    image: &mut Image,
    [x, y]: [i32; 2],
    text: &str,
    face: Face,
    color: [u8; 3],
    halo: [u8; 3],
) {
    for (dx, dy) in [(-1, 0), (1, 0), (0, -1), (0, 1), (-1, -1), (1, 1), (-1, 1), (1, -1)] {
        draw(image, [x + dx, y + dy], text, face, halo);
    }
    draw(image, [x, y], text, face, color);
}

struct Target<'a> {
    image: &'a mut Image,
    at: [i32; 2],
    color: [u8; 3],
}

impl OriginDimensions for Target<'_> {
    fn size(&self) -> Size {
        Size::new(self.image.width(), self.image.height())
    }
}

impl DrawTarget for Target<'_> {
    type Color = BinaryColor;
    type Error = Infallible;

    fn draw_iter<I: IntoIterator<Item = Pixel<BinaryColor>>>(&mut self, pixels: I) -> Result<(), Infallible> {
        for Pixel(p, color) in pixels {
            if color == BinaryColor::On {
                self.image.blend(self.at[0] + p.x, self.at[1] + p.y, self.color, 1.0);
            }
        }
        Ok(())
    }
}
