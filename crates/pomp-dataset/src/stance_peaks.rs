use pomp_motion::{Gait, Recording};

/// Shortest stance that counts, seconds: shorter ones are flicker of the contact labels.
const SHORTEST_S: f32 = 0.1;
/// Gravity, m/s².
const GRAVITY: f32 = pomp_motion::GRAVITY_M_S2 as f32;

/// The largest vertical contact force of each stance of each foot, in body weights, with the gait at the middle of the
/// stance. A stance is an unbroken run of frames in which heel or toe is in contact; those that the clip's ends cut are
/// left out. The force is the impulse on foot and toes over the frame, divided by the frame's time.
///
/// Empty without a physics replay.
///
/// # Errors
/// The replay has no bodies of the names of the feet, or no mass.
pub(crate) fn stance_peaks(recording: &Recording) -> Result<Vec<(Gait, f32)>, String> {
    let Some(simulation) = &recording.simulation else { return Ok(Vec::new()) };
    let mass: f32 = simulation.body_mass_kg.iter().sum();
    if mass <= 0.0 {
        return Err(format!("its bodies weigh {mass} kg together; preprocess it again"));
    }
    let newton_per_ns = recording.frame_rate_hz;
    let frames = recording.frames();
    let shortest = (SHORTEST_S * recording.frame_rate_hz).round() as usize;
    let mut peaks = Vec::new();
    for (side, points) in [("Left", [0, 1]), ("Right", [2, 3])] {
        let bodies: Vec<usize> = ["Foot", "Toe"]
            .iter()
            .map(|part| {
                let name = format!("{side}{part}");
                simulation
                    .body_names
                    .iter()
                    .position(|body| *body == name)
                    .ok_or_else(|| format!("its replay has no body {name}; preprocess it again"))
            })
            .collect::<Result<_, _>>()?;
        let stands = |frame: usize| points.iter().any(|&point| recording.foot_contact[frame][point]);
        let force_bw = |frame: usize| {
            let vertical: f32 = bodies.iter().map(|&body| simulation.contact_impulse[frame][body].y).sum();
            vertical * newton_per_ns / (mass * GRAVITY)
        };
        let mut begin = None;
        for frame in 0..frames {
            match (stands(frame), begin) {
                (true, None) => begin = Some(frame),
                (false, Some(first)) => {
                    if first > 0 && frame - first >= shortest {
                        let gait = Gait::dominant(&recording.gait[first.midpoint(frame)]);
                        peaks.push((gait, (first..frame).map(force_bw).fold(f32::MIN, f32::max)));
                    }
                    begin = None;
                }
                _ => {}
            }
        }
    }
    Ok(peaks)
}

#[cfg(test)]
mod tests {
    use super::*;
    use pomp_motion::glam::Vec3;
    use pomp_motion::{Clip, ESTIMATED_BY_SIMULATION, FrameTable, Pose, SimulationTrack, Skeleton};
    use std::sync::Arc;

    #[test]
    fn each_whole_stance_gives_its_peak_and_its_gait() {
        let skeleton = Arc::new(Skeleton::humanoid(1.75));
        let poses = vec![Pose::rest(&skeleton); 60];
        let mut recording = Recording::of_clip(&Clip::new("steps", skeleton, 60.0, poses).unwrap());
        let names = ["LeftFoot", "LeftToe", "RightFoot", "RightToe"];
        let mut impulse = FrameTable::filled(60, 4, Vec3::ZERO);
        // Left: cut by the beginning, then a stance of ten frames, then a flicker. Right: cut by the end.
        for frame in (0..8).chain(20..30).chain(40..42) {
            recording.foot_contact[frame][0] = true;
        }
        for frame in 50..60 {
            recording.foot_contact[frame][3] = true;
        }
        for gait in &mut recording.gait {
            *gait = Gait::Walk.one_hot();
        }
        let mut rows = Vec::new();
        for frame in 0..60 {
            let mut row = impulse[frame].to_vec();
            if frame == 24 {
                row[0] = Vec3::new(0.0, 9.81, 0.0);
                row[1] = Vec3::new(3.0, 4.905, 0.0);
            }
            rows.extend(row);
        }
        impulse = FrameTable::from_values(4, rows).unwrap();
        recording.simulation = Some(SimulationTrack {
            body_names: names.map(str::to_owned).to_vec(),
            body_mass_kg: vec![20.0, 10.0, 20.0, 10.0],
            sim_contact_impulse: impulse.clone(),
            contact_impulse: impulse,
            impulse_estimator: ESTIMATED_BY_SIMULATION.to_owned(),
            positions: recording.positions.clone(),
            quaternions: recording.quaternions.clone(),
            velocities: recording.velocities.clone(),
            assist_force: vec![Vec3::ZERO; 60],
            assist_torque: vec![Vec3::ZERO; 60],
        });
        let peaks = stance_peaks(&recording).unwrap();
        assert_eq!(peaks.len(), 1);
        assert_eq!(peaks[0].0, Gait::Walk);
        assert!((peaks[0].1 - 14.715 * 60.0 / (60.0 * 9.81)).abs() < 1e-5, "{peaks:?}");
    }
}
