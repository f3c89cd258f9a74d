//! `configs/preprocess_own_feet.toml`: replays in which nothing outside holds the body.

#![allow(clippy::unwrap_used, reason = "a test may panic, also in the functions it shares")]

use pomp_config::{Origin, resolve};
use pomp_estimate::{PhysicsSettings, ReplayReport, expectations, replay};
use pomp_motion::glam::Vec3;
use pomp_motion::{Recording, SimulationTrack};
use pomp_preprocess::PreprocessConfig;
use pomp_synthetic::{MotionKind, MotionRequest, generate};
use pomp_terrain::HeightMap;
use std::path::PathBuf;

fn resolved(changes: &[String]) -> Result<PreprocessConfig, String> {
    let path: PathBuf =
        [env!("CARGO_MANIFEST_DIR"), "../../configs/preprocess_own_feet.toml"].iter().collect();
    let resolved =
        resolve::<PreprocessConfig>(Origin::File(&path), changes).map_err(|error| error.to_string())?;
    resolved.checked().map_err(|error| error.to_string())
}

fn replayed(config: &PreprocessConfig) -> (SimulationTrack, ReplayReport) {
    let map = HeightMap::flat(40.0, 0.5).unwrap();
    let request = MotionRequest { duration_s: 4.0, ..MotionRequest::new(MotionKind::Walk) };
    let made = generate(&request, &map).unwrap();
    let mut recording = Recording::of_clip(&made.clip);
    recording.foot_contact = made.foot_contact;
    let PreprocessConfig { dynamic, replay: settings, impulses, .. } = config;
    let physics = PhysicsSettings { dynamic, replay: settings, impulses };
    let expected = expectations(&made.clip, &recording.foot_contact, physics).unwrap();
    replay(&made.clip, &map.into_grid(), dynamic, settings, &expected).unwrap()
}

#[test]
fn a_planned_replay_stays_on_its_clip_without_anything_outside() {
    let planned = resolved(&[]).unwrap();
    let mut left_alone = planned.clone();
    left_alone.replay.planning.enabled = false;
    let (track, report) = replayed(&planned);
    let (_, alone) = replayed(&left_alone);
    println!("planned: {report:?}\nleft alone: {alone:?}");
    assert!(track.assist_force.iter().chain(&track.assist_torque).all(|outside| *outside == Vec3::ZERO));
    assert_eq!(report.resets, 0);
    assert!(report.mean_root_error_m < 0.1, "{report:?}");
    assert!(alone.resets > 0 || alone.mean_root_error_m > 1.5 * report.mean_root_error_m, "{alone:?}");
    let (again, _) = replayed(&planned);
    assert_eq!(track.positions.values(), again.positions.values());
}

#[test]
fn rejects_plans_for_a_body_that_something_holds() {
    let told = resolved(&["dynamic.balance.enabled=false".to_owned()]).unwrap_err();
    assert!(told.contains("replay.planning.enabled") && told.contains("dynamic.balance.enabled"), "{told}");
}
