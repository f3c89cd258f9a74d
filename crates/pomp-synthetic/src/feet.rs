use crate::Side;
use crate::jump::Jump;
use crate::path::RootPath;
use crate::planted_foot::FootPose;
use crate::stance::Stance;
use crate::style::Style;
use crate::swing::{Swing, SwingLeg};
use pomp_terrain::HeightMap;

/// One foot over time, sampled.
pub(crate) struct FootTrack {
    /// Pose per sample.
    pub(crate) poses: Vec<FootPose>,
    /// Heel and toe on the ground, per sample.
    pub(crate) contact: Vec<[bool; 2]>,
    /// Whether any part of the foot is on the ground, per sample.
    pub(crate) planted: Vec<bool>,
}

impl FootTrack {
    /// A foot that steps from stance to stance along a path.
    pub(crate) fn stepping(
        leg: SwingLeg,
        path: &RootPath,
        style: &Style,
        terrain: &HeightMap,
        stances: &[Stance],
        times: &[f32],
    ) -> Self {
        let swings: Vec<Swing> =
            stances.windows(2).map(|w| Swing::between(leg, path, style, terrain, &w[0], &w[1])).collect();
        Self::sampled(stances, times, |index, time| swings[index].pose(time))
    }

    /// A foot that jumps; `stances` has one more element than `jumps`.
    pub(crate) fn jumping(stances: &[Stance], jumps: &[Jump], times: &[f32]) -> Self {
        Self::sampled(stances, times, |index, time| jumps[index].flying_foot(&stances[index], time))
    }

    /// `in_air(i, t)` is the pose between stances i and i + 1.
    fn sampled(stances: &[Stance], times: &[f32], in_air: impl Fn(usize, f32) -> FootPose) -> Self {
        let mut track = Self { poses: Vec::new(), contact: Vec::new(), planted: Vec::new() };
        for &time in times {
            let last = stances.partition_point(|s| s.from_s <= time).max(1) - 1;
            let stance = &stances[last];
            if stance.contains(time) || last + 1 == stances.len() {
                track.poses.push(stance.pose(time));
                track.contact.push(stance.contact(time));
                track.planted.push(true);
            } else {
                track.poses.push(in_air(last, time));
                track.contact.push([false; 2]);
                track.planted.push(false);
            }
        }
        track
    }

    /// The leg of `side`, for [`Self::stepping`].
    pub(crate) fn of(tracks: &[Self; 2], side: Side) -> &Self {
        &tracks[side as usize]
    }
}
