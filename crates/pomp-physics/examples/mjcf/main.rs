//! Prints the ragdoll as an MJCF model for MuJoCo: the same bodies, masses, joints and drives (as position actuators without limits),
//! at rest on a plane. `benches/mujoco_step.py` steps it beside ours.
//!
//! `cargo run --release -p pomp-physics --example mjcf > humanoid.xml`

mod model;

use pomp_motion::Skeleton;
use pomp_physics::DynamicConfig;

fn main() {
    let model = model::mjcf(&Skeleton::humanoid(1.75), &DynamicConfig::default());
    #[expect(clippy::print_stdout, reason = "the model is what it is run for")]
    {
        println!("{model}");
    }
}
