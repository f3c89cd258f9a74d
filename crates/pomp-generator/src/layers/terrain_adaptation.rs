//! Terrain adaptation: the pair of maps between module space and world space.
//!
//! The kinematic module stands on the ground that it is shown ([`super::shown_surface`]); the ragdoll stands on the terrain.
//! [`ModulePose`] is a pose in the first space, [`WorldPose`] the same in the second. [`TerrainAdaptation::world_from_module`] applies
//! foot locking and terrain foot placement to a predicted pose; [`TerrainAdaptation::module_from_world`] is its inverse, and takes off a
//! simulated state what the forward map had put on the target.

use super::LayersConfig;
use super::foot_locking::{FootLocking, PredictedFeet};
use super::foot_placement::{FootPlacement, Ground};
use super::shown_surface::ShownSurface;
use crate::loop_state::ground_position;
use glam::{Vec2, Vec3};
use pomp_motion::features::{CharacterState, OutputFrame};
use pomp_motion::{GlobalPose, PerJoint, Pose, RootFrame, Skeleton};
use pomp_physics::Frame;
use pomp_terrain::HeightMap;
use std::sync::Arc;

const FRAME_S: f32 = 1.0 / pomp_motion::FRAME_RATE_HZ;

/// A pose that stands on the ground that the kinematic module is shown.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ModulePose(pub Pose);

/// A pose that stands on the terrain.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct WorldPose(pub Pose);

/// One target in both spaces.
#[derive(Clone, Debug)]
pub(crate) struct AdaptedPose {
    /// What the kinematic module set, as it is shown it.
    pub module: ModulePose,
    /// What the drives follow.
    pub world: WorldPose,
}

impl AdaptedPose {
    /// A pose that is the same in both spaces.
    pub fn unadapted(pose: Pose) -> Self {
        Self { module: ModulePose(pose.clone()), world: WorldPose(pose) }
    }

    /// Changes the pose in both spaces alike.
    pub fn each(&mut self, mut change: impl FnMut(&mut Pose)) {
        change(&mut self.world.0);
        change(&mut self.module.0);
    }
}

/// The two maps and what they remember. A clone is what a snapshot keeps of them.
#[derive(Clone)]
pub(crate) struct TerrainAdaptation {
    surface: Arc<ShownSurface>,
    locking: Option<FootLocking>,
    placement: Option<FootPlacement>,
    /// Joints of the body in module space after the last frame, metres, world axes.
    module_joints: PerJoint<Vec3>,
}

impl TerrainAdaptation {
    /// For a body of `body_height_m` whose joints start at `joints` (world, metres) on the shown `surface`.
    pub fn new(
        config: &LayersConfig,
        surface: ShownSurface,
        body_height_m: f32,
        joints: PerJoint<Vec3>,
    ) -> Self {
        let (locking, placement) = (config.foot_locking, config.foot_placement);
        Self {
            surface: Arc::new(surface),
            locking: locking.enabled.then(|| FootLocking::new(body_height_m, locking)),
            placement: placement.enabled.then(|| FootPlacement::new(placement, body_height_m)),
            module_joints: joints,
        }
    }

    /// The ground that the kinematic module is shown.
    pub fn surface(&self) -> &ShownSurface {
        &self.surface
    }

    /// Exchanges the terrain.
    pub fn set_terrain(&mut self, config: &LayersConfig, terrain: &Arc<HeightMap>) {
        self.surface = Arc::new(ShownSurface::new(config.shown_surface, terrain));
    }

    /// `reset`: forgets where the feet stood and how they are carried.
    pub fn reset(&mut self) {
        self.forget_standing();
        if let Some(placement) = &mut self.placement {
            placement.reset();
        }
    }

    /// Forgets where the feet stood.
    pub fn forget_standing(&mut self) {
        if let Some(locking) = &mut self.locking {
            locking.forget();
        }
    }

    /// The way that a root at `root` goes to fall in with its feet, world metres; feet that are locked go along.
    pub fn root_way(&mut self, root: &RootFrame) -> Vec3 {
        let Some(placement) = &self.placement else { return Vec3::ZERO };
        let way = placement.root_way(&self.surface, ground_position(root));
        if let Some(locking) = &mut self.locking {
            locking.shift(way);
        }
        Vec3::new(way.x, 0.0, way.y)
    }

    /// All that the target stands on has moved by `way` along the ground, world metres.
    pub fn displace(&mut self, way: Vec2) {
        if let Some(locking) = &mut self.locking {
            locking.shift(way);
        }
    }

    /// Forward: the predicted pose, its root in `root` and moving at `travel` (world x and z, m/s), locked to the shown ground,
    /// and the same on the terrain. `last` is the module pose of the frame before, `body` the simulated body, where there is one.
    #[allow(clippy::too_many_arguments, reason = "the prediction, its place, and what was before")]
    pub fn world_from_module(
        &mut self,
        skeleton: &Skeleton,
        terrain: &HeightMap,
        mut pose: Pose,
        output: &OutputFrame,
        (root, travel): (&RootFrame, Vec2),
        last: &ModulePose,
        body: Option<&GlobalPose>,
    ) -> AdaptedPose {
        let ground = Ground { terrain, surface: &self.surface, root, travel };
        if let Some(locking) = &mut self.locking {
            let predicted = PredictedFeet::of(output, root);
            let shown = |x: f32, z: f32| ground.shown(x, z);
            locking.set(skeleton, &mut pose, &predicted, &output.gait, &shown, FRAME_S);
        }
        let world = match &mut self.placement {
            Some(placement) => {
                let before = skeleton.forward_kinematics(&last.0);
                placement.pose(skeleton, &pose, &before, body, &ground, FRAME_S)
            }
            None => pose.clone(),
        };
        AdaptedPose { module: ModulePose(pose), world: WorldPose(world) }
    }

    /// Inverse: the state `body` of a `simulated` frame as it would be on the shown ground, the module's own pose and how the
    /// body misses the `target`, whose root is in `target_frame`.
    pub fn module_from_world(
        &mut self,
        skeleton: &Skeleton,
        mut body: CharacterState,
        simulated: &Frame,
        target: &AdaptedPose,
        target_frame: &RootFrame,
    ) -> CharacterState {
        let (target, shown) = (&target.world.0, &target.module.0);
        let before = std::mem::replace(&mut self.module_joints, simulated.pose.positions.clone());
        if target == shown {
            return body;
        }
        let to_root = |rotation| target_frame.rotation_to_root(rotation);
        for (joint, simulated) in body.rotations_local.iter_mut().enumerate() {
            let (mut aimed, mut shown) = (target.local_rotations[joint], shown.local_rotations[joint]);
            if joint == 0 {
                (aimed, shown) = (to_root(aimed), to_root(shown));
            }
            *simulated = (shown * aimed.inverse() * *simulated).normalize();
        }
        body.positions_root[0].y += shown.root_position.y - target.root_position.y;
        let world = skeleton.forward_kinematics(&body.to_pose()).positions;
        for (joint, position) in world.iter().enumerate() {
            body.positions_root[joint] = body.frame.to_root(*position);
            body.velocities_root[joint] = body.frame.vector_to_root((*position - before[joint]) / FRAME_S);
        }
        self.module_joints = world;
        body
    }

    /// Takes a `simulated` frame as it is: targets are set in the world, and there is nothing to take off.
    pub fn stay_in_world(&mut self, simulated: &Frame) {
        self.module_joints.clone_from(&simulated.pose.positions);
    }
}
