use crate::StudioError;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use pomp_motion::{Gait, Recording};
use pomp_render::{CameraOptions, RenderOptions, render_frame};
use serde::Serialize;
use ts_rs::TS;

/// Size of the picture, pixels.
const WIDTH: u32 = 132;
const HEIGHT: u32 = 99;
/// Ground counts as level when its heights differ by less, metres.
const LEVEL_M: f32 = 0.03;
/// A gait is named that a clip shows for at least this share.
const LEAST_SHARE: f32 = 0.1;

/// What the list of clips shows of one.
#[derive(Clone, Debug, PartialEq, Serialize, TS)]
pub(crate) struct ClipCard {
    /// Its length.
    pub seconds: f32,
    /// Names of its gaits, the most frequent first.
    pub gaits: Vec<&'static str>,
    /// `level`, `uneven` or `unknown`.
    pub ground: &'static str,
    /// Its licence; empty where none is known.
    pub license: String,
    /// Where it is from; empty where that is not known.
    pub source: String,
    /// A picture of its middle, as a data URL.
    pub picture: String,
}

/// The answer to a request for a card.
#[derive(Clone, Debug, PartialEq, Serialize, TS)]
#[serde(untagged)]
pub(crate) enum CardAnswer {
    /// The card.
    Card(ClipCard),
    /// Why the clip cannot be read.
    Error {
        /// The reason.
        error: String,
    },
}

/// Makes the card of a clip.
pub(crate) fn clip_card(recording: &Recording) -> Result<ClipCard, StudioError> {
    let frames = recording.frames();
    let mut shares = [0.0f32; Gait::COUNT];
    for weights in &recording.gait {
        for (share, weight) in shares.iter_mut().zip(weights) {
            *share += weight / frames.max(1) as f32;
        }
    }
    let mut gaits: Vec<(Gait, f32)> =
        Gait::ALL.into_iter().zip(shares).filter(|(_, share)| *share >= LEAST_SHARE).collect();
    gaits.sort_by(|a, b| b.1.total_cmp(&a.1));
    let ground = match &recording.terrain {
        None => "unknown",
        Some(terrain) => {
            let heights = terrain.heights.values().iter().copied();
            let (low, high) = heights.fold((f32::INFINITY, f32::NEG_INFINITY), |(low, high), height| {
                (low.min(height), high.max(height))
            });
            if high - low < LEVEL_M { "level" } else { "uneven" }
        }
    };
    let camera = CameraOptions { distance_heights: 1.9, ..CameraOptions::default() };
    let options =
        RenderOptions { camera, width: WIDTH, height: HEIGHT, overlay: false, ..RenderOptions::default() };
    let picture = render_frame(recording, frames / 2, &options)?.to_png()?;
    Ok(ClipCard {
        seconds: frames as f32 / recording.frame_rate_hz,
        gaits: gaits.iter().map(|(gait, _)| gait.name()).collect(),
        ground,
        license: recording.license.clone(),
        source: recording.source.clone(),
        picture: format!("data:image/png;base64,{}", STANDARD.encode(picture)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use pomp_motion::{Clip, FrameTable, Pose, Skeleton, TerrainGrid};
    use std::sync::Arc;

    fn standing() -> Recording {
        let skeleton = Arc::new(Skeleton::humanoid(1.75));
        let poses = vec![Pose::rest(&skeleton); 40];
        let mut recording = Recording::of_clip(&Clip::new("rest", skeleton, 20.0, poses).unwrap());
        for (frame, gait) in recording.gait.iter_mut().enumerate() {
            *gait = if frame < 30 { Gait::Walk } else { Gait::Stand }.one_hot();
        }
        recording.gait[0] = Gait::Jog.one_hot();
        recording
    }

    #[test]
    fn a_card_tells_length_gaits_by_share_and_ground_and_has_a_picture() {
        let mut recording = standing();
        recording.license = "CC0".to_owned();
        let card = clip_card(&recording).unwrap();
        assert_eq!((card.seconds, card.license.as_str()), (2.0, "CC0"));
        assert_eq!(card.gaits, ["walk", "stand"], "a single frame names no gait");
        let picture = card.picture.strip_prefix("data:image/png;base64,").unwrap();
        let bytes = STANDARD.decode(picture).unwrap();
        println!("a picture has {} bytes", bytes.len());
        assert!(bytes.starts_with(b"\x89PNG") && bytes.len() < 40_000);
        for (height, ground) in [(0.0, "level"), (0.2, "uneven")] {
            let mut heights = FrameTable::filled(41, 41, 0.0);
            heights[3][5] = height;
            recording.terrain = Some(TerrainGrid { heights, origin: [-2.0, -2.0], cell_m: 0.1 });
            assert_eq!(clip_card(&recording).unwrap().ground, ground);
        }
    }
}
