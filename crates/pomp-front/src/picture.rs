//! Pictures of motions, in the format of a file's ending.

use crate::errors::misuse;
use anyhow::Result;
#[cfg(not(feature = "rerun"))]
use anyhow::bail;
use pomp_motion::{Clip, FrameTable, GenerationTrack, GlobalPose, Recording};
use pomp_render::{RenderOptions, View, render_contact_sheet, render_frame, render_gif};
use pomp_terrain::HeightMap;
use std::path::Path;
use std::sync::Arc;

/// What is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PictureKind {
    /// A moving picture.
    Gif,
    /// A contact sheet.
    Png,
    /// A page that plays the motion.
    Html,
    /// A file for the rerun viewer.
    Rrd,
}

impl PictureKind {
    /// The kind that a file's ending names; `side_by_side` asks for clip and simulation beside each other.
    ///
    /// # Errors
    /// Another ending, and a page or viewer side by side.
    pub fn of(path: &Path, side_by_side: bool) -> Result<Self> {
        let kind = match path.extension().and_then(|extension| extension.to_str()) {
            Some("gif") => Self::Gif,
            Some("png") => Self::Png,
            Some("html") => Self::Html,
            Some("rrd") => Self::Rrd,
            _ => {
                return Err(misuse!(
                    "{}: name the picture .gif (moving), .png (contact sheet), .html (a page that plays it) or .rrd (for the rerun \
                     viewer)",
                    path.display()
                ));
            }
        };
        if matches!(kind, Self::Html | Self::Rrd) && side_by_side {
            return Err(misuse!(
                "--side-by-side: a page (.html) and the Rerun viewer (.rrd) always show clip and simulation; leave it out"
            ));
        }
        Ok(kind)
    }

    /// The bytes of the picture.
    ///
    /// # Errors
    /// A recording that cannot be drawn, and a viewer's file in a program without its exporter.
    pub fn draw(self, recording: &Recording, side_by_side: bool) -> Result<Vec<u8>> {
        let mut options = RenderOptions::default();
        if side_by_side {
            options = RenderOptions { view: View::SideBySide, width: 2 * options.width, ..options };
        }
        let mut bytes = Vec::new();
        match self {
            Self::Gif => render_gif(recording, &options, &mut bytes)?,
            Self::Png => {
                let small =
                    RenderOptions { width: options.width * 2 / 3, height: options.height * 2 / 3, ..options };
                render_contact_sheet(recording, &small, 4, 3, &mut bytes)?;
            }
            Self::Html => bytes = pomp_studio::standalone_html(recording, None)?,
            Self::Rrd => bytes = rrd(recording)?,
        }
        Ok(bytes)
    }
}

/// A body in a pose on its ground, with the target as green glass where there is one: red, green and blue of each pixel, row by row.
/// `clip` names the skeleton and the frame rate.
///
/// # Errors
/// A size that the renderer refuses, and a pose that is not finite.
pub fn still(
    clip: &Clip,
    terrain: &HeightMap,
    pose: &GlobalPose,
    target: Option<&GlobalPose>,
    [width, height]: [u32; 2],
) -> Result<Vec<u8>> {
    let local = pose.to_local(&clip.skeleton);
    let shown = Clip::new(clip.name.as_str(), Arc::clone(&clip.skeleton), clip.frame_rate_hz, vec![local])?;
    let generation = target.map(|target| GenerationTrack {
        target_positions: FrameTable::from_values(target.positions.len(), target.positions.to_vec())
            .unwrap_or_else(|| FrameTable::with_columns(target.positions.len())),
        pushes: Vec::new(),
        control: vec![[target.positions[0].x, target.positions[0].z, 0.0, 0.0]],
        frame_time_us: None,
        ground_offset: None,
    });
    let recording =
        Recording { terrain: Some(terrain.grid().clone()), generation, ..Recording::of_clip(&shown) };
    let options = RenderOptions { width, height, overlay: false, ..RenderOptions::default() };
    let image = render_frame(&recording, 0, &options)?;
    Ok(image.rgba().chunks_exact(4).flat_map(|pixel| [pixel[0], pixel[1], pixel[2]]).collect())
}

#[cfg(feature = "rerun")]
fn rrd(recording: &Recording) -> Result<Vec<u8>> {
    Ok(pomp_render::rrd_bytes(recording)?)
}

#[cfg(not(feature = "rerun"))]
fn rrd(_recording: &Recording) -> Result<Vec<u8>> {
    bail!(
        ".rrd: this program was built without the rerun exporter; build it with `cargo build --release --features rerun`, \
         or write .html, which any browser plays"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_s_ending_names_the_picture() {
        let kind = |name: &str| PictureKind::of(Path::new(name), false).ok();
        assert_eq!(kind("a/b.gif"), Some(PictureKind::Gif));
        assert_eq!(kind("b.png"), Some(PictureKind::Png));
        assert_eq!(kind("b.html"), Some(PictureKind::Html));
        assert_eq!(kind("b.rrd"), Some(PictureKind::Rrd));
    }

    #[test]
    fn rejects_other_endings_and_pages_side_by_side() {
        for (name, side_by_side, said) in [
            ("a.jpg", false, "name the picture"),
            ("a", false, "name the picture"),
            ("a.html", true, "leave it out"),
        ] {
            let error = PictureKind::of(Path::new(name), side_by_side).expect_err(name);
            assert!(crate::errors::is_misuse(&error) && error.to_string().contains(said), "{name}: {error}");
        }
    }
}
