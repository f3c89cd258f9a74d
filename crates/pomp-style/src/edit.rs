//! Editing under constraints: the nearest code whose motion has joints where they are wanted.

use crate::StyleError;
use crate::blend::Scope;
use crate::levenberg_marquardt::minimise;
use crate::model::StyleModel;
use crate::motion::between;
use glam::Vec3;
use nalgebra::DVector;
use pomp_motion::Skeleton;
use serde::Serialize;
use std::str::FromStr;

/// A joint that has to be at a place at a time of the cycle.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Constraint {
    /// Name of the joint.
    pub joint: String,
    /// Time of the cycle on the reference's axis, 0 to 1: from the left foot's strike to its next.
    pub at: f64,
    /// Place, metres: to the left of the point on the ground below the pelvis, up from the ground, ahead along the walk. `None` is free.
    pub place_m: [Option<f64>; 3],
}

impl FromStr for Constraint {
    type Err = StyleError;

    fn from_str(text: &str) -> Result<Self, StyleError> {
        let bad = |reason: &str| {
            StyleError::BadRequest(format!(
                "\"{text}\": {reason}; write JOINT@TIME=LEFT,UP,AHEAD, as LeftHand@0.5=0.3,1.4,_ (metres from the ground below the \
                 pelvis; _ is free)"
            ))
        };
        let (joint, rest) = text.split_once('@').ok_or_else(|| bad("there is no @"))?;
        let (at, place) = rest.split_once('=').ok_or_else(|| bad("there is no ="))?;
        let at: f64 = at.trim().parse().map_err(|_| bad("the time is not a number"))?;
        if !(0.0..=1.0).contains(&at) {
            return Err(bad("the time is not from 0 to 1"));
        }
        let numbers: Vec<Option<f64>> = place
            .split(',')
            .map(|number| match number.trim() {
                "_" => Ok(None),
                number => match number.parse::<f64>() {
                    Ok(value) if value.is_finite() && value.abs() <= 5.0 => Ok(Some(value)),
                    Ok(_) => Err(bad("a place lies within 5 m")),
                    Err(_) => Err(bad("a place is not a number")),
                },
            })
            .collect::<Result<_, _>>()?;
        let place_m: [Option<f64>; 3] = numbers.try_into().map_err(|_| bad("a place has three numbers"))?;
        if place_m == [None; 3] {
            return Err(bad("all three numbers are free"));
        }
        Ok(Self { joint: joint.trim().to_owned(), at, place_m })
    }
}

/// How codes are searched.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EditSettings {
    /// Which part of the code may change.
    pub scope: Scope,
    /// Metres that a change of the code by one standard deviation counts for: keeps the motion near what it was, and near the cycles.
    /// Default 0.002.
    pub stiffness_m: f64,
    /// Most steps.
    pub iterations: usize,
}

impl Default for EditSettings {
    fn default() -> Self {
        Self { scope: Scope::Style, stiffness_m: 0.002, iterations: 30 }
    }
}

/// An edited code.
#[derive(Clone, Debug)]
pub struct Edited {
    /// The code.
    pub code: DVector<f64>,
    /// Steps of Levenberg-Marquardt.
    pub iterations: usize,
    /// Distance of each constraint's joint from its place before, metres.
    pub before_m: Vec<f64>,
    /// The same after.
    pub after_m: Vec<f64>,
    /// How far the code has moved, standard deviations of the cycles of the fit.
    pub moved: f64,
}

/// A constraint with its joint found.
struct Wanted {
    joint: usize,
    /// Frame of the reference.
    at: f64,
    place_m: [Option<f64>; 3],
}

impl Wanted {
    /// The joint's place less the wanted one, of the coordinates that are not free.
    fn misses(&self, model: &StyleModel, postures: &[Vec<f64>]) -> Vec<f64> {
        let pose = model.space.decode(&between(postures, self.at));
        let world = model.space.skeleton().forward_kinematics(&pose);
        let place = world.positions[self.joint] - world.positions[0] * Vec3::new(1.0, 0.0, 1.0);
        place
            .to_array()
            .into_iter()
            .zip(self.place_m)
            .filter_map(|(found, wanted)| Some(f64::from(found) - wanted?))
            .collect()
    }

    fn distance(&self, model: &StyleModel, postures: &[Vec<f64>]) -> f64 {
        self.misses(model, postures).iter().map(|miss| miss * miss).sum::<f64>().sqrt()
    }
}

/// Changes `code` as little as meets the constraints.
///
/// # Errors
/// [`StyleError::BadRequest`] without constraints, [`StyleError::Unknown`] joint.
pub fn edit(
    model: &StyleModel,
    code: &DVector<f64>,
    constraints: &[Constraint],
    settings: EditSettings,
) -> Result<Edited, StyleError> {
    if constraints.is_empty() {
        return Err(StyleError::BadRequest("there is no constraint; give --constraint".to_owned()));
    }
    let wanted = wanted(model, constraints)?;
    let rows = settings.scope.rows(model);
    let with = |part: &DVector<f64>| {
        let mut whole = code.clone();
        whole.rows_mut(rows.start, rows.len()).copy_from(part);
        whole
    };
    let start = code.rows(rows.start, rows.len()).into_owned();
    let residuals = |part: &DVector<f64>| {
        let motion = model.motion(&with(part));
        let mut misses: Vec<f64> =
            wanted.iter().flat_map(|wanted| wanted.misses(model, &motion.postures)).collect();
        misses.extend((part - &start).iter().map(|moved| settings.stiffness_m * moved));
        DVector::from_vec(misses)
    };
    // Poses are of 32 bits: a thousandth of a standard deviation is far above their last bits and far below what bends a curve.
    let found = minimise(residuals, start.clone(), 1e-3, settings.iterations);
    let distances = |code: &DVector<f64>| {
        let motion = model.motion(code);
        wanted.iter().map(|wanted| wanted.distance(model, &motion.postures)).collect()
    };
    let edited = with(&found.parameters);
    Ok(Edited {
        before_m: distances(code),
        after_m: distances(&edited),
        moved: (&found.parameters - &start).norm(),
        code: edited,
        iterations: found.iterations,
    })
}

fn wanted(model: &StyleModel, constraints: &[Constraint]) -> Result<Vec<Wanted>, StyleError> {
    let skeleton: &Skeleton = model.space.skeleton();
    let last = (model.reference.poses.len() - 1) as f64;
    constraints
        .iter()
        .map(|constraint| {
            let joint = skeleton.index_of(&constraint.joint).ok_or_else(|| StyleError::Unknown {
                kind: "joint",
                name: constraint.joint.clone(),
                known: skeleton
                    .joints()
                    .iter()
                    .map(|joint| joint.name.as_str())
                    .collect::<Vec<_>>()
                    .join(", "),
            })?;
            Ok(Wanted { joint: joint.0, at: constraint.at * last, place_m: constraint.place_m })
        })
        .collect()
}
