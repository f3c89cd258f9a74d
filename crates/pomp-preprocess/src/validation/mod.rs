//! Contact impulses against force plates: `pomp validate-impulses`.
//!
//! [`trials`] reads a manifest, [`validate`] preprocesses one trial and compares what is stored, the replay's own
//! impulses and two plainer estimates with the plates. Plates and clip have to begin at the same moment, in the same
//! world (Y up). The estimates do not use the plates.

mod compare;
mod plates;

pub use crate::plate_error::PlateError;
pub use compare::{Forces, Scores, compare};
pub use plates::{PlateFrame, Plates, Trial, trials};

use crate::load::load_clip;
use crate::own_ground::{Replayed, on_own_ground, replayed};
use crate::{PreprocessConfig, PreprocessError};
use pomp_estimate::impulses::{self, ImpulseEstimate};
use pomp_motion::glam::{DVec3, Vec3};
use pomp_motion::retarget::RigLibrary;
use pomp_motion::{FrameTable, GRAVITY_M_S2, GlobalPose, Recording, SimulationTrack, humanoid};
use serde::Serialize;

/// Time that plates and clip have to share, s.
const LEAST_S: f64 = 1.0 / 3.0;
/// Relative difference between the plates' mean force and the weight above which a mass is refused, where plates measure everything.
const MASS_TOLERANCE: f64 = 0.15;
/// Range of masses of standing people, kg: the only check where plates miss contacts.
const PERSON_KG: std::ops::RangeInclusive<f64> = 10.0..=400.0;
/// The difference above which there is a warning.
const MASS_DOUBT: f64 = 0.02;
/// Time around an unmeasured contact in which the foot may bear load, s.
const UNSEEN_MARGIN_S: f64 = 0.07;

/// The estimators that are compared, in this order.
pub const ESTIMATORS: [&str; 4] =
    ["stored", "raw replay", "inverse dynamics, total", "inverse dynamics, shared by distance"];

/// One trial against its plates.
#[derive(Clone, Debug, Serialize)]
pub struct TrialResult {
    /// Name of the trial.
    pub name: String,
    /// Activity.
    pub activity: String,
    /// Whether the plates measured every contact.
    pub complete: bool,
    /// Share of the frames in which totals are compared: those in which the plates saw every contact of the clip.
    pub compared: f64,
    /// Mean vertical force of the plates over g and the manifest's mass; 1 when they agree. Meaningful when complete.
    pub measured_weight: f64,
    /// Weight of the person by the plates themselves, over that by the manifest's mass: Σ F over what the clip's momentum
    /// asks for, Σ m (g + a), in the frames that are compared. Not 1 when the stated mass is not the one that was on the
    /// plates. `None` when the plates miss contacts.
    pub shown_weight: Option<f64>,
    /// Scores of what is stored against the plates in units of the weight that they show: without the error of the mass.
    pub stored_by_shown_weight: Option<Scores>,
    /// Σ vertical impulse over m g T of what is stored.
    pub closure: f32,
    /// The part of its distance from 1 that the clip's own change of momentum explains.
    pub momentum_change: f32,
    /// The same closure of the raw replay.
    pub replay_closure: f32,
    /// Mean vertical assist of the replay, body weights.
    pub vertical_assist: f32,
    /// Scores by estimator, in the order of [`ESTIMATORS`].
    pub scores: Vec<Scores>,
    /// Warnings about these numbers.
    pub warnings: Vec<String>,
    /// Forces of the plates and of each estimator, for plots.
    #[serde(skip)]
    pub curves: Curves,
}

/// Forces over time of one trial.
#[derive(Clone, Debug)]
pub struct Curves {
    /// Frames per second.
    pub rate_hz: f64,
    /// By the plates.
    pub measured: Forces,
    /// By each of [`ESTIMATORS`].
    pub predicted: Vec<Forces>,
}

/// Preprocesses `trial` and compares its contact impulses with its plates.
///
/// # Errors
/// A clip or plates that cannot be used; [`PreprocessError::Plates`] says what is wrong with the latter.
pub fn validate(
    trial: &Trial,
    config: &PreprocessConfig,
    rigs: &RigLibrary,
) -> Result<TrialResult, PreprocessError> {
    let loaded = load_clip(&trial.clip, config, rigs)?;
    let plates = Plates::read(&trial.plates)?;
    let clip = loaded.clip;
    let rate_hz = f64::from(clip.frame_rate_hz);
    let shared_s = shared_time(trial, &plates, (clip.frames() - 1) as f64 / rate_hz)?;
    let (recording, grid, fit) = on_own_ground(&trial.clip, &clip, config)?;
    let Replayed { simulation: track, report: replayed, estimate, .. } =
        replayed(&trial.clip, &clip, &recording.foot_contact, &grid, config)?;

    let frames = clip.frames().min((shared_s * rate_hz) as usize + 1);
    let scale = f64::from(loaded.report.scale);
    let measured = measured(&plates, &recording, frames, rate_hz, trial.mass_kg, scale);
    let predicted = predicted(&recording, &track, &estimate, frames, rate_hz, config);
    let complete = trial.complete();
    let seen = if complete { seen(&recording, &measured, rate_hz) } else { vec![false; frames] };
    let measured_weight = measured.total_bw.iter().map(|f| f.y).sum::<f64>() / frames as f64;
    let shown_weight = shown_weight(&measured, &estimate, &seen);
    let on_plates_all_the_time = complete && trial.contact_fraction >= 0.95;
    check_mass(trial, if on_plates_all_the_time { Some(measured_weight) } else { shown_weight })?;
    let mut warnings = loaded.warnings;
    warnings.extend(fit.warnings);
    if on_plates_all_the_time && (measured_weight - 1.0).abs() > MASS_DOUBT {
        warnings.push(format!(
            "mass: the plates carry {:.1} kg on average, the manifest says {} kg: {:+.1} % of every force",
            measured_weight * trial.mass_kg,
            trial.mass_kg,
            100.0 * (measured_weight - 1.0)
        ));
    }
    let scores = predicted.iter().map(|p| compare(p, &measured, &seen, rate_hz)).collect();
    let stored_by_shown_weight =
        shown_weight.map(|weight| compare(&predicted[0], &measured.scaled(1.0 / weight), &seen, rate_hz));
    Ok(TrialResult {
        name: trial.name.clone(),
        activity: trial.activity.clone(),
        complete,
        compared: seen.iter().filter(|s| **s).count() as f64 / frames as f64,
        measured_weight,
        shown_weight,
        stored_by_shown_weight,
        closure: estimate.report.vertical_closure,
        momentum_change: estimate.report.momentum_change,
        replay_closure: replayed.vertical_closure,
        vertical_assist: replayed.vertical_assist,
        scores,
        warnings,
        curves: Curves { rate_hz, measured, predicted },
    })
}

/// The time that plates and a clip of `clip_s` seconds share, seconds.
fn shared_time(trial: &Trial, plates: &Plates, clip_s: f64) -> Result<f64, PlateError> {
    let plates_s = plates.seconds();
    let shared_s = clip_s.min(plates_s);
    // Plates and clip have the same frames: a much longer one of the two is an error.
    let apart = (clip_s - plates_s).abs() > 0.1 * clip_s.max(plates_s) + 0.1;
    if shared_s < LEAST_S || apart {
        let path = trial.plates.clone();
        return Err(PlateError::NoOverlap { path, plates_s, clip_s, shared_s, least_s: LEAST_S });
    }
    Ok(shared_s)
}

/// Refuses a mass that is not the one on the plates, by the `weight` that they show over that of the mass, or no person's.
fn check_mass(trial: &Trial, weight: Option<f64>) -> Result<(), PlateError> {
    let (path, stated_kg) = (trial.plates.clone(), trial.mass_kg);
    // The weight is measured against m (g + a) and not m g: in flight both plates and motion show none.
    match weight {
        Some(weight) if (weight - 1.0).abs() > MASS_TOLERANCE => {
            Err(PlateError::WrongMass { path, stated_kg, measured_kg: weight * stated_kg })
        }
        _ if !PERSON_KG.contains(&stated_kg) => Err(PlateError::NoPerson { path, stated_kg }),
        _ => Ok(()),
    }
}

/// See [`TrialResult::shown_weight`].
fn shown_weight(measured: &Forces, estimate: &ImpulseEstimate, seen: &[bool]) -> Option<f64> {
    let frames = compare::compared_frames(seen);
    let asked: f64 = frames.iter().map(|&t| f64::from(estimate.motion_force_bw[t].y)).sum();
    let borne: f64 = frames.iter().map(|&t| measured.total_bw[t].y).sum();
    (frames.len() > 2 && asked > 0.0 && borne > 0.0).then(|| borne / asked)
}

/// The axes of the person in a frame: left, up, forward.
fn in_person(recording: &Recording, frame: usize, force: DVec3) -> DVec3 {
    let (sine, cosine) = f64::from(recording.root[frame][2]).sin_cos();
    DVec3::new(force.x * cosine - force.z * sine, force.y, force.x * sine + force.z * cosine)
}

/// Frames in which every foot that the clip has on the ground bears on a plate: a contact of a foot through which no plate
/// ever bears it was beside the plates, and it and [`UNSEEN_MARGIN_S`] around it are left out.
fn seen(recording: &Recording, measured: &Forces, rate_hz: f64) -> Vec<bool> {
    let feet = measured.feet_bw.as_ref().expect("plates tell the feet apart");
    let frames = feet.len();
    let margin = (UNSEEN_MARGIN_S * rate_hz).round() as usize;
    let mut seen = vec![true; frames];
    for foot in 0..2 {
        let rests = |frame: usize| {
            let contact = recording.foot_contact[frame];
            contact[2 * foot] || contact[2 * foot + 1]
        };
        let mut start = 0;
        while start < frames {
            let length = (start..frames).take_while(|f| rests(*f)).count();
            let contact = start..start + length;
            if length > 0 && contact.clone().all(|f| feet[f][foot].y < compare::LOADED_BW) {
                seen[start.saturating_sub(margin)..(contact.end + margin).min(frames)].fill(false);
            }
            start += length.max(1);
        }
    }
    seen
}

fn measured(
    plates: &Plates,
    recording: &Recording,
    frames: usize,
    rate_hz: f64,
    mass_kg: f64,
    scale: f64,
) -> Forces {
    let rows = plates.per_frame(frames, rate_hz);
    let feet: Vec<[DVec3; 2]> = rows
        .iter()
        .enumerate()
        .map(|(t, row)| row.map(|foot| in_person(recording, t, foot.force_n / (mass_kg * GRAVITY_M_S2))))
        .collect();
    Forces {
        total_bw: feet.iter().map(|f| f[0] + f[1]).collect(),
        feet_bw: Some(feet),
        // The clip is scaled to the project's skeleton as a whole, and so are the places of the plates.
        pressure_center_m: Some(rows.iter().map(|row| row.map(|foot| foot.center_m * scale)).collect()),
    }
}

fn predicted(
    recording: &Recording,
    track: &SimulationTrack,
    estimate: &ImpulseEstimate,
    frames: usize,
    rate_hz: f64,
    config: &PreprocessConfig,
) -> Vec<Forces> {
    let mass: f64 = track.body_mass_kg.iter().map(|&m| f64::from(m)).sum();
    let per_bw = rate_hz / (mass * f64::from(config.dynamic.gravity_m_s2));
    let poses: Vec<GlobalPose> = (0..frames).map(|t| recording.global_pose(t)).collect();
    let soles: Vec<_> = poses.iter().map(|pose| impulses::sole_points(&recording.skeleton, pose)).collect();
    let of_bodies = |table: &FrameTable<Vec3>, centers: Vec<[DVec3; 2]>| {
        let force = |t: usize, bodies: &[usize]| -> DVec3 {
            let sum: DVec3 = bodies.iter().map(|&b| table[t][b].as_dvec3()).sum();
            in_person(recording, t, sum * per_bw)
        };
        let everything: Vec<usize> = (0..table.columns()).collect();
        Forces {
            total_bw: (0..frames).map(|t| force(t, &everything)).collect(),
            feet_bw: Some((0..frames).map(|t| FEET.map(|bodies| force(t, &bodies))).collect()),
            pressure_center_m: Some(centers),
        }
    };
    let stored_centers = (0..frames).map(|t| estimate.pressure_center[t].map(Vec3::as_dvec3)).collect();
    // The simulator's record holds the load on each body, not its place: the middle of the foot and of the toes is
    // assumed.
    let raw_centers = (0..frames)
        .map(|t| {
            [0, 1].map(|foot| {
                let load = FEET[foot].map(|body| f64::from(track.sim_contact_impulse[t][body].y.max(0.0)));
                let [heel, ball, tip] = soles[t][foot];
                let (middle, toes) = (heel.lerp(ball, 0.5), ball.lerp(tip, 0.5));
                middle.lerp(toes, if load[0] + load[1] > 0.0 { load[1] / (load[0] + load[1]) } else { 0.0 })
            })
        })
        .collect();
    let total: Vec<DVec3> =
        (0..frames).map(|t| in_person(recording, t, estimate.motion_force_bw[t].as_dvec3())).collect();
    let by_distance = (0..frames)
        .map(|t| {
            let away = [0, 1].map(|foot| {
                let ray = soles[t][foot][1] - estimate.center_of_mass[t].as_dvec3();
                ray.x.hypot(ray.z).max(0.01)
            });
            let right = away[0] / (away[0] + away[1]);
            [total[t] * (1.0 - right), total[t] * right]
        })
        .collect();
    vec![
        of_bodies(&track.contact_impulse, stored_centers),
        of_bodies(&track.sim_contact_impulse, raw_centers),
        Forces { total_bw: total.clone(), feet_bw: None, pressure_center_m: None },
        Forces { total_bw: total, feet_bw: Some(by_distance), pressure_center_m: None },
    ]
}

/// Bodies of the left and the right foot.
const FEET: [[usize; 2]; 2] =
    [[humanoid::LEFT_FOOT.0, humanoid::LEFT_TOE.0], [humanoid::RIGHT_FOOT.0, humanoid::RIGHT_TOE.0]];
