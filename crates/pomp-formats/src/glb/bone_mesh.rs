use glam::Vec3;
use pomp_motion::{GlobalPose, Skeleton};

/// Thickness of a bone as a fraction of its length.
const THICKNESS: f32 = 0.12;
/// Where along the bone it is thickest.
const WAIST: f32 = 0.25;
/// Length of the bone drawn beyond a leaf, as a fraction of the leaf's own offset.
const LEAF_LENGTH: f32 = 0.5;
/// Shorter bones (coincident joints) are not drawn.
const SHORTEST_M: f32 = 1e-4;

/// Triangles of octahedra along the bones, in the rest pose; three vertices in a row are one triangle.
pub(super) struct BoneMesh {
    pub positions: Vec<[f32; 3]>,
    pub normals: Vec<[f32; 3]>,
    /// The joint that carries each vertex.
    pub joints: Vec<u16>,
}

/// One octahedron from each joint to each of its children, carried by the joint, and a short one beyond each leaf.
pub(super) fn bone_mesh(skeleton: &Skeleton, rest: &GlobalPose) -> BoneMesh {
    let mut mesh = BoneMesh { positions: Vec::new(), normals: Vec::new(), joints: Vec::new() };
    let mut leaf = vec![true; skeleton.len()];
    for (index, joint) in skeleton.joints().iter().enumerate().skip(1) {
        let parent = joint.parent.map_or(0, |parent| parent.0);
        leaf[parent] = false;
        mesh.octahedron(parent, rest.positions[parent], rest.positions[index]);
    }
    for (index, joint) in skeleton.joints().iter().enumerate() {
        if leaf[index] {
            let from = rest.positions[index];
            mesh.octahedron(index, from, from + joint.offset * LEAF_LENGTH);
        }
    }
    mesh
}

impl BoneMesh {
    fn octahedron(&mut self, joint: usize, from: Vec3, to: Vec3) {
        let length = from.distance(to);
        if length < SHORTEST_M {
            return;
        }
        let axis = (to - from) / length;
        let (across, up) = axis.any_orthonormal_pair();
        let waist = from + axis * (WAIST * length);
        let ring = [across, up, -across, -up].map(|side| waist + side * (THICKNESS * length));
        for side in 0..4 {
            let (a, b) = (ring[side], ring[(side + 1) % 4]);
            self.triangle(joint, [from, b, a], waist);
            self.triangle(joint, [to, a, b], waist);
        }
    }

    /// Adds a triangle, wound so that its normal points away from `inside`.
    fn triangle(&mut self, joint: usize, [a, b, c]: [Vec3; 3], inside: Vec3) {
        let normal = (b - a).cross(c - a).normalize_or(Vec3::Y);
        let outward = normal.dot(a - inside) >= 0.0;
        let corners = if outward { [a, b, c] } else { [a, c, b] };
        let normal = if outward { normal } else { -normal };
        for corner in corners {
            self.positions.push(corner.to_array());
            self.normals.push(normal.to_array());
            self.joints.push(joint as u16);
        }
    }
}
