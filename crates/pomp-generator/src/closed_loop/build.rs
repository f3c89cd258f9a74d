//! How a generator is made, and what can be asked of it.

use super::get_up_planning::GetUpPlanner;
use super::planning::Planner;
use super::{ClosedLoop, Generator, UnderWay};
use crate::character::Character;
use crate::control::ControlCursor;
use crate::kinematic_module::KinematicModule;
use crate::layers::Layers;
use crate::layers::balance_policy::Correction;
use crate::layers::stature::Stature;
use crate::loop_state::{History, LoopState, ground_position};
use crate::networks::Networks;
use crate::phase_feedback::PhaseWindow;
use crate::start::read_start;
use crate::{CharacterSetup, Dynamics, GeneratorConfig, GeneratorError, GroundMotion};
use glam::{Vec2, Vec3};
use pomp_controllers::ControllerKind;
use pomp_model::{Model, ModelError};
use pomp_motion::{FRAME_RATE_HZ, Gait, RootFrame, Skeleton};
use pomp_physics::DynamicModule;
use pomp_policy::PackedPolicy;
use pomp_terrain::HeightMap;
use std::sync::Arc;

const FRAME_S: f32 = 1.0 / FRAME_RATE_HZ;

impl Generator {
    /// A character at the origin of `terrain`, facing +Z, in the model's start `gait`.
    ///
    /// # Errors
    /// A model without its parts or of another skeleton, a setting outside its range, or a terrain that the
    /// simulator refuses.
    pub fn new(
        model: &Model,
        terrain: HeightMap,
        config: &GeneratorConfig,
        start: Gait,
        seed: u64,
    ) -> Result<Self, GeneratorError> {
        let setup = CharacterSetup { settings: config.clone(), start, seed, position: Vec2::ZERO, yaw: 0.0 };
        Self::with_networks(model, &Networks::new(model, config)?, terrain, &setup)
    }

    /// A character as `setup` says, that shares the packed weights of `networks`, which are `model`'s.
    ///
    /// # Errors
    /// As [`Self::new`], and networks that were made of another model, or for another sampler or phase feedback.
    pub fn with_networks(
        model: &Model,
        networks: &Networks,
        terrain: HeightMap,
        setup: &CharacterSetup,
    ) -> Result<Self, GeneratorError> {
        Self::with_body(model, networks, terrain, setup, None)
    }

    /// A character as `setup` says, with a `body` that is there already or one of its own.
    pub(crate) fn with_body(
        model: &Model,
        networks: &Networks,
        terrain: HeightMap,
        setup: &CharacterSetup,
        body: Option<DynamicModule>,
    ) -> Result<Self, GeneratorError> {
        let CharacterSetup { settings: config, start, seed, position, yaw } = setup;
        config.validate()?;
        networks.check(model, config)?;
        let networks = networks.clone();
        let kinematic = KinematicModule::new(model)?;
        let ground = terrain.smoothed_height(position.x, position.y);
        let origin = RootFrame { origin: Vec3::new(position.x, ground, position.y), yaw: *yaw };
        let start = read_start(kinematic.layout(), kinematic.start(*start)?, origin);
        let stature = Stature::of(config.layers.stature, &model.description.skeleton)?;
        let skeleton = stature.skeleton(&model.description.skeleton);
        let phase_window = PhaseWindow::new(model, &start.state);
        let start = stature.start(start);
        let mut character = match body {
            Some(body) => Character::with_body(&skeleton, terrain, config, start.state, body),
            None => Character::new(&skeleton, terrain, config, start.state)?,
        };
        if config.layers.balance_policy.enabled {
            let policy = PackedPolicy::new(model.balance_policy()?).map_err(ModelError::from)?;
            character.set_policy(Some(Arc::new(policy)));
        }
        if character.body().body_names() != model.description.body_names {
            return Err(GeneratorError::BadModel {
                reason: "it was trained with other bodies than this version simulates; train it again"
                    .to_owned(),
            });
        }
        let mass_kg: f32 = character.body().body_masses().iter().sum();
        let weight_impulse_ns = mass_kg * config.dynamic.gravity_m_s2 * FRAME_S;
        let state = LoopState {
            frame: 0,
            cursor: ControlCursor::default(),
            history: History::new(start.history),
            future_codes: start.future_phase_codes,
            contact_impulse: start.contact_force_bw.iter().map(|force| *force * weight_impulse_ns).collect(),
            prediction: None,
            noise: networks.noise(*seed, FRAME_S, config.noise_memory_s),
            controller: match config.controller {
                ControllerKind::Pomp => None,
                kind => Some(model.controller(kind)?.begin()),
            },
            shown: None,
            followed: 0.0,
            assist_share: 1.0,
            aside: Vec2::ZERO,
        };
        let mut inner = ClosedLoop {
            layers: Layers::new(config, &kinematic, stature, &character),
            config: config.clone(),
            kinematic,
            character,
            phase_window,
            state,
            weight_impulse_ns,
            under_way: UnderWay::default(),
            planner: None,
            get_up_planner: GetUpPlanner::new(*seed, config.layers.get_up_planning),
        };
        if config.layers.balance_planning.enabled {
            let planning = config.layers.balance_planning;
            inner.character.set_planned(Correction::NONE);
            inner.planner = Some(Planner::new(networks.clone(), *seed, planning));
        }
        inner.set_style(model, &config.style)?;
        Ok(Self { networks, inner })
    }

    /// Names of the bodies, in the order of contact impulses and pushes.
    pub fn body_names(&self) -> &[String] {
        self.inner.character.body().body_names()
    }

    /// Masses of the bodies, kg.
    pub fn body_masses(&self) -> &[f32] {
        self.inner.character.body().body_masses()
    }

    /// Largest horizontal force (N) and largest torque (N·m) from outside on the root.
    pub fn assist_limit(&self) -> [f32; 2] {
        self.inner.character.body().config().external_limits()
    }

    /// The skeleton that moves.
    pub fn skeleton(&self) -> &Skeleton {
        self.inner.character.skeleton()
    }

    /// The ground.
    pub fn terrain(&self) -> &HeightMap {
        self.inner.character.terrain()
    }

    /// What moves the body.
    pub fn dynamics(&self) -> Dynamics {
        self.inner.config.dynamics
    }

    /// How the ground moves under it.
    pub fn ground_motion(&self) -> &GroundMotion {
        &self.inner.config.ground_motion
    }

    /// Frames done.
    pub fn frames(&self) -> usize {
        self.inner.state.frame
    }

    /// Whether the character has fallen and does not stand again yet.
    pub fn has_fallen(&self) -> bool {
        self.inner.layers.fall_recovery.has_fallen()
    }

    /// Pelvis height of standing, metres.
    pub fn standing_height_m(&self) -> f32 {
        self.inner.layers.fall_recovery.standing_height_m()
    }

    /// Root on the ground plane, world x and z.
    pub fn root_position(&self) -> Vec2 {
        ground_position(&self.inner.character.state().frame)
    }

    /// Heading of the root, radians.
    pub fn root_yaw(&self) -> f32 {
        self.inner.character.state().frame.yaw
    }

    /// See [`PhaseWindow::differences_from_general`].
    #[cfg(test)]
    pub(crate) fn differences_from_general(
        &mut self,
        model: &Model,
    ) -> Result<Option<[f32; 2]>, GeneratorError> {
        self.inner.phase_window.differences_from_general(model, &mut self.networks.phase)
    }

    /// The stride that is remembered, where on its cycle it is, and the body as it was last shown.
    #[cfg(test)]
    pub(crate) fn stride(
        &mut self,
    ) -> (
        &mut crate::layers::gait_recovery::StrideMemory,
        crate::layers::phase_stabiliser::CycleTracker,
        pomp_motion::features::CharacterState,
    ) {
        let ClosedLoop { layers, character, .. } = &mut self.inner;
        let tracker = layers.phase_stabiliser.tracker;
        (layers.gait_recovery.memory(), tracker, character.state().clone())
    }
}
