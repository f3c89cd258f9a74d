//! npz: a [`pomp_motion::Recording`] as named numpy arrays in a zip archive.
//!
//! `numpy.load(path)` opens the file; its first six arrays are what AI4AnimationPy loads as a motion. T frames,
//! J joints, B bodies, K pushes, C phase channels; `float32` unless said; world space, metres, seconds, newtons;
//! quaternions `x y z w`.
//!
//! | array | shape | contents |
//! |---|---|---|
//! | `name` | text | name of the clip or rollout |
//! | `positions`, `quaternions` | `[T,J,3]`, `[T,J,4]` | joints in the world |
//! | `bone_names`, `parent_names` | `[J]` text | the root's parent is the empty text |
//! | `framerate` | scalar | frames per second |
//! | `bone_offsets` | `[J,3]` | rest offset from the parent; when absent, taken from the first frame |
//! | `root` | `[T,4]` | x, z, yaw, pelvis height |
//! | `velocities` | `[T,J,3]` | of the joints |
//! | `gait` | `[T,8]` | weights in the order of [`pomp_motion::Gait::ALL`] |
//! | `foot_contact` | `[T,4]` bool | left heel, left toe, right heel, right toe |
//! | `source`, `license`, `config_hash` | text | provenance |
//! | `terrain_height`, `terrain_origin`, `terrain_cell` | `[N,M]`, `[2]`, scalar | all or none |
//! | `body_names`, `body_mass`, `contact_impulse`, `sim_positions`, `sim_quaternions`, `sim_velocities`, `assist_force`, `assist_torque` | `[B]` text, `[B]`, `[T,B,3]`, `[T,J,3]`, `[T,J,4]`, `[T,J,3]`, `[T,3]`, `[T,3]` | the physics replay; all or none. `contact_impulse` is the best estimate; a frame's impulse acts from the frame before to this one |
//! | `sim_contact_impulse`, `impulse_estimator` | `[T,B,3]`, text | the simulator's own impulses, and what made `contact_impulse`; with a replay both or none. Files of version 0.1 have none: their `contact_impulse` is the simulator's own |
//! | `phase` | `[T,2C]` | optional: phase codes, `a cos 2πs, a sin 2πs` per channel |
//! | `phase_model` | text | optional, with `phase`: hash of the model that read them |
//! | `target_positions`, `push`, `control`, `frame_time_us` | `[T,J,3]`, `[K,8]`, `[T,4]`, `[T]` | rollouts; all or none. A push is time, body index, impulse x y z, point x y z. Frame times are NaN throughout when no clock was recorded |
//! | `ground_offset` | `[T,3]` | rollouts on moving ground alone: where the ground is. All positions are told in its frame; with this added they are in the world |
//! | `recipe`, `plan` | text, `[N,5]` | what makes a rollout again to the bit, with its ground and pushes (`pomp replay`); both or none, and only in rollouts. `recipe` is TOML: program (`made_by`), `model_sha256`, `seed`, gait at the start, and every setting of the loop. `plan` is the command at each of its own frames: x, z, yaw, speed, index of the gait. What the studio records has no plan, and JSON with the scene and what was done in it |
//!
//! Written files are the same bytes for the same recording: fixed order, fixed time stamps, no compression.
//! Read files may be compressed, may hold 64-bit floats or integers in place of 32-bit floats, and may hold no
//! other arrays than these.
//!
//! Phases are added to a recording later than the rest; [`bytes_without_phases`] is what hashes of data are taken of.

mod archive;
mod read;
mod write;

pub use read::{parse_recording, read_recording};
pub use write::{bytes_without_phases, write_recording};

/// Arrays of the terrain: all or none.
const TERRAIN: [&str; 3] = ["terrain_height", "terrain_origin", "terrain_cell"];
/// Arrays of the physics replay: all or none.
const SIMULATION: [&str; 8] = [
    "body_names",
    "body_mass",
    "contact_impulse",
    "sim_positions",
    "sim_quaternions",
    "sim_velocities",
    "assist_force",
    "assist_torque",
];
/// Arrays of the estimate of contact impulses: all or none, and only beside a replay.
const ESTIMATE: [&str; 2] = ["sim_contact_impulse", "impulse_estimator"];
/// Arrays of a rollout: all or none.
const GENERATION: [&str; 4] = ["target_positions", "push", "control", "frame_time_us"];
/// Arrays of a rollout's recipe: all or none.
const RECIPE: [&str; 2] = ["recipe", "plan"];
/// Numbers of a frame of a plan: x, z, yaw, speed, gait.
const PLAN_COLUMNS: usize = 5;
/// Arrays that every recording has.
const ALWAYS: [&str; 13] = [
    "name",
    "positions",
    "quaternions",
    "bone_names",
    "parent_names",
    "framerate",
    "root",
    "velocities",
    "gait",
    "foot_contact",
    "source",
    "license",
    "config_hash",
];
/// Arrays that may be missing one by one.
const OPTIONAL: [&str; 4] = ["bone_offsets", "phase", "phase_model", "ground_offset"];
/// Numbers of a push: time, body, impulse, point.
const PUSH_COLUMNS: usize = 8;
