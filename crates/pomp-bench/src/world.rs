use crate::config::{Method, Scenario};
use crate::mocap::Mocap;
use crate::phase_space::{PhaseSpace, root_velocities};
use crate::{BenchError, mocap};
use pomp_controllers::matching::{MatchedFeatures, MatchingClip, MatchingDatabase, MatchingWeights};
use pomp_model::Model;
use pomp_motion::Gait;
use std::sync::{Arc, OnceLock};

/// Height of the pelvis, as a share of standing, of frames that motion matching may jump to: nobody asks it to crouch.
const UPRIGHT_SHARE: f32 = 0.88;

/// What methods run on.
pub struct World {
    /// The model.
    pub model: Model,
    /// Hash of its files.
    pub model_id: String,
    /// The dataset, if there is one.
    pub mocap: Option<Mocap>,
    /// Its phase space.
    pub space: PhaseSpace,
    matching: [OnceLock<Option<Arc<MatchingDatabase>>>; 2],
}

impl World {
    /// A model, the hash of its files, and a dataset.
    pub fn new(model: Model, model_id: String, mocap: Option<Mocap>) -> Self {
        let space = PhaseSpace::new(&model);
        Self { model, model_id, mocap, space, matching: [OnceLock::new(), OnceLock::new()] }
    }

    /// The database of motion matching over the training clips, made when it is first asked for.
    pub(crate) fn matching(
        &self,
        features: MatchedFeatures,
        method: &Method,
        scenario: &Scenario,
    ) -> Result<&Arc<MatchingDatabase>, BenchError> {
        let slot = &self.matching[usize::from(features == MatchedFeatures::Phase)];
        if slot.get().is_none() {
            let made = self.mocap.as_ref().map(|mocap| self.database(mocap, features)).transpose()?.flatten();
            // Another thread may have been quicker; it has made the same.
            let _ = slot.set(made);
        }
        slot.get().and_then(Option::as_ref).ok_or_else(|| BenchError::TooLittleData {
            method: method.name.clone(),
            scenario: scenario.name.clone(),
            reason: "no training clip stands, walks or jogs; give another dataset".to_owned(),
        })
    }

    fn database(
        &self,
        mocap: &Mocap,
        features: MatchedFeatures,
    ) -> Result<Option<Arc<MatchingDatabase>>, BenchError> {
        let locomotion = [Gait::Stand, Gait::Walk, Gait::Jog];
        let mut clips = Vec::new();
        let mut skeleton = None;
        for clip in mocap.training() {
            let gait = |frame: usize| Gait::dominant(&clip.recording.gait[frame]);
            let least_height = UPRIGHT_SHARE * clip.recording.skeleton.joints()[0].offset.y;
            let upright = |frame: usize| clip.clean[frame].positions_root[0].y >= least_height;
            let usable: Vec<bool> = (0..clip.frames())
                .map(|frame| clip.supported[frame] && upright(frame) && locomotion.contains(&gait(frame)))
                .collect();
            if !usable.contains(&true) {
                continue;
            }
            let phase_codes = match features {
                MatchedFeatures::Pose => Vec::new(),
                MatchedFeatures::Phase => {
                    let velocities = root_velocities(&mocap::poses(&clip.recording));
                    let frames: Vec<usize> = (0..clip.frames()).collect();
                    self.space
                        .states(&velocities, &frames)?
                        .iter()
                        .map(pomp_phase::PhaseState::code)
                        .collect()
                }
            };
            skeleton.get_or_insert_with(|| clip.recording.skeleton.clone());
            let gaits = clip.recording.gait.clone();
            clips.push(MatchingClip { phase_codes, ..MatchingClip::of_states(&clip.clean, gaits, usable) });
        }
        let weights = MatchingWeights::default();
        let database =
            skeleton.and_then(|skeleton| MatchingDatabase::new(skeleton, clips, features, &weights));
        Ok(database.map(Arc::new))
    }
}
