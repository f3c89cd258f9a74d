//! A clip on its own ground, and the results made from it: the clip itself and its variants on other patches, on relief, pushed,
//! and with falls.

use crate::given::Given;
use crate::input::Input;
use crate::journal::GroundRecord;
use crate::load::{LoadedClip, labelled};
use crate::variant::Variant;
use crate::{PreprocessConfig, PreprocessError};
use pomp_augment::{
    Bumped, Felled, GetUpClip, InStyle, Paced, ReliefKind, Source, Unfit, bump, fell, in_style, pace, warp,
};
use pomp_estimate::impulses::{self, ImpulseEstimate};
use pomp_estimate::terrain_fit::{FitInput, FitReport, GroundKind, fit_terrain};
use pomp_estimate::{ImpulseReport, ReplayReport, airborne, expectations, replay};
use pomp_motion::{Clip, Gait, Recording, SimulationTrack, TerrainGrid};
use pomp_physics::Expectation;
use std::path::Path;

/// What preprocessing estimates of a clip.
#[derive(Clone, Debug)]
pub struct ClipEstimate {
    /// The clip with contacts, gaits, the ground reconstructed from its feet, its physics replay and its contact impulses.
    pub recording: Recording,
    /// How well the ground fits.
    pub ground: FitReport,
    /// How well the ragdoll followed.
    pub replay: ReplayReport,
    /// Figures of the contact impulses.
    pub impulses: ImpulseReport,
}

/// Estimates ground and contact impulses of a clip, as the recording of its name that preprocessing writes has them; `path` names
/// it in errors.
///
/// # Errors
/// A configuration out of range, and a clip that gait labelling, the terrain fit or the simulator refuses.
pub fn estimate_clip(
    path: &Path,
    clip: Clip,
    config: &PreprocessConfig,
) -> Result<ClipEstimate, PreprocessError> {
    config.validate()?;
    let OwnGround { recording, fit, replay, impulses, .. } = OwnGround::of_clip(path, clip, config)?;
    Ok(ClipEstimate { recording, ground: fit, replay, impulses })
}

/// Least share of frames that walk of a clip that is reversed as a walk.
const REVERSED_WALKS: f32 = 0.5;
/// Least share of frames that walk or stand of such a clip.
const REVERSED_CALM: f32 = 0.95;

/// A result in the making.
pub(crate) struct Made {
    pub recording: Recording,
    pub ground: GroundRecord,
    pub warnings: Vec<String>,
    pub replay: ReplayReport,
    pub impulses: ImpulseReport,
    /// What of other clips is in it, and their licence.
    pub license: Option<String>,
}

/// Why a clip does not have a result.
pub(crate) struct NotMade {
    pub reason: String,
    /// It was simulated, and the result is no sample.
    pub is_failure: bool,
}

impl From<String> for NotMade {
    fn from(reason: String) -> Self {
        Self { reason, is_failure: false }
    }
}

/// A clip or its mirror image on the ground reconstructed from its feet: the source of its variants.
pub(crate) struct OwnGround {
    clip: Clip,
    /// With contacts, gaits, terrain and replay.
    recording: Recording,
    fit: FitReport,
    replay: ReplayReport,
    impulses: ImpulseReport,
    /// Feed-forward of the drives.
    expected: Vec<Expectation>,
}

impl OwnGround {
    /// Labels, reconstructs, replays.
    pub fn of(
        input: &Input,
        loaded: &LoadedClip,
        mirrored: bool,
        config: &PreprocessConfig,
    ) -> Result<Self, PreprocessError> {
        let clip = if mirrored { loaded.clip.mirrored() } else { loaded.clip.clone() };
        Self::of_clip(&input.path, clip, config)
    }

    fn of_clip(path: &Path, clip: Clip, config: &PreprocessConfig) -> Result<Self, PreprocessError> {
        let (mut recording, grid, fit) = on_own_ground(path, &clip, config)?;
        let Replayed { simulation, report: replay, estimate, expected } =
            replayed(path, &clip, &recording.foot_contact, &grid, config)?;
        let impulses = estimate.report;
        recording.terrain = Some(grid);
        recording.simulation = Some(simulation);
        Ok(Self { clip, recording, fit, replay, impulses, expected })
    }

    /// A result, or why this clip does not have it.
    pub fn made(
        &self,
        input: &Input,
        name: &str,
        variant: Variant,
        given: &Given,
        config: &PreprocessConfig,
    ) -> Result<Result<Made, NotMade>, PreprocessError> {
        if variant.needs_level_ground() && self.fit.ground != GroundKind::Flat {
            return Ok(Err("its own ground is not level".to_owned().into()));
        }
        let made = match variant {
            Variant::Fitted(0) => Ok(Ok(self.as_result("its own ground".to_owned(), config))),
            Variant::Fitted(variant) => self.on_patches(input, variant, config).map(Ok),
            Variant::Warped(kind) => self.on_relief(input, name, kind, config),
            Variant::Paced(variant) => self.paced(input, name, variant, config),
            Variant::Reversed => self.reversed(input, name, config),
            Variant::InStyle => self.in_style(input, name, given, config),
            Variant::Bumped => self.bumped(input, name, config),
            Variant::Felled => return self.felled(input, name, &given.get_up, config),
        };
        made.map(|made| made.map_err(NotMade::from))
    }

    fn source(&self) -> Source<'_> {
        Source { clip: &self.clip, recording: &self.recording, expected: &self.expected }
    }

    fn as_result(&self, description: String, config: &PreprocessConfig) -> Made {
        Made {
            recording: self.recording.clone(),
            ground: fitted_ground(&self.fit, description, config),
            warnings: self.fit.warnings.clone(),
            replay: self.replay.clone(),
            impulses: self.impulses.clone(),
            license: None,
        }
    }

    fn paced(
        &self,
        input: &Input,
        name: &str,
        variant: usize,
        config: &PreprocessConfig,
    ) -> Result<Result<Made, String>, PreprocessError> {
        match pace(&self.clip, &self.recording, &config.pace, variant, name) {
            Ok(Paced { clip, share }) => {
                let description = format!("walked at {share:.2} of the pace, seed {}", config.pace.seed);
                let mut made = Self::of_clip(&input.path, clip, config)?.as_result(description, config);
                made.ground.seed = config.pace.seed;
                Ok(Ok(made))
            }
            Err(reason) => Ok(Err(reason)),
        }
    }

    fn reversed(
        &self,
        input: &Input,
        name: &str,
        config: &PreprocessConfig,
    ) -> Result<Result<Made, String>, PreprocessError> {
        let frames = |gaits: &[Gait]| {
            let labels = self.recording.gait.iter().map(Gait::dominant);
            labels.filter(|label| gaits.contains(label)).count() as f32 / self.recording.frames() as f32
        };
        if frames(&[Gait::Walk]) < REVERSED_WALKS || frames(&[Gait::Walk, Gait::Stand]) < REVERSED_CALM {
            return Ok(Err("it is not a walk".to_owned()));
        }
        let clip = Clip { name: name.to_owned(), ..self.clip.reversed() };
        Ok(Ok(Self::of_clip(&input.path, clip, config)?.as_result("reversed in time".to_owned(), config)))
    }

    fn in_style(
        &self,
        input: &Input,
        name: &str,
        given: &Given,
        config: &PreprocessConfig,
    ) -> Result<Result<Made, String>, PreprocessError> {
        let model = given.styles.as_ref().expect("the styles are read where variants are planned");
        match in_style(model, &self.recording, &config.style, name) {
            Ok(InStyle { clip, style, share, license }) => {
                let description =
                    format!("walked at {share:.2} in the style \"{style}\", seed {}", config.style.seed);
                let mut made = Self::of_clip(&input.path, clip, config)?.as_result(description, config);
                made.ground.seed = config.style.seed;
                made.license = Some(format!("style: {license}"));
                Ok(Ok(made))
            }
            Err(reason) => Ok(Err(reason)),
        }
    }

    fn on_patches(
        &self,
        input: &Input,
        variant: usize,
        config: &PreprocessConfig,
    ) -> Result<Made, PreprocessError> {
        let fit = fit_terrain(&FitInput::of_recording(&self.recording), &config.terrain, variant)
            .map_err(|source| PreprocessError::Terrain { path: input.path.clone(), source })?;
        let (recording, replay, impulses) = self.replayed(input, &self.clip, fit.map.into_grid(), config)?;
        let description =
            format!("terrain variant {variant} of its own ground, seed {}", config.terrain.seed);
        Ok(Made {
            recording,
            ground: fitted_ground(&fit.report, description, config),
            warnings: fit.report.warnings,
            replay,
            impulses,
            license: None,
        })
    }

    fn on_relief(
        &self,
        input: &Input,
        name: &str,
        kind: ReliefKind,
        config: &PreprocessConfig,
    ) -> Result<Result<Made, String>, PreprocessError> {
        let warped =
            warp(&self.clip, &self.recording, self.fit.level_m, kind, &config.terrain, &config.warp, name)
                .map_err(|error| PreprocessError::Terrain {
                    path: input.path.clone(),
                    source: error.into(),
                })?;
        let warped = match warped {
            Ok(warped) => warped,
            Err(reason) => return Ok(Err(reason)),
        };
        let (low, high) = warped.map.min_max();
        let mut warnings = Vec::new();
        if warped.planted_p95_m > 0.02 {
            warnings.push(format!(
                "warp: planted soles are {:.1} cm (95th percentile) farther from the relief than from the clip's ground",
                100.0 * warped.planted_p95_m
            ));
        }
        let (recording, replay, impulses) =
            self.replayed(input, &warped.clip, warped.map.into_grid(), config)?;
        let ground = GroundRecord {
            kind: kind.name().to_owned(),
            description: format!("laid on {}, seed {}", warped.description, config.warp.seed),
            seed: config.warp.seed,
            min_max_m: [low, high],
        };
        Ok(Ok(Made { recording, ground, warnings, replay, impulses, license: None }))
    }

    fn bumped(
        &self,
        input: &Input,
        name: &str,
        config: &PreprocessConfig,
    ) -> Result<Result<Made, String>, PreprocessError> {
        let grid = self.recording.terrain.as_ref().expect("the plain result has its terrain");
        let track = self.recording.simulation.as_ref().expect("the plain result has its replay");
        let bumped = bump(self.source(), track, grid, config.physics(), &config.bumps, name)
            .map_err(|source| PreprocessError::Replay { path: input.path.clone(), source })?;
        Ok(bumped.map(|Bumped { mut recording, report }| {
            recording.terrain = Some(grid.clone());
            let pushes = recording.generation.as_ref().map_or(0, |generation| generation.pushes.len());
            let description = format!("pushed {pushes} times, seed {}", config.bumps.seed);
            let ground =
                GroundRecord { seed: config.bumps.seed, ..fitted_ground(&self.fit, description, config) };
            // The clip does not show the pushes: only the simulator's forces belong to this motion.
            let simulation = recording.simulation.as_ref().expect("a push is simulated");
            let impulses = ImpulseReport::of_simulation(
                simulation,
                config.dynamic.gravity_m_s2,
                recording.frame_rate_hz,
            );
            let warnings = self.fit.warnings.clone();
            Made { recording, ground, warnings, replay: report, impulses, license: None }
        }))
    }

    fn felled(
        &self,
        input: &Input,
        name: &str,
        get_up: &[GetUpClip],
        config: &PreprocessConfig,
    ) -> Result<Result<Made, NotMade>, PreprocessError> {
        let level_m = self.fit.level_m;
        let (physics, terrain) = (config.physics(), &config.terrain);
        match fell(self.source(), level_m, get_up, physics, terrain, &config.falls, name) {
            Ok(Felled { recording, report, description, license }) => {
                let simulation = recording.simulation.as_ref().expect("a fall is simulated");
                let impulses = ImpulseReport::of_simulation(
                    simulation,
                    config.dynamic.gravity_m_s2,
                    recording.frame_rate_hz,
                );
                let ground = GroundRecord {
                    kind: GroundKind::Flat.name().to_owned(),
                    description,
                    seed: config.falls.seed,
                    min_max_m: [level_m; 2],
                };
                let warnings = self.fit.warnings.clone();
                let license = license.map(|license| format!("getting up: {license}"));
                Ok(Ok(Made { recording, ground, warnings, replay: report, impulses, license }))
            }
            Err(Unfit::Clip(reason)) => Ok(Err(reason.into())),
            Err(Unfit::Fall(reason)) => Ok(Err(NotMade { reason, is_failure: true })),
            Err(Unfit::Physics(source)) => Err(PreprocessError::Replay { path: input.path.clone(), source }),
            Err(Unfit::Ground(source)) => {
                Err(PreprocessError::Terrain { path: input.path.clone(), source: source.into() })
            }
        }
    }

    /// `clip`, which has the contacts and gaits of this one, replayed on `grid`.
    fn replayed(
        &self,
        input: &Input,
        clip: &Clip,
        grid: TerrainGrid,
        config: &PreprocessConfig,
    ) -> Result<(Recording, ReplayReport, ImpulseReport), PreprocessError> {
        let contact = &self.recording.foot_contact;
        let Replayed { simulation, report, estimate, .. } =
            replayed(&input.path, clip, contact, &grid, config)?;
        let recording = Recording {
            foot_contact: self.recording.foot_contact.clone(),
            gait: self.recording.gait.clone(),
            terrain: Some(grid),
            simulation: Some(simulation),
            ..Recording::of_clip(clip)
        };
        Ok((recording, report, estimate.report))
    }
}

/// The physics replay of a clip on its ground.
pub(crate) struct Replayed {
    /// With contact impulses as the configuration wants them stored.
    pub simulation: SimulationTrack,
    pub report: ReplayReport,
    pub estimate: ImpulseEstimate,
    /// Feed-forward of the drives.
    pub expected: Vec<Expectation>,
}

/// Replays the clip of `path` on `grid` and estimates its contact impulses.
pub(crate) fn replayed(
    path: &Path,
    clip: &Clip,
    contact: &[[bool; 4]],
    grid: &TerrainGrid,
    config: &PreprocessConfig,
) -> Result<Replayed, PreprocessError> {
    let refused = |source| PreprocessError::Replay { path: path.to_path_buf(), source };
    let expected = expectations(clip, contact, config.physics()).map_err(refused)?;
    let (mut simulation, report) =
        replay(clip, grid, &config.dynamic, &config.replay, &expected).map_err(refused)?;
    let estimate = impulses::store(clip, contact, grid, &mut simulation, config.physics())
        .map_err(|error| PreprocessError::Terrain { path: path.to_path_buf(), source: error.into() })?;
    Ok(Replayed { simulation, report, estimate, expected })
}

/// A clip with contacts and gaits, and the ground reconstructed from its feet, as preprocessing sees it; `path` names it in errors.
///
/// # Errors
/// A clip that gait labelling or the terrain fit refuses.
pub fn on_own_ground(
    path: &Path,
    clip: &Clip,
    config: &PreprocessConfig,
) -> Result<(Recording, TerrainGrid, FitReport), PreprocessError> {
    let recording = labelled(clip, config)
        .map_err(|source| PreprocessError::Motion { path: path.to_path_buf(), source })?;
    let mut fit = fit_terrain(&FitInput::of_recording(&recording), &config.terrain, 0)
        .map_err(|source| PreprocessError::Terrain { path: path.to_path_buf(), source })?;
    fit.report.warnings.extend(airborne::warnings(clip, &recording.foot_contact, &fit.map));
    Ok((recording, fit.map.into_grid(), fit.report))
}

fn fitted_ground(fit: &FitReport, description: String, config: &PreprocessConfig) -> GroundRecord {
    GroundRecord {
        kind: fit.ground.name().to_owned(),
        description,
        seed: config.terrain.seed,
        min_max_m: fit.min_max_m,
    }
}
