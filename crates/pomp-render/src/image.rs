use crate::RenderError;
use std::io::Write;

/// An opaque picture, 8-bit sRGB with alpha 255, rows from the top.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Image {
    width: u32,
    height: u32,
    rgba: Vec<u8>,
}

impl Image {
    /// A picture of one colour.
    pub fn filled(width: u32, height: u32, [r, g, b]: [u8; 3]) -> Self {
        let rgba = [r, g, b, 255].repeat(width as usize * height as usize);
        Self { width, height, rgba }
    }

    pub(crate) fn from_rgba(width: u32, height: u32, rgba: Vec<u8>) -> Self {
        assert_eq!(rgba.len(), width as usize * height as usize * 4, "four bytes a pixel");
        Self { width, height, rgba }
    }

    /// Width, pixels.
    pub fn width(&self) -> u32 {
        self.width
    }

    /// Height, pixels.
    pub fn height(&self) -> u32 {
        self.height
    }

    /// Row-major bytes: red, green, blue, alpha.
    pub fn rgba(&self) -> &[u8] {
        &self.rgba
    }

    /// Red, green and blue of a pixel.
    ///
    /// # Panics
    /// When the pixel is outside.
    pub fn pixel(&self, x: u32, y: u32) -> [u8; 3] {
        let at = (y as usize * self.width as usize + x as usize) * 4;
        [self.rgba[at], self.rgba[at + 1], self.rgba[at + 2]]
    }

    /// Mixes `color` into a pixel; nothing happens outside of the picture.
    pub(crate) fn blend(&mut self, x: i32, y: i32, color: [u8; 3], alpha: f32) {
        if x < 0 || y < 0 || x >= self.width as i32 || y >= self.height as i32 {
            return;
        }
        let at = (y as usize * self.width as usize + x as usize) * 4;
        for (channel, &c) in self.rgba[at..at + 3].iter_mut().zip(&color) {
            *channel = mix(*channel, c, alpha);
        }
    }

    /// Copies `tile` to the place whose upper left corner is `left`, `top`; it must fit.
    pub(crate) fn place(&mut self, tile: &Self, left: u32, top: u32) {
        let bytes = tile.width as usize * 4;
        for (row, source) in tile.rgba.chunks_exact(bytes).enumerate() {
            let at = ((top as usize + row) * self.width as usize + left as usize) * 4;
            self.rgba[at..at + bytes].copy_from_slice(source);
        }
    }

    /// Reads a PNG that [`Self::write_png`] wrote.
    ///
    /// # Errors
    /// [`RenderError::NotPng`] for other bytes, and for a PNG of other than 8-bit red, green and blue.
    pub fn from_png(bytes: &[u8]) -> Result<Self, RenderError> {
        let mut reader = png::Decoder::new(std::io::Cursor::new(bytes)).read_info()?;
        let unlike = || png::DecodingError::from(std::io::Error::other("it is not one of 8-bit RGB"));
        if reader.output_color_type() != (png::ColorType::Rgb, png::BitDepth::Eight) {
            return Err(unlike().into());
        }
        let mut rgb = vec![0; reader.output_buffer_size().ok_or_else(unlike)?];
        let info = reader.next_frame(&mut rgb)?;
        let rgba = rgb.chunks_exact(3).flat_map(|p| [p[0], p[1], p[2], 255]).collect();
        Ok(Self::from_rgba(info.width, info.height, rgba))
    }

    /// Writes the picture as a PNG.
    ///
    /// # Errors
    /// When `out` cannot be written.
    pub fn write_png(&self, out: impl Write) -> Result<(), RenderError> {
        let mut encoder = png::Encoder::new(out, self.width, self.height);
        encoder.set_color(png::ColorType::Rgb);
        encoder.set_depth(png::BitDepth::Eight);
        let mut writer = encoder.write_header()?;
        let rgb: Vec<u8> = self.rgba.chunks_exact(4).flat_map(|p| [p[0], p[1], p[2]]).collect();
        writer.write_image_data(&rgb)?;
        writer.finish()?;
        Ok(())
    }

    /// The picture as the bytes of a PNG.
    ///
    /// # Errors
    /// As [`Self::write_png`].
    pub fn to_png(&self) -> Result<Vec<u8>, RenderError> {
        let mut bytes = Vec::new();
        self.write_png(&mut bytes)?;
        Ok(bytes)
    }
}

pub(crate) fn mix(from: u8, to: u8, alpha: f32) -> u8 {
    // The cast clips to 0 to 255.
    (f32::from(from) + (f32::from(to) - f32::from(from)) * alpha + 0.5) as u8
}
