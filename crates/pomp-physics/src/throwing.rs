//! Boxes in a world: how they enter, what becomes of them, and when they leave.

use crate::PhysicsError;
use crate::boxes::{BoxState, Flying, ThrownBox};
use crate::state::{BOX, BOXES};
use crate::world::World;
use pomp_motion::glam::Vec3;
use rapier3d::math::Pose as Placement;
use rapier3d::parry::query::intersection_test;
use rapier3d::prelude::{
    ColliderBuilder, Cuboid, Group, InteractionGroups, InteractionTestMode, RigidBodyBuilder,
};

/// A fast box is seen coming from this far, metres, so that it does not pass through an arm in one step.
const FAST_BOX_PREDICTION_M: f32 = 0.5;
/// A box this far below the pelvis has fallen off the ground, metres.
const FALLEN_OFF_M: f32 = 100.0;

impl World {
    /// Takes a box in; it begins to fly with the next frame. Gives its number.
    pub(crate) fn throw(&mut self, thrown: &ThrownBox) -> Result<u32, PhysicsError> {
        thrown.validate()?;
        let boxes = &self.state.boxes;
        let there = boxes.flying.len() + boxes.waiting.len();
        if there >= ThrownBox::MOST {
            return Err(PhysicsError::TooManyBoxes { most: ThrownBox::MOST });
        }
        if let Some((ragdoll, body)) = self.body_within(thrown) {
            return Err(PhysicsError::BoxInBody { ragdoll, body });
        }
        let boxes = &mut self.state.boxes;
        let number = boxes.thrown;
        boxes.thrown = boxes.thrown.wrapping_add(1);
        boxes.waiting.push((number, *thrown));
        Ok(number)
    }

    /// The first body that a box would begin in, after the index of its ragdoll.
    fn body_within(&self, thrown: &ThrownBox) -> Option<(usize, usize)> {
        let cuboid = Cuboid::new(thrown.size_m * 0.5);
        let at = Placement::from_parts(thrown.position, thrown.rotation.normalize());
        self.ragdolls.iter().enumerate().find_map(|(i, ragdoll)| {
            let pose = ragdoll.motion(&self.state).pose;
            let body = ragdoll.bodies(&self.state).position(|(body, collider)| {
                let joint = Placement::from_parts(pose.positions[body], pose.rotations[body]);
                let within = collider.position_wrt_parent().map_or(joint, |shape| joint * *shape);
                intersection_test(&at, &cuboid, &within, collider.shape())
                    .is_ok_and(|found| found.intersecting)
            })?;
            Some((i, body))
        })
    }

    /// Takes away what is old or far, and lets fly what waits.
    pub(crate) fn renew_boxes(&mut self, frame_s: f32) {
        if self.state.boxes.flying.is_empty() && self.state.boxes.waiting.is_empty() {
            return;
        }
        let pelvises: Vec<Vec3> =
            self.ragdolls.iter().map(|ragdoll| ragdoll.motion(&self.state).pose.positions[0]).collect();
        let friction = self.friction();
        let frame = self.state.frame;
        let most_frames = (ThrownBox::LIFETIME_S / frame_s) as u64;
        let mut kept = Vec::new();
        for flying in std::mem::take(&mut self.state.boxes.flying) {
            let body = self.state.bodies.get(flying.handle);
            let near = pelvises.iter().any(|pelvis| {
                let away = body.map_or(Vec3::INFINITY, |body| body.translation() - pelvis);
                away.x.hypot(away.z) <= ThrownBox::REACH_M && away.y >= -FALLEN_OFF_M
            });
            if near && frame.saturating_sub(flying.since) < most_frames {
                self.lay_on_ground(&flying);
                kept.push(flying);
            } else {
                self.remove_body(flying.handle);
            }
        }
        let s = &mut self.state;
        for (number, thrown) in std::mem::take(&mut s.boxes.waiting) {
            let body = RigidBodyBuilder::dynamic()
                .pose(Placement::from_parts(thrown.position, thrown.rotation.normalize()))
                .linvel(thrown.velocity)
                .angvel(thrown.spin)
                .can_sleep(false)
                .soft_ccd_prediction(FAST_BOX_PREDICTION_M);
            let handle = s.bodies.insert(body);
            let half = thrown.size_m * 0.5;
            let collider = ColliderBuilder::cuboid(half.x, half.y, half.z)
                .mass(thrown.mass_kg)
                .friction(friction)
                .collision_groups(InteractionGroups::new(BOXES, Group::ALL, InteractionTestMode::And))
                .user_data(BOX);
            s.colliders.insert_with_parent(collider, handle, &mut s.bodies);
            let ThrownBox { size_m, mass_kg, .. } = thrown;
            kept.push(Flying { number, handle, size_m, mass_kg, since: frame });
        }
        s.boxes.flying = kept;
    }

    /// Lays a box whose middle has got under the ground on it: the contacts are as soft as feet, so that a small fast box
    /// sinks through, and the ground may have been raised over a box.
    fn lay_on_ground(&mut self, flying: &Flying) {
        let Some(body) = self.state.bodies.get(flying.handle) else { return };
        let (at, velocity) = (body.translation(), body.linvel());
        let Some(height) = self.ground_height(at.x, at.z) else { return };
        if at.y < height {
            let body = &mut self.state.bodies[flying.handle];
            body.set_translation(Vec3::new(at.x, height + 0.5 * flying.size_m.min_element(), at.z), true);
            body.set_linvel(Vec3::new(velocity.x, velocity.y.max(0.0), velocity.z), true);
        }
    }

    /// The boxes, as they were thrown; those that wait are where they begin.
    pub(crate) fn boxes(&self) -> Vec<BoxState> {
        let boxes = &self.state.boxes;
        let flying = boxes.flying.iter().filter_map(|flying| {
            let body = self.state.bodies.get(flying.handle)?;
            Some(BoxState {
                number: flying.number,
                size_m: flying.size_m,
                mass_kg: flying.mass_kg,
                position: body.translation(),
                rotation: *body.rotation(),
                velocity: body.linvel(),
                spin: body.angvel(),
            })
        });
        let waiting = boxes.waiting.iter().map(|(number, thrown)| BoxState {
            number: *number,
            size_m: thrown.size_m,
            mass_kg: thrown.mass_kg,
            position: thrown.position,
            rotation: thrown.rotation,
            velocity: thrown.velocity,
            spin: thrown.spin,
        });
        flying.chain(waiting).collect()
    }
}
