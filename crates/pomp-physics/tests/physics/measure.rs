//! Accuracy and cost, printed.

use crate::support::*;
use pomp_physics::DynamicConfig;
use std::time::Instant;

#[test]
fn joints_track_a_sway_and_a_walk_within_two_degrees() {
    let config = DynamicConfig::default();
    let weight = config.body_weight_n();
    let long = ground(2.0, -1.0, 6.0, |_, _| 0.0);
    for (name, motion) in [("stand", (|_| stand()) as fn(f32) -> _), ("sway", sway), ("walk", walk)] {
        let mut module = module_with(&config, &long);
        let frames = 240;
        let start = Instant::now();
        let outcome = follow(&mut module, frames, motion, no_pushes);
        let micros = start.elapsed().as_micros() as f32 / frames as f32;
        let settled = &outcome[30..];
        let errors: Vec<f32> = outcome
            .iter()
            .enumerate()
            .skip(30)
            .map(|(i, f)| joint_error_deg(&f.pose, &motion((i + 1) as f32 * DT)))
            .collect();
        let root = settled
            .iter()
            .enumerate()
            .map(|(i, f)| (f.pose.positions[0] - motion((i + 31) as f32 * DT).root_position).length())
            .fold(0.0f32, f32::max);
        let closure = vertical_impulse(settled) / (weight * settled.len() as f32 * DT);
        let peak = settled
            .iter()
            .map(|f| f.contact_impulse.iter().map(|j| j.y).sum::<f32>() / DT / weight)
            .fold(0.0f32, f32::max);
        let assist = mean(settled.iter().map(|f| f.assist_force.length())) / weight;
        let saturated = settled.iter().filter(|f| f.saturated_joints > 0).count();
        let error = mean(errors.iter().copied());
        println!(
            "{name}: {micros:.0} us a frame, joints {error:.2} deg (worst frame {:.2}), root {:.1} cm, contacts {closure:.4} m g T, peak {peak:.2} BW, assist {assist:.3} BW, saturated frames {saturated}",
            errors.iter().copied().fold(0.0f32, f32::max),
            root * 100.0,
        );
        assert!(error < 2.0, "{name}: {error} deg");
    }
}
