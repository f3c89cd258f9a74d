//! Where the links of a world meet the ground and each other. Rapier's collision detection (parry) finds the points of each pair
//! from the present poses alone; nothing of one step is kept for the next.

use crate::ContactConfig;
use crate::ground::Ground;
use pomp_articulated::{Body, Compliance, Contact, LinkOf};
use pomp_motion::glam::{DVec3, Vec3};
use rapier3d::math::Pose as Placement;
use rapier3d::parry::bounding_volume::{Aabb, BoundingVolume};
use rapier3d::parry::query::{ContactManifold, DefaultQueryDispatcher, PersistentQueryDispatcher};
use rapier3d::parry::shape::{HeightField, PolygonalFeature, PolygonalFeatureMap, Shape, Triangle};
use rapier3d::prelude::SharedShape;
use std::f64::consts::TAU;

/// Most points of a pair.
const MOST_POINTS: usize = 4;
/// Points of a pair that are nearer than this are one, metres.
const ONE_POINT_M: f32 = 0.003;
/// Distance that counts as much as opposite normals between two points of a pair, metres.
const TURNED_POINT_M: f32 = 0.05;
/// Faces whose normals differ by less, and that are nearer to each other's planes than this, metres, are one plane.
const ONE_PLANE: f32 = 1e-4;
/// Largest speed at which overlap is pushed out, m/s: a limb that a blow has driven into a wall is not thrown out of it.
const MOST_CORRECTION_M_S: f64 = 1.0;

/// What a body of the world is made of, besides its dynamics.
#[derive(Clone)]
pub(crate) struct Surface {
    /// Shapes of its links, each in the frame of the link.
    pub(crate) shapes: Vec<SharedShape>,
    /// How far its fast links look ahead, metres.
    pub(crate) look_ahead_m: f32,
}

/// A link where it is now.
struct Part {
    of: LinkOf,
    place: Placement,
    bounds: Aabb,
    /// Of its centre of mass, m/s.
    velocity: Vec3,
    /// Way of that in a step, as far as its body looks ahead, metres.
    reach_m: f32,
}

/// A point of a pair before the choice.
#[derive(Clone, Copy)]
struct Point {
    at: Vec3,
    normal: Vec3,
    distance: f32,
}

/// Laws and step length that contacts are made for.
pub(crate) struct ContactRules<'a> {
    pub(crate) config: &'a ContactConfig,
    pub(crate) friction: f32,
    pub(crate) step_s: f32,
}

/// Finds contacts; keeps its memory between steps.
#[derive(Default)]
pub(crate) struct ContactFinder {
    parts: Vec<Part>,
    bounds: Vec<Option<Aabb>>,
    manifold: ContactManifold<(), ()>,
    points: Vec<Point>,
}

impl ContactFinder {
    /// The contacts of `bodies` with the ground and each other, into `contacts`, in an order that depends on the bodies alone.
    pub(crate) fn find(
        &mut self,
        rules: &ContactRules<'_>,
        ground: &Ground,
        bodies: &[Body],
        surfaces: &[Surface],
        contacts: &mut Vec<Contact>,
    ) {
        contacts.clear();
        self.place(rules, bodies, surfaces);
        let mass = |of: LinkOf| bodies[of.body].model().mass_kg();
        for part in 0..self.parts.len() {
            let on = self.parts[part].of;
            self.meet_ground(rules, ground, part, &surfaces[on.body].shapes[on.link]);
            self.take_points(rules, (on, None), mass(on), contacts);
        }
        for first in 0..bodies.len() {
            for second in first + 1..bodies.len() {
                let near = match (&self.bounds[first], &self.bounds[second]) {
                    (Some(a), Some(b)) => a.intersects(b),
                    _ => false,
                };
                if near {
                    let reduced = 1.0
                        / (1.0 / bodies[first].model().mass_kg() + 1.0 / bodies[second].model().mass_kg());
                    self.meet_each_other(rules, (first, second), surfaces, reduced, contacts);
                }
            }
        }
    }

    /// Where all links are; bounds as wide as they look ahead.
    fn place(&mut self, rules: &ContactRules<'_>, bodies: &[Body], surfaces: &[Surface]) {
        self.parts.clear();
        self.bounds.clear();
        for (body, (dynamics, surface)) in bodies.iter().zip(surfaces).enumerate() {
            let kinematics = dynamics.kinematics();
            let mut whole: Option<Aabb> = None;
            for (link, shape) in surface.shapes.iter().enumerate() {
                let origin = (kinematics.root_position + kinematics.origins[link]).as_vec3();
                let place = Placement::from_parts(origin, kinematics.rotations[link].as_quat());
                let velocity = kinematics.velocity_at(link, kinematics.centers[link]).as_vec3();
                let reach_m = (velocity.length() * rules.step_s).min(surface.look_ahead_m);
                let bounds = shape.compute_aabb(&place).loosened(rules.config.prediction_m + reach_m);
                match &mut whole {
                    Some(whole) => whole.merge(&bounds),
                    None => whole = Some(bounds),
                }
                self.parts.push(Part { of: LinkOf { body, link }, place, bounds, velocity, reach_m });
            }
            self.bounds.push(whole);
        }
    }

    /// Finds where a link meets the ground: a plane where all faces below it lie in one, else the faces one by one.
    fn meet_ground(&mut self, rules: &ContactRules<'_>, ground: &Ground, part: usize, shape: &SharedShape) {
        let Self { parts, manifold, points, .. } = self;
        let part = &parts[part];
        let field = ground.field();
        let offset = ground.position().translation;
        let local = Placement::from_parts(part.place.translation - offset, part.place.rotation);
        let bounds = Aabb::new(part.bounds.mins - offset, part.bounds.maxs - offset);
        if !field.root_aabb().intersects(&bounds) {
            return;
        }
        let prediction = rules.config.prediction_m + part.reach_m;
        let take = |points: &mut Vec<Point>, manifold: &ContactManifold<(), ()>, of_face: Vec3| {
            let normal = if is_direction(manifold.local_n1) { manifold.local_n1 } else { of_face };
            points.extend(manifold.points.iter().map(|contact| Point {
                at: 0.5 * (contact.local_p1 + local * contact.local_p2)
                    + (part.place.translation - local.translation),
                normal,
                distance: contact.dist,
            }));
        };
        match (plane_below(field, &bounds), shape.as_polygonal_feature_map()) {
            (Below::Nothing, _) => return,
            (Below::Plane { normal, point }, Some(solid)) => {
                let from_plane = Placement::from_parts(local.translation - point, local.rotation);
                let world = part.place.translation - from_plane.translation;
                meet_plane(normal, &from_plane, solid, prediction, |at, distance| {
                    points.push(Point { at: at + world, normal, distance });
                });
            }
            _ => field.map_elements_in_local_aabb(&bounds, &mut |index: u32, face: &Triangle| {
                let of_face = face.normal().unwrap_or(Vec3::Y);
                begin(manifold, of_face);
                let constraints = field.triangle_normal_constraints(index);
                let constraints = constraints.as_ref().map(|c| c as &_);
                let met = DefaultQueryDispatcher.contact_manifold_convex_convex(
                    &local,
                    face,
                    &**shape,
                    constraints,
                    None,
                    prediction,
                    manifold,
                );
                // Every shape of a link is convex, and meets a triangle.
                debug_assert!(met.is_ok());
                take(points, manifold, of_face);
            }),
        }
        let velocity = part.velocity;
        points.retain(|point| is_near(rules, point, velocity));
    }

    fn meet_each_other(
        &mut self,
        rules: &ContactRules<'_>,
        (first, second): (usize, usize),
        surfaces: &[Surface],
        mass_kg: f64,
        contacts: &mut Vec<Contact>,
    ) {
        let range = |of: usize, parts: &[Part]| {
            let begin = parts.partition_point(|part| part.of.body < of);
            begin..begin + surfaces[of].shapes.len()
        };
        for on in range(first, &self.parts) {
            for from in range(second, &self.parts) {
                let (a, b) = (&self.parts[on], &self.parts[from]);
                if !a.bounds.intersects(&b.bounds) {
                    continue;
                }
                let shape = |part: &Part| -> &dyn Shape { &*surfaces[part.of.body].shapes[part.of.link].0 };
                let between = a.place.inverse() * b.place;
                let prediction = rules.config.prediction_m + a.reach_m + b.reach_m;
                begin(&mut self.manifold, between.translation);
                let met = DefaultQueryDispatcher.contact_manifold_convex_convex(
                    &between,
                    shape(a),
                    shape(b),
                    None,
                    None,
                    prediction,
                    &mut self.manifold,
                );
                debug_assert!(met.is_ok());
                let normal = -(a.place.rotation * self.manifold.local_n1);
                let velocity = a.velocity - b.velocity;
                for contact in &self.manifold.points {
                    let at = 0.5 * (a.place * contact.local_p1 + b.place * contact.local_p2);
                    let point = Point { at, normal, distance: contact.dist };
                    if is_near(rules, &point, velocity) {
                        self.points.push(point);
                    }
                }
                let pair = (a.of, Some(b.of));
                self.take_points(rules, pair, mass_kg, contacts);
            }
        }
    }

    /// Makes contacts of a choice of the points found, and forgets the points. The spring of a pair is that of a mass of `mass_kg`;
    /// its touching points share it.
    fn take_points(
        &mut self,
        rules: &ContactRules<'_>,
        (on, from): (LinkOf, Option<LinkOf>),
        mass_kg: f64,
        contacts: &mut Vec<Contact>,
    ) {
        if self.points.is_empty() {
            return;
        }
        let chosen = spread(&mut self.points);
        let touching = chosen.iter().filter(|point| point.distance <= 0.0).count().max(1) as f64;
        let rate = TAU * f64::from(rules.config.frequency_hz);
        let share = mass_kg * rate / touching;
        let compliance = Compliance {
            stiffness_n_m: share * rate,
            damping_n_s_m: 2.0 * f64::from(rules.config.damping_ratio) * share,
            most_correction_m_s: MOST_CORRECTION_M_S,
        };
        contacts.extend(chosen.iter().map(|point| Contact {
            on,
            from,
            point: point.at.as_dvec3(),
            normal: point.normal.as_dvec3().normalize(),
            distance: f64::from(point.distance),
            friction: f64::from(rules.friction),
            compliance,
            guess: DVec3::ZERO,
        }));
        self.points.clear();
    }
}

/// Where a solid with edges rounded by a radius, placed at `local` before the plane through the origin with `normal`, is nearer to
/// it than `prediction`, metres: `take` gets the point between them, in the frame of the plane, and the distance. It is parry's query
/// of a half-space, which asks for memory in every call.
fn meet_plane(
    normal: Vec3,
    local: &Placement,
    (solid, radius): (&dyn PolygonalFeatureMap, f32),
    prediction: f32,
    mut take: impl FnMut(Vec3, f32),
) {
    let normal_of_solid = local.rotation.inverse() * normal;
    let mut nearest = PolygonalFeature::default();
    solid.local_support_feature(-normal_of_solid, &mut nearest);
    for vertex in &nearest.vertices[..nearest.num_vertices] {
        let above = local * *vertex;
        let height = above.dot(normal);
        if height - radius <= prediction {
            let (on_plane, on_solid) =
                (above - normal * height, local * (*vertex - normal_of_solid * radius));
            take(0.5 * (on_plane + on_solid), height - radius);
        }
    }
}

/// What a height field has in a box.
enum Below {
    Nothing,
    /// Faces in one plane, which reaches beyond the box on all sides.
    Plane {
        normal: Vec3,
        point: Vec3,
    },
    Faces,
}

fn plane_below(field: &HeightField, bounds: &Aabb) -> Below {
    let all = field.root_aabb();
    let inside = all.mins.x <= bounds.mins.x
        && all.mins.z <= bounds.mins.z
        && bounds.maxs.x <= all.maxs.x
        && bounds.maxs.z <= all.maxs.z;
    let mut below = Below::Nothing;
    field.map_elements_in_local_aabb(bounds, &mut |_, face: &Triangle| {
        let Some(of_face) = face.normal() else { return };
        below = match below {
            Below::Nothing if inside => Below::Plane { normal: of_face, point: face.a },
            Below::Plane { normal, point }
                if normal.distance_squared(of_face) < ONE_PLANE * ONE_PLANE
                    && normal.dot(face.a - point).abs() < ONE_PLANE =>
            {
                Below::Plane { normal, point }
            }
            _ => Below::Faces,
        };
    });
    below
}

/// Empties a manifold; the search for its points begins in `direction`, in the frame of the first shape.
fn begin(manifold: &mut ContactManifold<(), ()>, direction: Vec3) {
    manifold.clear();
    manifold.local_n1 = direction;
    manifold.local_n2 = Vec3::ZERO;
}

/// Whether a vector can be a normal: where two shapes touch exactly, the query of the distance knows no direction and gives 0.
fn is_direction(normal: Vec3) -> bool {
    normal.length_squared() > 0.5
}

/// Whether a point is closer than the configured distance, or will be at the end of the step.
fn is_near(rules: &ContactRules<'_>, point: &Point, velocity: Vec3) -> bool {
    let closing = -velocity.dot(point.normal) * rules.step_s;
    is_direction(point.normal) && point.distance - closing.max(0.0) <= rules.config.prediction_m
}

/// The deepest point and those farthest from the ones chosen before, moved to the front.
fn spread(points: &mut [Point]) -> &[Point] {
    let mut count = 0;
    while count < MOST_POINTS.min(points.len()) {
        let (chosen, rest) = points.split_at(count);
        let apart = |point: &Point| -> f32 {
            let from = |other: &Point| {
                point.at.distance_squared(other.at)
                    + 0.25 * TURNED_POINT_M * TURNED_POINT_M * point.normal.distance_squared(other.normal)
            };
            chosen.iter().map(from).fold(f32::INFINITY, f32::min)
        };
        let score = |point: &Point| if count == 0 { -point.distance } else { apart(point) };
        let best = (0..rest.len()).max_by(|a, b| score(&rest[*a]).total_cmp(&score(&rest[*b])));
        let Some(best) = best else { break };
        if count > 0 && apart(&rest[best]) < ONE_POINT_M * ONE_POINT_M {
            break;
        }
        points.swap(count, count + best);
        count += 1;
    }
    &points[..count]
}
