use crate::color::Palette;
use crate::{Image, RenderError, RenderOptions, Renderer};
use pomp_motion::Recording;
use rayon::prelude::*;
use std::io::Write;

/// Pixels between pictures.
pub(crate) const GAP: u32 = 3;

/// Writes `columns` × `rows` pictures, evenly spaced from the first to the last frame, as one PNG.
///
/// Each picture has the size of the options and, with the overlay on, its time; 4 × 3 reads well.
///
/// # Errors
/// As [`Renderer::new`]; [`RenderError::BadOption`] when `columns` or `rows` is not between 1 and 32;
/// [`RenderError::Png`] when `out` cannot be written.
pub fn render_contact_sheet(
    recording: &Recording,
    options: &RenderOptions,
    columns: u32,
    rows: u32,
    out: impl Write,
) -> Result<(), RenderError> {
    for (option, value) in [("columns", columns), ("rows", rows)] {
        if !(1..=32).contains(&value) {
            let reason = "a contact sheet has 1 to 32 pictures a side";
            return Err(RenderError::BadOption { option, value: value.to_string(), reason });
        }
    }
    let renderer = Renderer::new(recording, options)?;
    let range = renderer.range();
    let count = (columns * rows) as usize;
    let frames: Vec<usize> =
        (0..count).map(|i| range.start + i * (range.len() - 1) / (count - 1).max(1)).collect();
    let images =
        frames.par_iter().map(|&frame| renderer.frame(frame)).collect::<Result<Vec<Image>, RenderError>>()?;
    let mut sheet = Image::filled(
        columns * (options.width + GAP) - GAP,
        rows * (options.height + GAP) - GAP,
        Palette::of(options.theme).halo,
    );
    for (index, image) in images.iter().enumerate() {
        let (column, row) = (index as u32 % columns, index as u32 / columns);
        sheet.place(image, column * (options.width + GAP), row * (options.height + GAP));
    }
    sheet.write_png(out)
}
