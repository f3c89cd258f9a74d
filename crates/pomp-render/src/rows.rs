use crate::color::Palette;
use crate::contact_sheet::GAP;
use crate::text::{self, Face};
use crate::{Image, RenderError, RenderOptions, Renderer, Theme};
use pomp_motion::Recording;
use rayon::prelude::*;

/// Pixels around names.
const MARGIN: u32 = 6;

/// Draws `frames` of a recording side by side. The places of frames beyond its end stay empty.
///
/// Each picture has the size of the options.
///
/// # Errors
/// As [`Renderer::new`]; [`RenderError::BadOption`] unless there are 1 to 32 frames.
pub fn render_row(
    recording: &Recording,
    options: &RenderOptions,
    frames: &[usize],
) -> Result<Image, RenderError> {
    let columns = frames.len() as u32;
    if !(1..=32).contains(&columns) {
        let (value, reason) = (columns.to_string(), "a row has 1 to 32 pictures");
        return Err(RenderError::BadOption { option: "frames", value, reason });
    }
    let renderer = Renderer::new(recording, options)?;
    let images: Vec<Image> = frames
        .par_iter()
        .filter(|&&frame| frame < recording.frames())
        .map(|&frame| renderer.frame(frame))
        .collect::<Result<_, RenderError>>()?;
    let places = (0..columns).filter(|&column| frames[column as usize] < recording.frames());
    let mut row =
        Image::filled(columns * (options.width + GAP) - GAP, options.height, Palette::of(options.theme).halo);
    for (column, image) in places.zip(&images) {
        row.place(image, column * (options.width + GAP), 0);
    }
    Ok(row)
}

/// Puts rows of pictures below each other, each with its name at the left, and names above the columns, which are equally wide.
///
/// # Errors
/// [`RenderError::BadOption`] without a row or a column.
pub fn stack_rows(columns: &[&str], rows: &[(&str, Image)], theme: Theme) -> Result<Image, RenderError> {
    for (option, count) in [("columns", columns.len()), ("rows", rows.len())] {
        if count == 0 {
            let reason = "a picture of rows has at least one";
            return Err(RenderError::BadOption { option, value: "0".to_owned(), reason });
        }
    }
    let palette = Palette::of(theme);
    let face = Face::Regular;
    let names = rows.iter().map(|(name, _)| face.size(name)[0] as u32).max().unwrap_or(0);
    let (left, top) = (names + 2 * MARGIN, face.size("")[1] as u32 + MARGIN);
    let width = rows.iter().map(|(_, row)| row.width()).max().unwrap_or(0);
    let height: u32 = rows.iter().map(|(_, row)| row.height() + GAP).sum();
    let mut all = Image::filled(left + width, top + height - GAP, palette.halo);
    let pitch = (width + GAP) as f32 / columns.len() as f32;
    for (column, name) in columns.iter().enumerate() {
        let middle = left as f32 + pitch * (column as f32 + 0.5) - 0.5 * GAP as f32;
        let at = [middle as i32 - face.size(name)[0] / 2, MARGIN as i32 / 2];
        text::draw(&mut all, at, name, face, palette.text);
    }
    let mut y = top;
    for (name, row) in rows {
        all.place(row, left, y);
        let at = [MARGIN as i32, (y + row.height() / 2) as i32 - face.size(name)[1] / 2];
        text::draw(&mut all, at, name, face, palette.text);
        y += row.height() + GAP;
    }
    Ok(all)
}
