use crate::quantize::{Histogram, Quantizer};
use crate::{Image, RenderError, RenderOptions, Renderer};
use gif::{DisposalMethod, Encoder, Frame, Repeat};
use pomp_motion::Recording;
use rayon::prelude::*;
use std::borrow::Cow;
use std::io::Write;

/// Pictures whose colours make the palette.
const PALETTE_SAMPLES: usize = 16;
/// Pictures in memory at a time.
const BATCH: usize = 32;
/// A pixel keeps the colour that it has when the best one would be no better than this, in squared 8-bit steps:
/// shades that move by less than the eye sees neither flicker nor take space.
const KEEP_ERROR: i32 = 80;
/// The same for the colour of the pixel to the left.
const RUN_ERROR: i32 = 30;

/// Writes an endless animation of the recording as a GIF.
///
/// Frames are drawn in parallel; the bytes depend on the arguments alone.
///
/// # Errors
/// As [`Renderer::new`], and [`RenderError::Gif`] when `out` cannot be written.
pub fn render_gif(
    recording: &Recording,
    options: &RenderOptions,
    out: impl Write,
) -> Result<(), RenderError> {
    let renderer = Renderer::new(recording, options)?;
    let frames = renderer.animation_frames();
    let quantizer = palette_of(&renderer, recording, &frames)?;
    let transparent = quantizer.colors().len() as u8;
    let mut table: Vec<u8> = quantizer.colors().iter().flatten().copied().collect();
    table.extend([0, 0, 0]);

    let (width, height) = (options.width as u16, options.height as u16);
    let mut encoder = Encoder::new(out, width, height, &table)?;
    encoder.set_repeat(Repeat::Infinite)?;
    let mut shown: Option<Vec<u8>> = None;
    for batch in frames.chunks(BATCH) {
        let images = batch
            .par_iter()
            .map(|&frame| renderer.frame(frame))
            .collect::<Result<Vec<Image>, RenderError>>()?;
        let changes: Vec<Vec<u8>> =
            images.iter().map(|image| change(&mut shown, image, &quantizer, transparent)).collect();
        let packed: Vec<Frame<'static>> = changes
            .into_par_iter()
            .map(|indices| pack(&indices, [width, height], transparent, options.delay_cs()))
            .collect();
        for frame in &packed {
            encoder.write_lzw_pre_encoded_frame(frame)?;
        }
    }
    Ok(())
}

/// A palette for all frames, from samples over the whole time and from the moments of pushes.
fn palette_of(
    renderer: &Renderer,
    recording: &Recording,
    frames: &[usize],
) -> Result<Quantizer, RenderError> {
    let count = PALETTE_SAMPLES.min(frames.len());
    let mut samples: Vec<usize> = (0..count).map(|i| frames[i * frames.len() / count]).collect();
    let pushes = recording.generation.iter().flat_map(|generation| &generation.pushes);
    for push in pushes.take(PALETTE_SAMPLES) {
        let at = ((push.time_s + 0.1) * recording.frame_rate_hz).max(0.0) as usize;
        samples.extend(frames.iter().find(|&&frame| frame >= at));
    }
    let images = samples
        .par_iter()
        .map(|&frame| renderer.frame(frame))
        .collect::<Result<Vec<Image>, RenderError>>()?;
    let mut histogram = Histogram::new();
    for image in &images {
        histogram.add(image);
    }
    Ok(histogram.into_quantizer())
}

/// Palette indices of a picture, transparent where what is shown may stay.
fn change(shown: &mut Option<Vec<u8>>, image: &Image, quantizer: &Quantizer, transparent: u8) -> Vec<u8> {
    let colors = image.rgba().chunks_exact(4).map(|p| [p[0], p[1], p[2]]);
    let Some(shown) = shown else {
        let indices: Vec<u8> = colors.map(|color| quantizer.index(color)).collect();
        *shown = Some(indices.clone());
        return indices;
    };
    let mut last = transparent;
    shown
        .iter_mut()
        .zip(colors)
        .map(|(old, color)| {
            let best = quantizer.index(color);
            let error = quantizer.error(best, color);
            if best == *old || quantizer.error(*old, color) <= error + KEEP_ERROR {
                // A pixel that keeps its colour may be written as such, where that goes on with a run.
                last = if *old == last { last } else { transparent };
                return last;
            }
            // The neighbour's colour, where it is nearly as good, makes longer runs.
            if last == transparent || quantizer.error(last, color) > error + RUN_ERROR {
                last = best;
            }
            *old = last;
            last
        })
        .collect()
}

/// Cuts away the transparent border and compresses.
fn pack(indices: &[u8], [width, height]: [u16; 2], transparent: u8, delay: u16) -> Frame<'static> {
    let columns = usize::from(width);
    let opaque = |row: &[u8]| row.iter().any(|&i| i != transparent);
    let rows: Vec<&[u8]> = indices.chunks_exact(columns).collect();
    // A frame without a change keeps one pixel, so that its time passes.
    let top = rows.iter().position(|row| opaque(row)).unwrap_or(0);
    let bottom = rows.iter().rposition(|row| opaque(row)).unwrap_or(0);
    let body = &rows[top..=bottom];
    let left = body.iter().filter_map(|row| row.iter().position(|&i| i != transparent)).min().unwrap_or(0);
    let right = body.iter().filter_map(|row| row.iter().rposition(|&i| i != transparent)).max().unwrap_or(0);
    let buffer: Vec<u8> = body.iter().flat_map(|row| &row[left..=right]).copied().collect();
    let mut frame = Frame {
        delay,
        dispose: DisposalMethod::Keep,
        transparent: Some(transparent),
        left: left as u16,
        top: top as u16,
        width: (right - left + 1) as u16,
        height: (bottom - top + 1) as u16,
        buffer: Cow::Owned(buffer),
        ..Frame::default()
    };
    debug_assert!(frame.top + frame.height <= height);
    frame.make_lzw_pre_encoded();
    frame
}
