use crate::ImpulseConfig;
use pomp_motion::{FrameTable, GlobalPose, SimulationTrack, humanoid};
use pomp_terrain::HeightMap;

/// Time around a frame over which the replay's loads are averaged, s, half width.
const REPLAY_WINDOW_S: f64 = 0.1;

/// Loads on bodies in the replay, as far as the clip itself is near the ground there.
pub(super) struct ReplayLoads {
    /// Share of the vertical load on other bodies than the feet `[T]`.
    pub other_share: Vec<f64>,
    /// Load on each body, 0 on the feet `[T, B]`.
    loads: FrameTable<f64>,
}

impl ReplayLoads {
    /// Nothing but the feet bears load.
    pub fn none(frames: usize, bodies: usize) -> Self {
        Self { other_share: vec![0.0; frames], loads: FrameTable::filled(frames, bodies, 0.0) }
    }

    pub fn of(
        track: &SimulationTrack,
        poses: &[GlobalPose],
        terrain: &HeightMap,
        rate_hz: f64,
        config: &ImpulseConfig,
    ) -> Self {
        let (frames, bodies) = (poses.len(), track.body_names.len());
        let feet = humanoid::LEFT_FOOT.0..=humanoid::LEFT_TOE.0;
        let other_feet = humanoid::RIGHT_FOOT.0..=humanoid::RIGHT_TOE.0;
        let is_foot = |b: usize| feet.contains(&b) || other_feet.contains(&b);
        let mut counted = vec![vec![0.0; bodies]; frames];
        let mut on_feet = vec![0.0; frames];
        for frame in 0..frames {
            for (b, impulse) in track.sim_contact_impulse[frame].iter().enumerate() {
                let load = f64::from(impulse.y.max(0.0));
                let place = poses[frame].positions[b];
                if is_foot(b) {
                    on_feet[frame] += load;
                } else if load > 0.0 && place.y - terrain.height(place.x, place.z) < config.near_ground_m {
                    counted[frame][b] = load;
                }
            }
        }
        let reach = (REPLAY_WINDOW_S * rate_hz).round() as usize;
        let (mut other_share, mut loads) = (Vec::with_capacity(frames), FrameTable::with_columns(bodies));
        for frame in 0..frames {
            let window = frame.saturating_sub(reach)..(frame + reach + 1).min(frames);
            let row: Vec<f64> =
                (0..bodies).map(|b| counted[window.clone()].iter().map(|r| r[b]).sum()).collect();
            let others: f64 = row.iter().sum();
            let all = others + on_feet[window].iter().sum::<f64>();
            other_share.push(if all > 0.0 { others / all } else { 0.0 });
            loads.push(&row);
        }
        Self { other_share, loads }
    }

    /// Bodies other than the feet with their shares of what such bodies bear.
    pub fn others(&self, frame: usize) -> impl Iterator<Item = (usize, f64)> + '_ {
        let total: f64 = self.loads[frame].iter().sum();
        self.loads[frame]
            .iter()
            .enumerate()
            .filter(|(_, load)| **load > 0.0)
            .map(move |(body, load)| (body, load / total))
    }
}
