use crate::body::Body as BodyParts;
use crate::boxes::Boxes;
use crate::contacts::{ContactFinder, ContactRules, Surface};
use crate::drive::DrivePlan;
use crate::ground::Ground;
use crate::motion::Motion;
use crate::ragdoll::Ragdoll;
use crate::state::{HeldContact, Pass, WorldState};
use crate::{ContactConfig, DynamicConfig, PhysicsError, PoseVelocity, Push};
use pomp_articulated::{Body, Contact, ContactSolver, Drive, ExternalForce, LinkOf, State, Sweeps};
use pomp_motion::glam::{DVec3, Vec3};
use pomp_motion::{PerJoint, Pose, Skeleton};
use smallvec::SmallVec;
use std::sync::Arc;

/// Where ragdolls are before the first reset: away from the ground, and none near another.
const WAITING: Vec3 = Vec3::new(0.0, 1000.0, 0.0);
const WAITING_APART: Vec3 = Vec3::new(10.0, 0.0, 0.0);

/// A contact begins with the impulse of one of the last step at most this far away, metres.
const HELD_WITHIN_M: f64 = 0.03;
/// Contacts are solved when a sweep changes no impulse by more than this share of the largest.
const SOLVED: f64 = 1e-4;

/// One value per ragdoll of a world; that of a ragdoll with a world of its own lies in place.
pub(crate) type PerMember<T> = SmallVec<[T; 1]>;

/// What one ragdoll is to be made of.
pub(crate) struct RagdollParts<'a> {
    pub(crate) skeleton: &'a Skeleton,
    pub(crate) config: &'a DynamicConfig,
    pub(crate) bodies: &'a [BodyParts],
}

/// Ragdolls, boxes and their ground.
pub(crate) struct World {
    pub(crate) ragdolls: Vec<Arc<Ragdoll>>,
    /// Those of the ragdolls, then those of the boxes that fly.
    pub(crate) bodies: Vec<Body>,
    pub(crate) surfaces: Vec<Surface>,
    pub(crate) boxes: Boxes,
    pub(crate) ground: Ground,
    pub(crate) frame: u64,
    held: Vec<HeldContact>,
    /// Of the Earth, m/s².
    gravity_at_rest: Vec3,
    /// In the frame of the ground, which may accelerate.
    gravity: Vec3,
    step_s: f32,
    pub(crate) friction: f32,
    contact: ContactConfig,
    sweeps: Sweeps,
    finder: ContactFinder,
    solver: ContactSolver,
    contacts: Vec<Contact>,
    /// Of each contact, in each pass.
    guesses: Vec<[DVec3; 2]>,
    drives: Vec<Drive>,
    forces: Vec<ExternalForce>,
}

/// Contact impulses on the bodies of one ragdoll, N·s, world.
#[derive(Clone, Debug)]
pub(crate) struct ContactImpulses {
    pub(crate) from_ground: PerJoint<Vec3>,
    /// Points of the contacts with the ground, each times its vertical impulse, N·s·m.
    pub(crate) ground_points: PerJoint<Vec3>,
    /// Those impulses, N·s: of contacts that push up.
    pub(crate) ground_weights: PerJoint<f32>,
    pub(crate) from_boxes: PerJoint<Vec3>,
    pub(crate) from_characters: PerJoint<Vec3>,
}

impl ContactImpulses {
    pub(crate) fn none(bodies: usize) -> Self {
        let none = PerJoint::from_elem(Vec3::ZERO, bodies);
        Self {
            from_ground: none.clone(),
            ground_points: none.clone(),
            ground_weights: PerJoint::from_elem(0.0, bodies),
            from_boxes: none.clone(),
            from_characters: none,
        }
    }

    /// Where the ground pushed each body: the mean of its contact points by their vertical impulses, or its joint.
    pub(crate) fn points(&self, joints: &[Vec3]) -> PerJoint<Vec3> {
        let sums = self.ground_points.iter().zip(&self.ground_weights);
        sums.zip(joints)
            .map(|((sum, weight), joint)| if *weight > 0.0 { *sum / *weight } else { *joint })
            .collect()
    }
}

impl World {
    /// Ragdolls on a ground, out of its reach until they are reset; settings of the world are those of the first.
    pub(crate) fn new(parts: &[RagdollParts<'_>], ground: Ground) -> Result<Self, PhysicsError> {
        let config = parts.first().expect("a world has a ragdoll").config;
        let ragdolls = parts
            .iter()
            .map(|part| Ragdoll::new(part.skeleton, part.config, part.bodies).map(Arc::new))
            .collect::<Result<Vec<_>, _>>()?;
        let at_rest = |(member, (ragdoll, part)): (usize, (&Arc<Ragdoll>, &RagdollParts<'_>))| {
            let mut rest = Pose::rest(part.skeleton);
            rest.root_position += WAITING + WAITING_APART * member as f32;
            let state = ragdoll.state(&rest, &PoseVelocity::zero(ragdoll.len()));
            Body::new(ragdoll.model().clone(), state)
        };
        Ok(Self {
            bodies: ragdolls.iter().zip(parts).enumerate().map(at_rest).collect(),
            surfaces: ragdolls.iter().map(|ragdoll| ragdoll.surface().clone()).collect(),
            ragdolls,
            boxes: Boxes::default(),
            ground,
            frame: 0,
            held: Vec::new(),
            gravity_at_rest: Vec3::NEG_Y * config.gravity_m_s2,
            gravity: Vec3::NEG_Y * config.gravity_m_s2,
            step_s: 1.0 / (config.frame_rate_hz * config.steps_per_frame as f32),
            friction: config.friction,
            contact: config.contact,
            sweeps: Sweeps { most: config.contact_sweeps, tolerance: SOLVED },
            finder: ContactFinder::default(),
            solver: ContactSolver::default(),
            contacts: Vec::new(),
            guesses: Vec::new(),
            drives: Vec::new(),
            forces: Vec::new(),
        })
    }

    /// The contacts of the step under way; once it has been solved, with their impulses as guesses.
    pub(crate) fn contacts(&self) -> &[Contact] {
        &self.contacts
    }

    /// Length of a step, seconds.
    pub(crate) fn step_s(&self) -> f32 {
        self.step_s
    }

    /// What a continuation of a ragdoll without the others depends on.
    pub(crate) fn save(&self, member: usize) -> WorldState {
        let members = self.ragdolls.len();
        // The only ragdoll comes first, then the boxes.
        let alone = |of: LinkOf| match of.body {
            body if body == member => Some(LinkOf { body: 0, ..of }),
            body if body < members => None,
            body => Some(LinkOf { body: body + 1 - members, ..of }),
        };
        let held = self.held.iter().filter_map(|held| {
            let from = match held.from {
                Some(from) => Some(alone(from)?),
                None => None,
            };
            Some(HeldContact { on: alone(held.on)?, from, ..*held })
        });
        WorldState {
            ragdoll: self.bodies[member].state().clone(),
            boxes: self.boxes.clone(),
            flying: self.bodies[members..].iter().map(|body| body.state().clone()).collect(),
            held: held.collect(),
            frame: self.frame,
            ground: self.ground.clone(),
        }
    }

    /// Continues from a state that [fits](Self::fits), in a world of one ragdoll; its ground stays, also after a reset.
    pub(crate) fn restore(&mut self, state: WorldState) {
        self.take_boxes_away();
        self.bodies[0].set_state(state.ragdoll);
        for (flying, state) in state.boxes.flying.iter().zip(state.flying) {
            self.insert_box(flying, state);
        }
        self.boxes = state.boxes;
        self.held = state.held;
        self.frame = state.frame;
        self.ground = state.ground;
    }

    /// Whether a state has the bodies of this world of one ragdoll.
    pub(crate) fn fits(&self, state: &WorldState) -> bool {
        let is_of =
            |state: &State, links: usize| state.rotations.len() == links && state.velocity.len() == links + 1;
        let exists = |of: LinkOf| match self.ragdolls.get(of.body) {
            Some(ragdoll) => of.link < ragdoll.len(),
            None => of.link == 0 && of.body - self.ragdolls.len() < state.flying.len(),
        };
        is_of(&state.ragdoll, self.ragdolls[0].len())
            && state.flying.len() == state.boxes.flying.len()
            && state.flying.iter().all(|state| is_of(state, 1))
            && state.held.iter().all(|held| exists(held.on) && held.from.is_none_or(exists))
    }

    /// Puts all ragdolls in poses with velocities, in a world without memory of what was before; boxes that wait to be thrown
    /// still do.
    pub(crate) fn reset(&mut self, poses: &[(Pose, PoseVelocity)]) {
        self.take_boxes_away();
        self.held.clear();
        self.frame = 0;
        for (member, (pose, velocities)) in poses.iter().enumerate() {
            self.place(member, pose, velocities);
        }
    }

    /// Puts one of several ragdolls in a pose with velocities; all else goes on.
    pub(crate) fn reset_one(&mut self, member: usize, pose: &Pose, velocities: &PoseVelocity) {
        self.held.retain(|held| held.on.body != member && held.from.is_none_or(|from| from.body != member));
        self.place(member, pose, velocities);
    }

    fn place(&mut self, member: usize, pose: &Pose, velocities: &PoseVelocity) {
        let state = self.ragdolls[member].state(pose, velocities);
        self.bodies[member].set_state(state);
    }

    /// Pose and velocities of a ragdoll.
    pub(crate) fn motion(&self, member: usize) -> Motion {
        let body = &self.bodies[member];
        self.ragdolls[member].motion(body.state(), body.kinematics())
    }

    /// Force besides gravity that gives a body of `mass_kg` an acceleration, N.
    pub(crate) fn force_for(&self, mass_kg: f32, acceleration: Vec3) -> Vec3 {
        (acceleration - self.gravity) * mass_kg
    }

    /// Begins a step: masses and contacts of the present state, and for every ragdoll its pushes, impulses of which act over
    /// `duration_s`.
    pub(crate) fn begin_step<'a>(&mut self, pushes: impl Iterator<Item = &'a [Push]>, duration_s: f32) {
        let (h, gravity) = (f64::from(self.step_s), self.gravity.as_dvec3());
        for ((ragdoll, body), pushes) in self.ragdolls.iter().zip(&mut self.bodies).zip(pushes) {
            self.forces.clear();
            let kinematics = body.kinematics();
            self.forces.extend(pushes.iter().map(|push| ragdoll.force(kinematics, push, duration_s)));
            body.begin_step(h, gravity, &self.forces);
        }
        for body in &mut self.bodies[self.ragdolls.len()..] {
            body.begin_step(h, gravity, &[]);
        }
        let rules = ContactRules { config: &self.contact, friction: self.friction, step_s: self.step_s };
        self.finder.find(&rules, &self.ground, &self.bodies, &self.surfaces, &mut self.contacts);
        let held = &mut self.held;
        self.guesses.clear();
        self.guesses.extend(self.contacts.iter().map(|contact| guesses(contact, held)));
    }

    /// Solves the step that was begun with the springs of `plans` and the motions from which it begins; changes no state, so that it
    /// may be solved again with others.
    pub(crate) fn solve_step(&mut self, plans: &[DrivePlan], starts: &[Motion], pass: Pass) {
        let Self { ragdolls, bodies, drives, solver, contacts, guesses, held, .. } = self;
        let h = f64::from(self.step_s);
        let members = ragdolls.iter().zip(plans.iter().zip(starts)).zip(bodies.iter_mut());
        for ((ragdoll, (plan, start)), body) in members {
            plan.drives(self.step_s, ragdoll, start, drives);
            body.drive(h, drives);
        }
        for body in &mut bodies[ragdolls.len()..] {
            body.drive(h, &[Drive::NONE; 2]);
        }
        for (contact, guesses) in contacts.iter_mut().zip(&*guesses) {
            contact.guess = guesses[pass as usize];
        }
        let impulses = solver.resolve(bodies, contacts, h, self.sweeps);
        held.clear();
        for ((contact, guesses), impulse) in contacts.iter_mut().zip(guesses).zip(impulses) {
            contact.guess = *impulse;
            guesses[pass as usize] = *impulse;
            let Contact { on, from, point, .. } = *contact;
            held.push(HeldContact { on, from, point, impulses: *guesses });
        }
    }

    /// Velocity of a ragdoll's root at the end of the step that was solved, m/s, and angular velocities of its joints in their
    /// parents' frames.
    pub(crate) fn solved_velocity(&self, member: usize) -> (Vec3, PerJoint<Vec3>) {
        let body = &self.bodies[member];
        let velocity = body.next_velocity();
        (velocity[0].as_vec3(), self.ragdolls[member].relative(body.kinematics(), velocity))
    }

    /// Moves on by the step that was solved.
    pub(crate) fn finish_step(&mut self) {
        let h = f64::from(self.step_s);
        self.bodies.iter_mut().for_each(|body| body.finish_step(h));
    }

    /// The contact impulses of the last step, ragdoll by ragdoll.
    pub(crate) fn contact_impulses(&self) -> PerMember<ContactImpulses> {
        let members = self.ragdolls.len();
        let mut found: PerMember<_> =
            self.ragdolls.iter().map(|ragdoll| ContactImpulses::none(ragdoll.len())).collect();
        for HeldContact { on, from, point, impulses } in &self.held {
            let impulse = impulses[Pass::Real as usize];
            let sides = [(Some(*on), *from, impulse), (*from, Some(*on), -impulse)];
            for (own, other, impulse) in sides {
                let Some(own) = own.filter(|own| own.body < members) else { continue };
                let on = &mut found[own.body];
                let sums = match other {
                    None => &mut on.from_ground,
                    Some(other) if other.body < members => &mut on.from_characters,
                    Some(_) => &mut on.from_boxes,
                };
                sums[own.link] += impulse.as_vec3();
                if other.is_none() {
                    let weight = impulse.y.max(0.0);
                    on.ground_points[own.link] += (*point * weight).as_vec3();
                    on.ground_weights[own.link] += weight as f32;
                }
            }
        }
        found
    }

    /// Another ground, from the next frame on.
    pub(crate) fn set_ground(&mut self, ground: Ground) {
        self.ground = ground;
    }

    /// Lets the ground accelerate from now on, m/s².
    pub(crate) fn accelerate_ground(&mut self, acceleration: Vec3) {
        self.gravity = self.gravity_at_rest - acceleration;
    }

    /// Counts a frame; lets boxes come and go.
    pub(crate) fn begin_frame(&mut self, frame_s: f32) {
        self.frame += 1;
        self.renew_boxes(frame_s);
    }

    /// Forgets contacts with boxes, whose places among the bodies change.
    pub(crate) fn forget_box_contacts(&mut self) {
        let members = self.ragdolls.len();
        self.held.retain(|held| held.on.body < members && held.from.is_none_or(|from| from.body < members));
    }
}

/// The impulses of the nearest contact of the last step between the same links, which is then used up.
fn guesses(contact: &Contact, held: &mut Vec<HeldContact>) -> [DVec3; 2] {
    let same = |held: &HeldContact| (held.on, held.from) == (contact.on, contact.from);
    let away = |held: &HeldContact| held.point.distance_squared(contact.point);
    let near = held.iter().enumerate().filter(|(_, h)| same(h) && away(h) < HELD_WITHIN_M * HELD_WITHIN_M);
    match near.min_by(|a, b| away(a.1).total_cmp(&away(b.1))) {
        Some((index, _)) => held.remove(index).impulses,
        None => [DVec3::ZERO; 2],
    }
}
