//! GLB (binary glTF 2.0): a clip that viewers, Blender and game engines open.
//!
//! The skeleton is a tree of nodes, the motion one animation with a rotation sampler per joint and a translation
//! sampler for the root, and a skinned mesh of one octahedron per bone makes it visible. glTF shares the
//! project's conventions (metres, Y up, right-handed, quaternions `x y z w`), so nothing is converted.

mod bone_mesh;
mod buffer;
mod document;

pub use document::{glb_bytes, write_glb};
