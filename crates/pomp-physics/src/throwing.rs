//! Boxes in a world: how they enter, what becomes of them, and when they leave.

use crate::PhysicsError;
use crate::boxes::{BoxState, Boxes, Flying, ThrownBox};
use crate::contacts::Surface;
use crate::world::World;
use pomp_articulated::{Body, Link, Model, State};
use pomp_motion::glam::{DMat3, DVec3, Vec3};
use rapier3d::math::Pose as Placement;
use rapier3d::parry::query::intersection_test;
use rapier3d::prelude::{Cuboid, SharedShape};

/// A fast box is seen coming from this far, metres, so that it does not pass through an arm in one step.
const FAST_BOX_PREDICTION_M: f32 = 0.5;
/// A box this far below the pelvis has fallen off the ground, metres.
const FALLEN_OFF_M: f32 = 100.0;

impl World {
    /// Takes a box in; it begins to fly with the next frame. Gives its number.
    pub(crate) fn throw(&mut self, thrown: &ThrownBox) -> Result<u32, PhysicsError> {
        thrown.validate()?;
        let boxes = &self.boxes;
        let there = boxes.flying.len() + boxes.waiting.len();
        if there >= ThrownBox::MOST {
            return Err(PhysicsError::TooManyBoxes { most: ThrownBox::MOST });
        }
        if let Some((ragdoll, body)) = self.body_within(thrown) {
            return Err(PhysicsError::BoxInBody { ragdoll, body });
        }
        let boxes = &mut self.boxes;
        let number = boxes.thrown;
        boxes.thrown = boxes.thrown.wrapping_add(1);
        boxes.waiting.push((number, *thrown));
        Ok(number)
    }

    /// The first body that a box would begin in, after the index of its ragdoll.
    fn body_within(&self, thrown: &ThrownBox) -> Option<(usize, usize)> {
        let cuboid = Cuboid::new(thrown.size_m * 0.5);
        let at = Placement::from_parts(thrown.position, thrown.rotation.normalize());
        (0..self.ragdolls.len()).find_map(|i| {
            let pose = self.motion(i).pose;
            let body = self.surfaces[i].shapes.iter().enumerate().position(|(body, shape)| {
                let joint = Placement::from_parts(pose.positions[body], pose.rotations[body]);
                intersection_test(&at, &cuboid, &joint, &**shape).is_ok_and(|found| found.intersecting)
            })?;
            Some((i, body))
        })
    }

    /// Takes away what is old or far, and lets fly what waits.
    pub(crate) fn renew_boxes(&mut self, frame_s: f32) {
        if self.boxes.flying.is_empty() && self.boxes.waiting.is_empty() {
            return;
        }
        let members = self.ragdolls.len();
        let pelvis = |body: &Body| body.state().root_position.as_vec3();
        let pelvises: Vec<Vec3> = self.bodies[..members].iter().map(pelvis).collect();
        let most_frames = (ThrownBox::LIFETIME_S / frame_s) as u64;
        let before = std::mem::take(&mut self.boxes.flying);
        let states: Vec<State> = self.bodies[members..].iter().map(|body| body.state().clone()).collect();
        let stays = |flying: &Flying, state: &State| {
            let near = pelvises.iter().any(|pelvis| {
                let away = state.root_position.as_vec3() - pelvis;
                away.x.hypot(away.z) <= ThrownBox::REACH_M && away.y >= -FALLEN_OFF_M
            });
            near && self.frame.saturating_sub(flying.since) < most_frames
        };
        let mut kept: Vec<(Flying, State)> =
            before.iter().copied().zip(states).filter(|(flying, state)| stays(flying, state)).collect();
        kept.iter_mut().for_each(|(flying, state)| self.lay_on_ground(flying, state));
        let since = self.frame;
        let entering = std::mem::take(&mut self.boxes.waiting).into_iter().map(|(number, thrown)| {
            let ThrownBox { size_m, mass_kg, .. } = thrown;
            (Flying { number, size_m, mass_kg, since }, as_thrown(&thrown))
        });
        let same = kept.len() == before.len();
        kept.extend(entering);
        if same && kept.len() == before.len() {
            for (body, (_, state)) in self.bodies[members..].iter_mut().zip(&kept) {
                body.set_state(state.clone());
            }
        } else {
            self.forget_box_contacts();
            self.take_boxes_out();
            kept.iter().for_each(|(flying, state)| self.insert_box(flying, state.clone()));
        }
        self.boxes.flying = kept.into_iter().map(|(flying, _)| flying).collect();
    }

    /// Lays a box whose middle has got under the ground on it: the contacts are as soft as feet, so that a small fast box
    /// sinks through, and the ground may have been raised over a box.
    fn lay_on_ground(&self, flying: &Flying, state: &mut State) {
        let at = state.root_position.as_vec3();
        let Some(height) = self.ground.height(at.x, at.z) else { return };
        if at.y < height {
            state.root_position.y = f64::from(height + 0.5 * flying.size_m.min_element());
            state.velocity[0].y = state.velocity[0].y.max(0.0);
        }
    }

    /// Adds a box to the bodies.
    pub(crate) fn insert_box(&mut self, flying: &Flying, state: State) {
        let half = flying.size_m * 0.5;
        let square = (flying.size_m * flying.size_m).as_dvec3();
        let mass_kg = f64::from(flying.mass_kg);
        let inertia = DVec3::new(square.y + square.z, square.x + square.z, square.x + square.y);
        let link = Link {
            parent: None,
            offset: DVec3::ZERO,
            mass_kg,
            center: DVec3::ZERO,
            inertia: DMat3::from_diagonal(inertia * (mass_kg / 12.0)),
        };
        let model = Model::new(vec![link]).expect("a box in range has mass and size");
        self.bodies.push(Body::new(model, state));
        self.surfaces.push(Surface {
            shapes: vec![SharedShape::cuboid(half.x, half.y, half.z)],
            look_ahead_m: FAST_BOX_PREDICTION_M,
        });
    }

    fn take_boxes_out(&mut self) {
        self.bodies.truncate(self.ragdolls.len());
        self.surfaces.truncate(self.ragdolls.len());
    }

    /// Takes all boxes away that fly; those that wait still do.
    pub(crate) fn take_boxes_away(&mut self) {
        self.take_boxes_out();
        let Boxes { waiting, thrown, .. } = std::mem::take(&mut self.boxes);
        self.boxes = Boxes::waiting_again(waiting, thrown);
    }

    /// The boxes, as they were thrown; those that wait are where they begin.
    pub(crate) fn boxes(&self) -> Vec<BoxState> {
        let flying = self.boxes.flying.iter().map(|flying| (flying.number, flying.size_m, flying.mass_kg));
        let moving =
            flying.zip(&self.bodies[self.ragdolls.len()..]).map(|(of, body)| (of, body.state().clone()));
        let waiting = self.boxes.waiting.iter();
        let waiting =
            waiting.map(|(number, thrown)| ((*number, thrown.size_m, thrown.mass_kg), as_thrown(thrown)));
        let all = moving.chain(waiting).map(|((number, size_m, mass_kg), state)| BoxState {
            number,
            size_m,
            mass_kg,
            position: state.root_position.as_vec3(),
            rotation: state.rotations[0].as_quat(),
            velocity: state.velocity[0].as_vec3(),
            spin: state.velocity[1].as_vec3(),
        });
        all.collect()
    }
}

/// The state in which a box begins.
fn as_thrown(thrown: &ThrownBox) -> State {
    State {
        root_position: thrown.position.as_dvec3(),
        rotations: vec![thrown.rotation.as_dquat().normalize()],
        velocity: vec![thrown.velocity.as_dvec3(), thrown.spin.as_dvec3()],
    }
}
