//! Falls and recoveries.

use crate::track::Motion;
use crate::{Metrics, Track};
use pomp_motion::statistics::mean;
use pomp_motion::{FALL_AFTER_S, Gait, Recording};
use pomp_terrain::HeightMap;
use std::ops::Range;

/// Time up after which a fall is recovered, seconds.
const RECOVERED_S: f64 = 0.5;

/// Frames in which each fall begins.
pub(crate) fn measure(
    motion: &Motion,
    recording: &Recording,
    which: Track,
    terrain: &HeightMap,
    metrics: &mut Metrics,
) -> Vec<usize> {
    let ground = |x, z| terrain.height(x, z);
    let down = motion.falls.falls(motion.positions, &recording.gait, motion.rate_hz as f32, ground);
    let restored = if which == Track::Simulated { restored(motion) } else { Vec::new() };
    metrics.restored_frames = (which == Track::Simulated).then_some(restored.len() as f64);
    let falls = joined(down.into_iter().chain(restored), (f64::from(FALL_AFTER_S) * motion.rate_hz) as usize);
    let fallen: usize = falls.iter().map(ExactSizeIterator::len).sum();
    let upright = (motion.frames() - fallen) as f64 / motion.rate_hz;
    metrics.upright_s = Some(upright);
    metrics.upright_percent = Some(100.0 * (motion.frames() - fallen) as f64 / motion.frames() as f64);
    metrics.falls_per_minute = (upright > 0.0).then(|| falls.len() as f64 * 60.0 / upright);
    metrics.first_fall_s = falls.first().map(|run| run.start as f64 / motion.rate_hz);
    metrics.falls = Some(falls.len() as f64);
    let recovered: Vec<f64> = falls
        .iter()
        .enumerate()
        .filter(|(i, run)| {
            let until = falls.get(i + 1).map_or(motion.frames(), |next| next.start);
            (until - run.end) as f64 >= RECOVERED_S * motion.rate_hz
        })
        .map(|(_, run)| run.len() as f64 / motion.rate_hz)
        .collect();
    metrics.falls_recovered = Some(recovered.len() as f64);
    metrics.down_s = mean(&recovered);
    let rising = recording.gait.iter().filter(|gait| Gait::dominant(gait) == Gait::GetUp).count();
    metrics.get_up_s =
        (rising > 0 && !falls.is_empty()).then(|| rising as f64 / motion.rate_hz / falls.len() as f64);
    falls.iter().map(|run| run.start).collect()
}

/// Frames in which a simulation diverged and the body was put back to where it was: none of its joints is anywhere else, which no body that
/// is driven or falls comes to by itself.
fn restored(motion: &Motion) -> Vec<Range<usize>> {
    let still = |frame: &usize| motion.positions[*frame] == motion.positions[*frame - 1];
    (1..motion.frames()).filter(still).map(|frame| frame..frame + 1).collect()
}

/// Runs of frames in their order, joined where there are fewer than `gap` frames between two.
fn joined(runs: impl Iterator<Item = Range<usize>>, gap: usize) -> Vec<Range<usize>> {
    let mut runs: Vec<Range<usize>> = runs.collect();
    runs.sort_by_key(|run| run.start);
    let mut found: Vec<Range<usize>> = Vec::new();
    for run in runs {
        match found.last_mut() {
            Some(last) if run.start < last.end + gap => last.end = last.end.max(run.end),
            _ => found.push(run),
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use crate::{Metrics, Track, evaluate};
    use glam::Vec3;
    use pomp_motion::{Clip, FrameTable, Pose, Recording, SimulationTrack, Skeleton};
    use pomp_terrain::HeightMap;
    use std::sync::Arc;

    const FRAMES: usize = 240;

    /// A T-pose that glides a centimetre a frame along x in the simulation, without contacts; in frame f it is where a sound one is in
    /// frame `held(f)`.
    fn gliding(held: impl Fn(usize) -> usize) -> Recording {
        let skeleton = Arc::new(Skeleton::humanoid(1.75));
        let poses = (0..FRAMES).map(|frame| {
            let mut pose = Pose::rest(&skeleton);
            pose.root_position.x += 0.01 * held(frame) as f32;
            pose
        });
        let clip = Clip::new("gliding", Arc::clone(&skeleton), 60.0, poses.collect()).unwrap();
        let mut recording = Recording::of_clip(&clip);
        let mut none = FrameTable::with_columns(1);
        (0..FRAMES).for_each(|_| none.push(&[Vec3::ZERO]));
        recording.simulation = Some(SimulationTrack {
            body_names: vec!["Hips".to_owned()],
            body_mass_kg: vec![75.0],
            contact_impulse: none.clone(),
            impulse_estimator: "simulation".to_owned(),
            sim_contact_impulse: none,
            positions: recording.positions.clone(),
            quaternions: recording.quaternions.clone(),
            velocities: recording.velocities.clone(),
            assist_force: vec![Vec3::ZERO; FRAMES],
            assist_torque: vec![Vec3::ZERO; FRAMES],
        });
        recording
    }

    fn measured(recording: &Recording, track: Track) -> Metrics {
        evaluate(recording, &HeightMap::flat(40.0, 0.5).unwrap(), track).unwrap()
    }

    #[test]
    fn a_simulated_body_that_is_put_back_has_fallen() {
        let sound = measured(&gliding(|frame| frame), Track::Simulated);
        assert_eq!((sound.falls, sound.restored_frames, sound.first_fall_s), (Some(0.0), Some(0.0), None));
        // Put back in the frames 100, 101 and 110, which is one fall, and in frame 200.
        let held =
            |frame: usize| frame - [100, 101, 110, 200].iter().filter(|put_back| **put_back <= frame).count();
        let recording = gliding(held);
        let metrics = measured(&recording, Track::Simulated);
        assert_eq!((metrics.falls, metrics.restored_frames), (Some(2.0), Some(4.0)));
        assert_eq!(metrics.first_fall_s, Some(100.0 / 60.0));
        assert_eq!(measured(&recording, Track::Character).restored_frames, None);
    }
}
