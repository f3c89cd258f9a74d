use super::access::{bad, io, read_text, write_beside};
use crate::{HeightMap, TerrainError};
use pomp_motion::{FrameTable, TerrainGrid};
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};

/// What a PNG cannot say of itself; the file `NAME.png.toml` beside `NAME.png`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sidecar {
    /// Distance between neighbouring pixels, metres.
    pub cell_m: f32,
    /// World x and z of the top left pixel, metres.
    pub origin_m: [f32; 2],
    /// Height of a black pixel (0), metres.
    pub black_m: f32,
    /// Height of a white pixel (65,535), metres.
    pub white_m: f32,
}

/// How to make a PNG that this module reads.
const REMEDY_PIXELS: &str = "export it as 16-bit greyscale without alpha (ImageMagick: \
    convert IN.png -colorspace Gray -depth 16 -define png:color-type=0 -define png:bit-depth=16 OUT.png)";

fn sidecar_path(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".toml");
    PathBuf::from(name)
}

pub(super) fn save(map: &HeightMap, path: &Path) -> Result<(), TerrainError> {
    let (black_m, white_m) = map.min_max();
    let range = f64::from(white_m) - f64::from(black_m);
    let level = |height: f32| {
        if range > 0.0 {
            ((f64::from(height) - f64::from(black_m)) / range * 65_535.0).round() as u16
        } else {
            0
        }
    };
    let sidecar = Sidecar { cell_m: map.cell_m(), origin_m: map.grid().origin, black_m, white_m };
    let beside = sidecar_path(path);
    let text = toml::to_string(&sidecar)
        .map_err(|source| bad(&beside, format!("cannot be written: {source}"), "check the heights"))?;
    write_beside(&beside, |file| file.write_all(text.as_bytes()))?;
    let bytes: Vec<u8> = map.grid().heights.values().iter().flat_map(|&h| level(h).to_be_bytes()).collect();
    write_beside(path, |file| {
        let mut encoder = png::Encoder::new(file, map.columns() as u32, map.rows() as u32);
        encoder.set_color(png::ColorType::Grayscale);
        encoder.set_depth(png::BitDepth::Sixteen);
        encoder.set_compression(png::Compression::High);
        let mut writer = encoder.write_header()?;
        writer.write_image_data(&bytes)?;
        Ok(writer.finish()?)
    })
}

pub(super) fn load(path: &Path) -> Result<TerrainGrid, TerrainError> {
    let file = File::open(path).map_err(io("read", path))?;
    let sidecar = load_sidecar(path)?;
    let broken =
        |source: png::DecodingError| bad(path, format!("is not a readable PNG: {source}"), "export it again");
    let mut decoder = png::Decoder::new(BufReader::new(file));
    // Heights are numbers, not colours: nothing may be expanded, stripped or gamma-corrected on the way.
    decoder.set_transformations(png::Transformations::IDENTITY);
    let mut reader = decoder.read_info().map_err(broken)?;
    let (colour, depth) = reader.output_color_type();
    if colour != png::ColorType::Grayscale {
        return Err(bad(path, format!("holds {colour:?} pixels, not greyscale"), REMEDY_PIXELS));
    }
    if depth != png::BitDepth::Sixteen {
        return Err(bad(
            path,
            format!("has {} bits per pixel, not 16: its heights would be stairs", depth as u8),
            REMEDY_PIXELS,
        ));
    }
    let (width, height) = (reader.info().width as usize, reader.info().height as usize);
    let size = match reader.output_buffer_size() {
        Some(size) if size <= 2 * HeightMap::MAX_HEIGHTS => size,
        _ => {
            let reason = format!("has {width} × {height} pixels, more than {}", HeightMap::MAX_HEIGHTS);
            return Err(bad(path, reason, "scale it down and raise cell_m"));
        }
    };
    let mut bytes = vec![0; size];
    reader.next_frame(&mut bytes).map_err(broken)?;
    let scale = (f64::from(sidecar.white_m) - f64::from(sidecar.black_m)) / 65_535.0;
    let values: Vec<f32> = bytes
        .chunks_exact(2)
        .map(|pair| {
            let level = f64::from(u16::from_be_bytes([pair[0], pair[1]]));
            (f64::from(sidecar.black_m) + level * scale) as f32
        })
        .collect();
    let heights = FrameTable::from_values(width, values)
        .ok_or_else(|| bad(path, "has no pixels", "export it again"))?;
    Ok(TerrainGrid { heights, origin: sidecar.origin_m, cell_m: sidecar.cell_m })
}

fn load_sidecar(path: &Path) -> Result<Sidecar, TerrainError> {
    const EXAMPLE: &str =
        "it needs four lines: cell_m = 0.1, origin_m = [-20.0, -20.0], black_m = 0.0, white_m = 2.0";
    let beside = sidecar_path(path);
    if !beside.exists() {
        return Err(bad(
            path,
            format!("has no sidecar {}", beside.display()),
            format!("write it: {EXAMPLE}"),
        ));
    }
    let sidecar: Sidecar = toml::from_str(&read_text(&beside)?).map_err(|source| {
        bad(&beside, format!("is not a terrain sidecar: {}", source.to_string().trim_end()), EXAMPLE)
    })?;
    for (field, value) in [("black_m", sidecar.black_m), ("white_m", sidecar.white_m)] {
        if !value.is_finite() {
            return Err(bad(&beside, format!("{field} is {value}"), "give a finite height in metres"));
        }
    }
    Ok(sidecar)
}
