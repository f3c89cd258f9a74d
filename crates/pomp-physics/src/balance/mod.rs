//! Balance by the legs: the wrench that the body needs is made by the joints of the legs that stand, and the ground gives it.
//!
//! A step is solved twice. First with the pelvis held on its way, whatever that takes: what it takes, together with what the
//! ground gives then, is the wrench that the whole motion needs. It is spread over the points where the feet touch the ground, as
//! far as friction and soles allow ([`wrench`]). Then without any hold on the pelvis: the joints between the feet and the pelvis get
//! the torques with which the feet press so on the ground. These are inner torques of the body, within the limits of the drives and
//! reported with them; nothing acts on the body but the ground. Legs that stand are soft, so that their springs do not press against
//! it; feet that swing are moved to where they catch the body ([`stance`]). A body that is to stand is held over its feet, wherever its
//! target leans, and begins so ([`standing`]).

mod catching;
mod observer;
mod reaction;
mod stance;
mod standing;
mod wrench;

pub(crate) use catching::CatchingStep;
pub(crate) use observer::HeightWave;
pub use reaction::{BalancingFoot, Reaction};
pub(crate) use stance::{Footing, MovedFoot};

use crate::drive::{DriveOutcome, DrivePlan};
use crate::motion::Motion;
use crate::step::Aim;
use crate::world::World;
use crate::{DynamicModule, GainScale};
use pomp_articulated::{Body, Contact, ExternalForce, add_external};
use pomp_motion::GlobalPose;
use pomp_motion::glam::{DVec3, Vec3};
use pomp_motion::legs::LEGS;
use pomp_motion::rotation::log;
use stance::FEET;
use wrench::{Bearing, Wrench, spread};

/// Farther above the ground than this a point of a foot bears nothing yet, metres.
const BEARS_WITHIN_M: f64 = 0.002;
/// Least share of a point that touches the ground where the target's foot, or that point of it, is off it.
const LEAST_SHARE: f32 = 0.05;
/// Feet of which less than this stands tell nothing of the place of the body; from the second on they count in full.
const TELLING_STANCE: (f32, f32) = (0.05, 0.2);

/// How the target moves in a frame, for a body that balances.
pub(crate) struct Led {
    /// The target at the start of the frame and at its end.
    pub(crate) from: GlobalPose,
    pub(crate) to: GlobalPose,
    /// Velocity of its centre of mass, m/s, and angular velocity of its pelvis, rad/s, smoothed.
    pub(crate) velocity: Vec3,
    pub(crate) spin: Vec3,
    /// Acceleration of its centre of mass along the ground, m/s², from the smoothed velocities.
    pub(crate) acceleration: Vec3,
    /// What an expectation says instead, if it is followed.
    pub(crate) expected: Option<ExpectedMotion>,
    /// How far it stands, 0 to 1.
    pub(crate) stands: f32,
    /// Height of its centre of mass from the start of the frame on.
    pub(crate) height: HeightWave,
}

/// How the target moves in a frame whose expectation is followed: not smoothed, so that the body is not late.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ExpectedMotion {
    /// Mean velocity of its centre of mass over the frame, m/s, and mean angular velocity of its pelvis, rad/s.
    velocity: Vec3,
    spin: Vec3,
    /// Acceleration of its centre of mass, m/s².
    acceleration: Vec3,
    /// Loads on its feet, newtons, where they are known.
    loads_n: Option<[f32; 2]>,
}

/// How the pelvis of a body that balances is to be moved.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wanted {
    /// Acceleration of the centre of mass, m/s².
    pub(crate) linear: Vec3,
    /// Angular acceleration, rad/s².
    pub(crate) angular: Vec3,
    /// Cost of the forces that make it, relative to that of an error.
    pub(crate) force_cost: f64,
}

impl Led {
    /// Loads that are expected on the feet, newtons, where an expectation that knows them is followed.
    fn expected_loads_n(&self) -> Option<[f32; 2]> {
        self.expected.and_then(|expected| expected.loads_n)
    }

    /// How far a body walks as this target does whose velocity differs from the target's by `slip`, 0 to 1.
    pub(crate) fn undisturbed(&self, slip: Vec3) -> f32 {
        standing::undisturbed(self.stands, slip)
    }

    /// Velocity of the centre of mass, angular velocity of the pelvis and acceleration that lead the body when the share `elapsed` of a frame
    /// of `frame_s` seconds is over.
    fn motion(&self, elapsed: f32, frame_s: f32) -> (Vec3, Vec3, Vec3) {
        match self.expected {
            None => (self.velocity, self.spin, self.acceleration),
            Some(ExpectedMotion { velocity, spin, acceleration, .. }) => {
                (velocity + acceleration * ((elapsed - 0.5) * frame_s), spin, acceleration)
            }
        }
    }
}

impl DynamicModule {
    /// Softens the drives of legs that stand, which the feet's forces then govern, and as far as the configuration says of those that touch
    /// the ground, as far as the walk is `undisturbed`.
    pub(crate) fn soften_stance(&self, footing: [Footing; 2], undisturbed: f32, gains: &mut [GainScale]) {
        let config = &self.config.balance;
        let yielding = config.touch_yielding * undisturbed;
        for (joints, foot) in LEGS.into_iter().zip(footing) {
            let stance = foot.stands.max(yielding * foot.touches);
            for joint in joints {
                gains[joint.0].stiffness *= 1.0 + stance * (config.stance_stiffness - 1.0);
                gains[joint.0].damping *= 1.0 + stance * (config.stance_damping - 1.0);
            }
        }
    }

    /// How the target of `aim` moves, after its feet were moved; remembers the smoothed velocities.
    pub(crate) fn lead(&mut self, world: &World, aim: &mut Aim<'_>) {
        let config = self.config.balance;
        let ragdoll = &world.ragdolls[self.member];
        let center = |pose: &GlobalPose| ragdoll.center_of_mass(pose);
        let (from, to) =
            (self.skeleton().forward_kinematics(&aim.from), self.skeleton().forward_kinematics(&aim.to));
        let now = ((center(&to) - center(&from)) / self.frame_s(), aim.velocity.angular[0]);
        let share = self.frame_s() / (self.frame_s() + config.smoothing_s);
        let (velocity, spin) = self.controls.led.unwrap_or(now);
        let (velocity, spin) = (velocity.lerp(now.0, share), spin.lerp(now.1, share));
        let before = self.controls.led.map_or(velocity, |(before, _)| before);
        let acceleration = along_ground((velocity - before) / self.frame_s());
        self.controls.led = Some((velocity, spin));
        let height = self.observe_height(&to, center(&to).y);
        let expected = aim.expected.filter(|_| config.follows_expectation).map(|expected| ExpectedMotion {
            velocity: now.0,
            spin: now.1,
            acceleration: expected.center_acceleration(ragdoll.masses()),
            loads_n: expected.foot_loads_n,
        });
        let stands = config.standing_share(velocity, self.observe_steps(&from, &to));
        aim.led = Some(Led { from, to, velocity, spin, acceleration, expected, stands, height });
    }

    /// Velocity of the centre of mass of a target whose root goes as `velocity` says, smoothed as far as there is a past.
    pub(crate) fn led_velocity(&self, velocity: Vec3) -> Vec3 {
        self.controls.led.map_or(velocity, |(velocity, _)| velocity)
    }
}

impl World {
    /// How ragdoll `member` in the state `start`, whose feet stand as `stance` says, is led to the target `led`, of which the share
    /// `elapsed` of the frame is over.
    pub(crate) fn wanted_motion(
        &self,
        module: &DynamicModule,
        (member, start): (usize, &Motion),
        led: &Led,
        stance: [f32; 2],
        elapsed: f32,
    ) -> Wanted {
        let config = &module.config.balance;
        let ragdoll = &self.ragdolls[member];
        let standing = stance[0] + stance[1];
        let (nothing, all) = TELLING_STANCE;
        // Place of the centre of mass in the world, and over the feet that stand.
        let place = |pose: &GlobalPose| {
            let foot = |leg: usize| FEET[leg].map(|body| pose.positions[body] * (0.5 * stance[leg]));
            let feet: Vec3 = (0..2).flat_map(foot).sum();
            let center = ragdoll.center_of_mass(pose);
            (center, center - feet / standing.max(nothing))
        };
        let (from, to, now) = (place(&led.from), place(&led.to), place(&start.pose));
        let told = if standing > nothing { (standing / all).min(1.0) } else { 0.0 };
        let stands = told * led.stands;
        let by_feet = told * (config.by_feet + (1.0 - config.by_feet) * stands);
        let in_world = from.0.lerp(to.0, elapsed) - now.0;
        let over_feet = standing::over_feet(from.1.lerp(to.1, elapsed), led.velocity, stands) - now.1;
        let error = Vec3 { y: in_world.y, ..in_world.lerp(over_feet, by_feet) };
        let (velocity, spin, ahead) = led.motion(elapsed, module.frame_s());
        let slip = velocity - ragdoll.momentum(start) / ragdoll.total_mass();
        let horizontal = config.horizontal_rad_s + (config.standing_rad_s - config.horizontal_rad_s) * stands;
        let rate = Vec3::new(horizontal, config.vertical_rad_s, horizontal);
        let damping =
            Vec3::new(config.horizontal_damping, config.vertical_damping, config.horizontal_damping);
        let added = module.controls.reaction;
        let linear = rate * rate * error + 2.0 * damping * rate * slip + added.acceleration + ahead;
        let along = along_ground(linear).clamp_length_max(config.horizontal_most_m_s2);
        let up = match config.level_rad_s {
            0.0 => linear.y,
            _ => {
                let height = led.height.after(elapsed * module.frame_s());
                let slip = height.rate - ragdoll.momentum(start).y / ragdoll.total_mass();
                let rate = config.vertical_rad_s;
                let by_wave = height.acceleration
                    + rate * rate * (height.value - now.0.y)
                    + 2.0 * config.vertical_damping * rate * slip
                    + added.acceleration.y;
                linear.y + led.height.leads() * (by_wave - linear.y)
            }
        };
        let up = up.clamp(-config.vertical_most_m_s2, config.vertical_most_m_s2);
        let target = led.from.rotations[0].slerp(led.to.rotations[0], elapsed);
        let turn = log(target * start.local_rotations[0].inverse());
        let undisturbed = led.undisturbed(slip);
        let rate = config.pelvis_rad_s;
        let angular = rate * rate * turn
            + 2.0 * config.pelvis_damping * rate * (spin - start.angular[0])
            + added.angular;
        Wanted {
            linear: Vec3 { y: up, ..along },
            angular: angular.clamp_length_max(config.pelvis_most_rad_s2),
            force_cost: config.recovery_force_cost
                + f64::from(undisturbed) * (config.force_cost - config.recovery_force_cost),
        }
    }

    /// Sets torques in `plan` with which the feet of ragdoll `member` press on the ground so that the body moves as it did with the
    /// pelvis held: `held` is what that took for the motion `wanted`. The feet bear as far as `bears` says, and each point of a sole as far
    /// as it rests in the target `led`, of which the share `elapsed` of the frame is over.
    ///
    /// What the feet cannot give is left to a residual from outside, as far as the configuration allows one.
    pub(crate) fn balance(
        &self,
        module: &DynamicModule,
        (member, start): (usize, &Motion),
        (held, wanted): (&DriveOutcome, &Wanted),
        (led, elapsed): (&Led, f32),
        bears: [f32; 2],
        plan: &mut DrivePlan,
    ) {
        let config = &module.config.balance;
        let (h, mass_kg) = (f64::from(self.step_s()), module.config.mass_kg);
        let body = &self.bodies[member];
        let kinematics = body.kinematics();
        let center = kinematics.center_of_mass(body.model());
        let place = |contact: &Contact| contact.point - kinematics.root_position - center;
        let of_ground = self.contacts().iter().filter(|c| c.on.body == member && c.from.is_none());

        let pelvis = Wrench::at(-center, held.assist_force.as_dvec3());
        let mut moment = pelvis.moment + held.assist_torque.as_dvec3();
        let mut elsewhere = Wrench::default();
        let mut feet = vec![];
        for contact in of_ground {
            let given = Wrench::at(place(contact), contact.guess / h);
            moment += given.moment;
            match FEET.iter().position(|foot| foot.contains(&contact.on.link)) {
                Some(leg) if contact.distance < BEARS_WITHIN_M => {
                    let height =
                        led.height_of(contact, &start.pose, elapsed, &self.ground, config.footing_at_body);
                    feet.push((leg, contact, height));
                }
                _ => elsewhere = elsewhere + given,
            }
        }
        let lowest = |leg: usize| {
            let heights = feet.iter().filter(|(of, ..)| *of == leg).map(|(.., height)| *height);
            heights.fold(f32::INFINITY, f32::min)
        };
        let lowest = [0, 1].map(lowest);
        let bearing = |&(leg, contact, height): &(usize, &Contact, f32)| {
            let toes = if contact.on.link == FEET[leg][1] { config.toe_share } else { 1.0 };
            let share = toes * bears[leg] * config.rests(height - lowest[leg]);
            Bearing {
                point: place(contact),
                normal: contact.normal,
                friction: contact.friction * f64::from(config.friction_share),
                share: f64::from(share.max(LEAST_SHARE)),
            }
        };
        let bearings: Vec<Bearing> = feet.iter().map(bearing).collect();
        let force = self.force_for(mass_kg, wanted.linear).as_dvec3();
        let cost = wanted.force_cost;
        let wanted = Wrench { force, moment } - elsewhere;
        let forces = spread(&bearings, wanted, cost, config, f64::from(mass_kg));
        let more =
            feet.iter().zip(&forces).map(|((_, contact, _), force)| (*contact, *force - contact.guess / h));
        let ragdoll = &self.ragdolls[member];
        let torques = pressing_torques(body, more);
        let torques: Vec<Vec3> = (0..ragdoll.len())
            .map(|joint| start.pose.rotations[ragdoll.parent(joint)].inverse() * torques[1 + joint].as_vec3())
            .collect();

        let given = bearings.iter().zip(&forces).map(|(bearing, force)| Wrench::at(bearing.point, *force));
        let lacking = given.fold(wanted, |lacking, given| lacking - given);
        let weight = module.config.body_weight_n() * module.controls.assist_scale;
        let force = lacking.force.as_vec3().clamp_length_max(config.residual_force_bw * weight);
        let torque = (lacking.moment.as_vec3() + center.as_vec3().cross(force))
            .clamp_length_max(config.residual_torque_bw_m * weight);
        plan.balance_by(force, torque, &torques);
    }
}

/// The part of a vector that lies along the ground.
fn along_ground(vector: Vec3) -> Vec3 {
    Vec3 { y: 0.0, ..vector }
}

/// Torques of the joints, one for each block of the model, with which contacts of `body` are pressed on the ground by the forces
/// `pressed`, N, that the ground then gives back. Those of the root's blocks are 0: nothing is pressed from outside.
fn pressing_torques<'a>(body: &Body, pressed: impl Iterator<Item = (&'a Contact, DVec3)>) -> Vec<DVec3> {
    let (model, kinematics) = (body.model(), body.kinematics());
    let mut torques = vec![DVec3::ZERO; model.blocks()];
    for (contact, force) in pressed {
        let point = contact.point - kinematics.root_position;
        let pressing = ExternalForce { link: contact.on.link, point, force: -force };
        add_external(model, kinematics, &pressing, &mut torques);
    }
    torques[0] = DVec3::ZERO;
    torques[1] = DVec3::ZERO;
    torques
}
