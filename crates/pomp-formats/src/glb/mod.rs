//! GLB (binary glTF 2.0): a clip that viewers, Blender and game engines open.
//!
//! The skeleton is a tree of nodes, the motion one animation with a rotation sampler per joint and a translation
//! sampler for the root, and a skinned mesh of one octahedron per bone makes it visible. glTF shares the
//! project's conventions (metres, Y up, right-handed, quaternions `x y z w`), so nothing is converted.
//!
//! [`read_glb_model`] reads the skeleton of a GLB or glTF file, with or without an animation, and [`write_glb_like`] writes the file
//! again with a new animation of this skeleton: meshes, skins, materials and all other contents stay.
//!
//! [`read_glb`] reads the first animation of any such file that moves a skeleton, those of other programs too: what
//! [`pomp_motion::retarget`] then makes of it depends on the names of its joints, as with BVH.

mod bone_mesh;
mod buffer;
mod container;
mod document;
mod key_frames;
mod like;
mod model;
mod node_tree;
mod reader;
mod uri;

pub use document::{glb_bytes, write_glb};
pub use like::{glb_bytes_like, write_glb_like};
pub use model::{GlbModel, parse_glb_model, read_glb_model};
pub use reader::{GlbFile, parse_glb, read_glb};
