//! Sagittal joint angles over the gait cycle, as low-order Fourier series.
//!
//! The series were fitted by this project (six harmonics, within 3°) to values read from the published
//! normative curves, cycle 0 being initial contact of the same foot:
//!
//! - walking, hip, knee and ankle of adults at natural cadence: D. A. Winter, *The Biomechanics and Motor Control
//!   of Human Gait*, 2nd ed., 1991; J. Perry and J. M. Burnfield, *Gait Analysis*, 2nd ed., 2010. The hip is the
//!   angle of the thigh to a pelvis without the 8° of anterior tilt of quiet standing, because the rest pose
//!   of the project skeleton has none;
//! - running: T. F. Novacheck, "The biomechanics of running", *Gait and Posture* 7, 1998, taken down to a jog.

use std::f32::consts::TAU;

/// Mean and six harmonics (cosine, sine) of an angle over the cycle, degrees.
struct Series {
    mean: f32,
    harmonics: [(f32, f32); 6],
}

impl Series {
    fn radians(&self, cycle: f32) -> f32 {
        let mut degrees = self.mean;
        for (k, &(cosine, sine)) in self.harmonics.iter().enumerate() {
            let (s, c) = (TAU * (k + 1) as f32 * cycle).sin_cos();
            degrees += cosine * c + sine * s;
        }
        degrees.to_radians()
    }
}

/// Flexion of one leg's joints, radians: hip and knee flexion and dorsiflexion are positive.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LegAngles {
    pub(crate) hip: f32,
    pub(crate) knee: f32,
    pub(crate) ankle: f32,
}

/// The curves of one gait.
pub(crate) struct LegCurves {
    hip: Series,
    knee: Series,
    ankle: Series,
}

impl LegCurves {
    /// Angles at `cycle`, in cycles from initial contact of this leg.
    pub(crate) fn at(&self, cycle: f32) -> LegAngles {
        LegAngles {
            hip: self.hip.radians(cycle),
            knee: self.knee.radians(cycle),
            ankle: self.ankle.radians(cycle),
        }
    }
}

pub(crate) static WALK: LegCurves = LegCurves {
    hip: Series {
        mean: 5.88,
        harmonics: [
            (19.52, -3.78),
            (-3.02, -1.51),
            (0.06, 0.68),
            (-0.42, -0.24),
            (-0.15, 0.28),
            (0.01, -0.03),
        ],
    },
    knee: Series {
        mean: 24.07,
        harmonics: [
            (-3.64, -19.44),
            (-14.2, 7.05),
            (-0.22, 4.24),
            (-0.49, -0.03),
            (-0.55, 0.63),
            (0.21, 0.24),
        ],
    },
    ankle: Series {
        mean: -0.23,
        harmonics: [(-1.32, 6.56), (1.57, -6.64), (-3.07, 0.38), (1.95, -0.02), (-0.03, -1.01), (0.07, 0.19)],
    },
};

pub(crate) static JOG: LegCurves = LegCurves {
    hip: Series {
        mean: 21.82,
        harmonics: [
            (16.95, -13.29),
            (-4.51, 2.06),
            (-1.29, -0.13),
            (-0.28, 0.45),
            (-0.32, 0.17),
            (-0.07, 0.07),
        ],
    },
    knee: Series {
        mean: 46.65,
        harmonics: [
            (-12.64, -23.77),
            (-11.33, 16.65),
            (-2.87, 2.21),
            (0.41, 0.73),
            (-0.52, 0.71),
            (0.21, 0.5),
        ],
    },
    ankle: Series {
        mean: 3.72,
        harmonics: [(10.88, 3.6), (-6.37, 7.16), (-1.96, -3.03), (0.4, 0.49), (-0.59, -0.11), (0.03, 0.08)],
    },
};
