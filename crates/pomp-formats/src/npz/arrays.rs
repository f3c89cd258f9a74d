//! The arrays of a recording's file.

/// An array of a recording's file. T frames, J joints, B bodies, G gaits, C phase channels, N×M heights, K pushes or frames of a plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ArrayDescription {
    /// Its name.
    pub name: &'static str,
    /// Its shape, and its type where that is not 32-bit floating point.
    pub shape: &'static str,
    /// Which files hold it.
    pub present: Presence,
    /// What it holds, with its unit, as markdown.
    pub contents: &'static str,
}

/// Which files hold an array. Those of a group are in a file together or not at all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Presence {
    /// Every file.
    Always,
    /// Written always; a file without it is read all the same.
    Optional,
    /// Files with a ground.
    Terrain,
    /// Files with a physics replay, or the simulated side of a rollout.
    Simulation,
    /// As [`Self::Simulation`]; files of version 0.1 have none, and their `contact_impulse` is the simulator's own.
    Estimate,
    /// Rollouts; those of earlier versions have none.
    Efforts,
    /// As [`Self::Efforts`], where the simulator told where the ground pushed.
    ContactPoints,
    /// Files with phases.
    Phase,
    /// Rollouts.
    Generation,
    /// Rollouts on ground that moves.
    MovingGround,
    /// Rollouts that can be made again.
    Recipe,
}

impl Presence {
    /// In words.
    pub const fn told(self) -> &'static str {
        match self {
            Self::Always | Self::Optional => "all",
            Self::Terrain => "with a ground",
            Self::Simulation | Self::Estimate => "with a replay",
            Self::Phase => "with phases",
            Self::Generation | Self::Efforts | Self::ContactPoints => "rollouts",
            Self::MovingGround => "rollouts on moving ground",
            Self::Recipe => "repeatable rollouts",
        }
    }
}

/// Every array that a recording's file may hold, in the order in which they are written.
pub const ARRAYS: [ArrayDescription; 39] = {
    use Presence::{
        Always, ContactPoints, Efforts, Estimate, Generation, MovingGround, Optional, Phase, Recipe,
        Simulation, Terrain,
    };
    [
        array("name", "text", Always, "name of the recording"),
        array("positions", "`[T,J,3]`", Always, "joints in the world, m"),
        array("quaternions", "`[T,J,4]`", Always, "rotations of the joints in the world"),
        array("bone_names", "`[J]` text", Always, "names of the joints"),
        array("parent_names", "`[J]` text", Always, "names of their parents; the root's is the empty text"),
        array("framerate", "scalar", Always, "frames per second"),
        array(
            "bone_offsets",
            "`[J,3]`",
            Optional,
            "rest offset from the parent, m; in a file without it taken from the first frame",
        ),
        array("root", "`[T,4]`", Always, "x (m), z (m), yaw (rad), height of the pelvis (m)"),
        array("velocities", "`[T,J,3]`", Always, "of the joints, by central differences, m/s"),
        array("gait", "`[T,G]`", Always, "weights of stand, walk, jog, crouch, jump, bump, lie, get_up"),
        array(
            "foot_contact",
            "`[T,4]` bool",
            Always,
            "left heel, left toe, right heel, right toe: in clips by height and speed, in rollouts by the force on them",
        ),
        array(
            "terrain_height",
            "`[N,M]`",
            Terrain,
            "heights, m; row i at z = `terrain_origin[1]` + i·`terrain_cell`, column j at x = `terrain_origin[0]` + \
             j·`terrain_cell`",
        ),
        array("terrain_origin", "`[2]`", Terrain, "x and z of the first height, m"),
        array("terrain_cell", "scalar", Terrain, "distance between heights, m"),
        array("body_names", "`[B]` text", Simulation, "bodies of the ragdoll"),
        array("body_mass", "`[B]`", Simulation, "their masses, kg"),
        array(
            "contact_impulse",
            "`[T,B,3]`",
            Simulation,
            "best estimate of the impulse of all contacts on a body from the frame before to this one, N·s; times `framerate` \
             it is the mean force, N",
        ),
        array(
            "impulse_estimator",
            "text",
            Estimate,
            "name of the estimator of `contact_impulse`; \"simulation\" when that is the simulator's own",
        ),
        array(
            "sim_contact_impulse",
            "`[T,B,3]`",
            Estimate,
            "the impulse that the simulator itself reports, N·s: sharper than people's; training learns from it",
        ),
        array("sim_positions", "`[T,J,3]`", Simulation, "joints of the ragdoll in the world, m"),
        array(
            "sim_quaternions",
            "`[T,J,4]`",
            Simulation,
            "rotations of the joints of the ragdoll in the world",
        ),
        array("sim_velocities", "`[T,J,3]`", Simulation, "of the joints of the ragdoll, m/s"),
        array(
            "assist_force",
            "`[T,3]`",
            Simulation,
            "force of the external root assist that held the ragdoll on the clip, mean over the frame, N",
        ),
        array(
            "assist_torque",
            "`[T,3]`",
            Simulation,
            "torque of the external root assist, mean over the frame, N·m",
        ),
        array(
            "joint_torque",
            "`[T,B]`",
            Efforts,
            "torque of the drive at the joint of each body, mean over the frame, N·m, magnitude",
        ),
        array(
            "assist_limit",
            "`[2]`",
            Efforts,
            "largest horizontal force (N) and largest torque (N·m) that the external root assist may give",
        ),
        array(
            "contact_point",
            "`[T,B,3]`",
            ContactPoints,
            "where the ground's impulse of the frame acted on a body, m: the mean of its contact points, weighted by their \
             vertical impulses; the joint where nothing touched",
        ),
        array(
            "phase",
            "`[T,2C]`",
            Phase,
            "after `pomp phase annotate`, and in rollouts: `a cos 2πs, a sin 2πs` of each channel",
        ),
        array("phase_model", "text", Phase, "hash of the model that computed them; none in rollouts"),
        array(
            "target_positions",
            "`[T,J,3]`",
            Generation,
            "targets of the joints, m; also in pushed clips and falls",
        ),
        array(
            "push",
            "`[K,8]`",
            Generation,
            "time (s), index of the body, impulse x y z (N·s), point x y z (m) of each push",
        ),
        array("control", "`[T,4]`", Generation, "command: x (m), z (m), yaw (rad), speed (m/s)"),
        array(
            "frame_time_us",
            "`[T]`",
            Generation,
            "wall time of the frame, µs; NaN throughout without `pomp generate --clock`",
        ),
        array(
            "ground_offset",
            "`[T,3]`",
            MovingGround,
            "displacement of the ground, m. All arrays are in the frame of the ground; positions with this added are in the world",
        ),
        array(
            "recipe",
            "text",
            Recipe,
            "the inputs that repeat the rollout to the bit, with its ground and pushes (`pomp replay`). In rollouts of `pomp \
             generate` TOML (`tomllib.loads(str(data[\"recipe\"]))`): program, hash of the model, seed, gait of the start, \
             every setting, in a scene those of all characters and the index of this one. In rollouts of the studio JSON: \
             the scene with all its events",
        ),
        array(
            "plan",
            "`[K,5]`",
            Recipe,
            "the command (x, z, yaw, speed, index of the gait) at each frame of its own, in a scene those of all characters, \
             one after the other; empty in rollouts of the studio",
        ),
        array("source", "text", Always, "collection and description of the motion"),
        array("license", "text", Always, "licence of the source"),
        array("config_hash", "text", Always, "hash of the configuration that made the file"),
    ]
};

const fn array(
    name: &'static str,
    shape: &'static str,
    present: Presence,
    contents: &'static str,
) -> ArrayDescription {
    ArrayDescription { name, shape, present, contents }
}

/// Whether a file may hold an array of this name.
pub(super) fn is_known(name: &str) -> bool {
    ARRAYS.iter().any(|array| array.name == name)
}

/// Names of the arrays that are in a file together or not at all.
pub(super) fn names_of(present: Presence) -> impl Iterator<Item = &'static str> {
    ARRAYS.iter().filter(move |array| array.present == present).map(|array| array.name)
}
