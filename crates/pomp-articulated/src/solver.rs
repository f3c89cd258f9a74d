use crate::contact::{NormalLaw, frame};
use crate::kinematics::cross_matrix;
use crate::{Body, Contact, LinkOf};
use glam::{DMat3, DVec2, DVec3};
use std::ops::Range;

/// Solves contacts by projected Gauss–Seidel over their points, in the factored velocities of the bodies, so that a sweep costs
/// time in proportion to contacts and depth of links.
#[derive(Clone, Debug, Default)]
pub struct ContactSolver {
    rows: Vec<Row>,
    /// L⁻ᵀ Jᵀ in the frame of each contact, blocks of one side after the other.
    projected: Vec<DMat3>,
    /// D⁻¹ L⁻ᵀ Jᵀ.
    scaled: Vec<DMat3>,
    impulses: Vec<DVec3>,
}

#[derive(Clone, Debug)]
struct Row {
    on: (LinkOf, Range<usize>),
    from: Option<(LinkOf, Range<usize>)>,
    frame: DMat3,
    /// Change of the velocity of the contact by a unit impulse in it.
    response: DMat3,
    /// Impulse for a unit of sliding velocity. A number, not the inverse of a matrix: only so does the friction of a contact
    /// that slides point against its velocity.
    tangential: f64,
    law: NormalLaw,
    friction: f64,
    /// In the frame of the contact.
    impulse: DVec3,
}

/// How [`ContactSolver::resolve`] iterates.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sweeps {
    /// Most sweeps over the contacts.
    pub most: usize,
    /// Ends when a sweep changes no impulse by more than this share of the largest.
    pub tolerance: f64,
}

impl ContactSolver {
    /// Impulses of `contacts` over a step of length `h` of `bodies`, each of which has been driven; gives them on
    /// [`Contact::on`], N·s, world, and lets the bodies' velocities at the end of the step answer.
    pub fn resolve(&mut self, bodies: &mut [Body], contacts: &[Contact], h: f64, sweeps: Sweeps) -> &[DVec3] {
        self.assemble(bodies, contacts, h);
        for row in 0..self.rows.len() {
            self.apply(bodies, row, self.rows[row].impulse);
        }
        for _ in 0..sweeps.most {
            let (mut change, mut largest) = (0.0f64, 0.0f64);
            for index in 0..self.rows.len() {
                let velocity = self.velocity(bodies, index);
                let row = &mut self.rows[index];
                let next = row.relaxed(velocity);
                let difference = next - row.impulse;
                row.impulse = next;
                change = change.max(difference.abs().max_element());
                largest = largest.max(next.abs().max_element());
                self.apply(bodies, index, difference);
            }
            if change <= sweeps.tolerance * largest {
                break;
            }
        }
        if !self.rows.is_empty() {
            bodies.iter_mut().for_each(Body::take_factored_velocity);
        }
        self.impulses.clear();
        self.impulses.extend(self.rows.iter().map(|row| row.frame * row.impulse));
        &self.impulses
    }

    fn assemble(&mut self, bodies: &[Body], contacts: &[Contact], h: f64) {
        self.rows.clear();
        self.projected.clear();
        self.scaled.clear();
        for contact in contacts {
            let frame = frame(contact.normal);
            let on = (contact.on, self.project(bodies, contact.on, contact.point, frame));
            let from = contact.from.map(|from| (from, self.project(bodies, from, contact.point, -frame)));
            let mut response = DMat3::ZERO;
            for (_, range) in std::iter::once(&on).chain(&from) {
                for k in range.clone() {
                    response += self.projected[k].transpose() * self.scaled[k];
                }
            }
            let (first, second, mixed) = (response.y_axis.y, response.z_axis.z, response.y_axis.z);
            let largest = 0.5 * (first + second) + (0.5 * (first - second)).hypot(mixed);
            let guess = frame.transpose() * contact.guess;
            self.rows.push(Row {
                on,
                from,
                frame,
                response,
                tangential: 1.0 / largest,
                law: NormalLaw::of(contact, h),
                friction: contact.friction,
                impulse: within_cone(guess.x.max(0.0), DVec2::new(guess.y, guess.z), contact.friction),
            });
        }
    }

    /// Appends the blocks of one side of a contact with `directions` as columns.
    fn project(&mut self, bodies: &[Body], side: LinkOf, point: DVec3, directions: DMat3) -> Range<usize> {
        let body = &bodies[side.body];
        let (model, kinematics) = (body.model(), body.kinematics());
        let point = point - kinematics.root_position;
        let begin = self.projected.len();
        let block = 1 + side.link;
        let mut link = Some(side.link);
        while let Some(i) = link {
            self.projected.push(cross_matrix(point - kinematics.origins[i]) * directions);
            link = model.links()[i].parent;
        }
        self.projected.push(directions);
        let end = self.projected.len();
        self.scaled.resize(end, DMat3::ZERO);
        body.factors().project(model, block, &mut self.projected[begin..end], &mut self.scaled[begin..end]);
        begin..end
    }

    /// Velocity of a contact in its frame.
    fn velocity(&self, bodies: &[Body], index: usize) -> DVec3 {
        let row = &self.rows[index];
        let of_side = |(side, range): &(LinkOf, Range<usize>)| -> DVec3 {
            let body = &bodies[side.body];
            let velocity = body.factored_velocity();
            let block = 1 + side.link;
            let blocks = &self.projected[range.clone()];
            let outward = blocks[0].transpose() * velocity[block];
            let ancestors = body.model().ancestors(block).iter().zip(&blocks[1..]);
            ancestors.fold(outward, |sum, (ancestor, m)| sum + m.transpose() * velocity[*ancestor])
        };
        of_side(&row.on) + row.from.as_ref().map_or(DVec3::ZERO, of_side)
    }

    fn apply(&self, bodies: &mut [Body], index: usize, impulse: DVec3) {
        let row = &self.rows[index];
        for (side, range) in std::iter::once(&row.on).chain(&row.from) {
            let block = 1 + side.link;
            for (k, m) in self.scaled[range.clone()].iter().enumerate() {
                let body = &mut bodies[side.body];
                let at = if k == 0 { block } else { body.model().ancestors(block)[k - 1] };
                body.factored_velocity_mut()[at] += *m * impulse;
            }
        }
    }
}

impl Row {
    /// The impulse that this contact alone would take, normal before friction.
    fn relaxed(&self, velocity: DVec3) -> DVec3 {
        let NormalLaw { softness, bias } = self.law;
        let lacking = velocity.x + bias + softness * self.impulse.x;
        let normal = (self.impulse.x - lacking / (self.response.x_axis.x + softness)).max(0.0);
        let change = normal - self.impulse.x;
        let sliding = DVec2::new(velocity.y, velocity.z)
            + DVec2::new(self.response.x_axis.y, self.response.x_axis.z) * change;
        let friction = DVec2::new(self.impulse.y, self.impulse.z) - sliding * self.tangential;
        within_cone(normal, friction, self.friction)
    }
}

/// Normal and friction impulse with the friction within its cone.
fn within_cone(normal: f64, friction: DVec2, coefficient: f64) -> DVec3 {
    let friction = friction.clamp_length_max(coefficient * normal);
    DVec3::new(normal, friction.x, friction.y)
}
