//! The step of a standing body that is about to fall.
//!
//! The capture point is where a pendulum that tips over has to be held up to come to rest: the centre of mass led by its velocity. When
//! it leaves the soles of a body whose target stands, a foot is lifted, sent there and set down.

use super::along_ground;
use super::stance::{FEET, SWING_LOAD, sole};
use super::standing::PENDULUM_S;
use crate::DynamicModule;
use crate::motion::Motion;
use pomp_motion::GlobalPose;
use pomp_motion::glam::Vec3;
use serde::{Deserialize, Serialize};
use std::f32::consts::PI;

/// A target whose centre of mass is slower than this stands, m/s.
const STANDS_BELOW_M_S: f32 = 0.6;
/// A body steps when its capture point is this near to the edge of its soles, metres.
const EDGE_M: f32 = 0.03;
/// Half of the width of a sole, metres.
const HALF_SOLE_M: f32 = 0.04;
/// Sine of the angle between capture point and heading from which on the leg of that side steps, and not the one that bears less.
const SIDEWAYS: f32 = 0.6;
/// Height of the step, metres.
const LIFT_M: f32 = 0.08;
/// The foot lands this far beyond the capture point, metres.
const BEYOND_M: f32 = 0.05;
/// Feet keep this distance across, metres.
const APART_M: f32 = 0.1;
/// Speed of the foot, m/s.
const SPEED_M_S: f32 = 5.0;
/// Share of the step after which the foot may land, and time after which it has landed or missed the ground, in times of the step.
const LANDS: (f32, f32) = (0.6, 1.5);
/// Share of the foot's length, from the ankle to the toe, at which the step aims.
const MIDDLE: f32 = 0.4;

/// A catching step under way.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct CatchingStep {
    leg: usize,
    elapsed_s: f32,
}

/// Where the foot of a catching step is to be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct CaughtFoot {
    pub leg: usize,
    /// How far from where the target has its ankle, world, metres.
    pub way: Vec3,
    /// How fast it goes there, m/s.
    pub speed_m_s: f32,
}

/// What a catching step is judged by.
#[derive(Clone, Copy)]
pub(super) struct Falling<'a> {
    pub motion: &'a Motion,
    /// The target.
    pub target: &'a GlobalPose,
    /// Centre of mass of the body.
    pub center: Vec3,
    /// Velocity of the body's centre of mass beyond that of the target's, m/s.
    pub slip: Vec3,
    /// Velocity of the target's centre of mass, m/s.
    pub led: Vec3,
    /// Heading of the target, along the ground.
    pub ahead: Vec3,
}

impl DynamicModule {
    /// The foot that is on a catching step in this frame, if one is. To be called once a frame.
    pub(super) fn catching_step(&mut self, falling: &Falling<'_>) -> Option<CaughtFoot> {
        let Falling { motion, target, center, slip, led, ahead } = *falling;
        let step_s = self.config.balance.catching_step_s;
        if step_s <= 0.0 {
            return None;
        }
        let soles: [[Vec3; 3]; 2] =
            std::array::from_fn(|leg| sole(&motion.pose, self.body_height_m(), leg).map(along_ground));
        let loads = self.controls.feet.map(|foot| foot.load());
        let capture = along_ground(center + slip * PENDULUM_S);
        let middle = soles.iter().flatten().sum::<Vec3>() / 6.0;
        let towards = (capture - middle).normalize_or_zero();
        let reach = soles.iter().flatten().map(|point| (*point - middle).dot(towards)).fold(0.0, f32::max);
        let side = Vec3::Y.cross(ahead);
        self.controls.catching = match self.controls.catching {
            Some(step) => {
                let elapsed_s = step.elapsed_s + self.frame_s();
                let landed = elapsed_s > LANDS.0 * step_s && loads[step.leg] > SWING_LOAD;
                (!landed && elapsed_s < LANDS.1 * step_s).then_some(CatchingStep { elapsed_s, ..step })
            }
            None => {
                let across = towards.dot(side);
                let leg = if across.abs() > SIDEWAYS {
                    usize::from(across < 0.0)
                } else {
                    usize::from(loads[1] < loads[0])
                };
                let stands = along_ground(led).length() < STANDS_BELOW_M_S && loads[1 - leg] > SWING_LOAD;
                let falls = (capture - middle).length() > reach + HALF_SOLE_M - EDGE_M;
                (stands && falls).then_some(CatchingStep { leg, elapsed_s: 0.0 })
            }
        };
        let CatchingStep { leg, elapsed_s } = self.controls.catching?;
        let [heel, ball, _] = soles[1 - leg];
        let outward = if leg == 0 { side } else { -side };
        let lands = capture + towards * BEYOND_M;
        let apart = (lands - heel.midpoint(ball)).dot(outward);
        let lands = lands + outward * (APART_M - apart).max(0.0);
        let [ankle, toe] = FEET[leg].map(|joint| along_ground(target.positions[joint]));
        let lift = LIFT_M * (PI * (elapsed_s / step_s).min(1.0)).sin();
        let way = lands - ankle.lerp(toe, MIDDLE) + Vec3::Y * lift;
        Some(CaughtFoot { leg, way, speed_m_s: SPEED_M_S })
    }
}
