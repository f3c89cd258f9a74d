use crate::EvalError;
use glam::{Quat, Vec3};
use pomp_motion::{
    FALL_HEIGHT, FALL_TILT_DEG, FallDetector, FrameTable, Recording, SimulationTrack, Skeleton, humanoid,
};
use pomp_terrain::HeightMap;
use serde::{Deserialize, Serialize};

/// Which motion of a recording to evaluate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Track {
    /// The motion shown: mocap, or the output of a rollout.
    Character,
    /// The ragdoll of the simulator.
    Simulated,
    /// The targets of the kinematic module: positions only, so nothing that needs rotations is measured, and soles
    /// are taken straight below their joints.
    Target,
}

impl Track {
    /// Lower-case name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Character => "character",
            Self::Simulated => "simulated",
            Self::Target => "target",
        }
    }
}

/// One track with what all metrics need of it.
pub(crate) struct Motion<'a> {
    pub(crate) rate_hz: f64,
    pub(crate) positions: &'a FrameTable<Vec3>,
    pub(crate) rotations: Option<&'a FrameTable<Quat>>,
    pub(crate) skeleton: &'a Skeleton,
    /// Height of the person, metres.
    pub(crate) body_height_m: f64,
    /// Contact of left heel, left toe, right heel, right toe per frame.
    pub(crate) contact: Vec<[bool; 4]>,
    /// Lowest points of heel and toe, in the same order, per frame, world.
    pub(crate) soles: Vec<[Vec3; 4]>,
    /// Height of the ground below each sole point.
    pub(crate) sole_ground: Vec<[f64; 4]>,
    /// Judges whether the character is down.
    pub(crate) falls: FallDetector,
}

impl<'a> Motion<'a> {
    pub(crate) fn of(recording: &'a Recording, terrain: &HeightMap, which: Track) -> Result<Self, EvalError> {
        recording.validate()?;
        let bad = |reason: String| EvalError::BadRecording { recording: recording.name.clone(), reason };
        if !(recording.frame_rate_hz.is_finite() && recording.frame_rate_hz > 0.0) {
            return Err(bad(format!(
                "its frame rate is {} Hz; give a positive one",
                recording.frame_rate_hz
            )));
        }
        check_skeleton(recording)?;
        let missing = || EvalError::MissingTrack { recording: recording.name.clone(), track: which.name() };
        let (positions, rotations) = match which {
            Track::Character => (&recording.positions, Some(&recording.quaternions)),
            Track::Simulated => {
                let simulation = recording.simulation.as_ref().ok_or_else(missing)?;
                (&simulation.positions, Some(&simulation.quaternions))
            }
            Track::Target => (&recording.generation.as_ref().ok_or_else(missing)?.target_positions, None),
        };
        if let Some(rotations) = rotations {
            for frame in 0..rotations.frames() {
                if let Some(joint) =
                    rotations[frame].iter().position(|q| !(q.is_finite() && q.length() > 0.5))
                {
                    return Err(bad(format!(
                        "the rotation of joint {joint} at frame {frame} is not a rotation"
                    )));
                }
            }
        }
        let body_height = body_height_m(&recording.skeleton);
        if !(body_height.is_finite() && body_height > 0.1) {
            return Err(bad("the legs of its skeleton have no length".to_owned()));
        }
        let soles: Vec<[Vec3; 4]> = (0..positions.frames())
            .map(|frame| soles(&positions[frame], rotations.map(|r| &r[frame]), body_height as f32))
            .collect();
        let sole_ground = soles.iter().map(|s| s.map(|p| f64::from(terrain.height(p.x, p.z)))).collect();
        let standing_height_m = Skeleton::humanoid(1.0).joints()[0].offset.y * body_height as f32;
        Ok(Self {
            rate_hz: f64::from(recording.frame_rate_hz),
            positions,
            rotations,
            skeleton: &recording.skeleton,
            body_height_m: body_height,
            contact: contacts(recording, which),
            soles,
            sole_ground,
            falls: FallDetector::with_standing_height(standing_height_m, FALL_HEIGHT, FALL_TILT_DEG),
        })
    }

    pub(crate) fn frames(&self) -> usize {
        self.positions.frames()
    }

    /// Whether the character is down in a frame.
    pub(crate) fn is_down(&self, terrain: &HeightMap, frame: usize) -> bool {
        let joints = &self.positions[frame];
        let hips = joints[humanoid::HIPS.0];
        self.falls.are_down(joints, terrain.height(hips.x, hips.z))
    }

    /// Height of sole point `point` over the ground, metres.
    pub(crate) fn sole_height(&self, frame: usize, point: usize) -> f64 {
        f64::from(self.soles[frame][point].y) - self.sole_ground[frame][point]
    }

    /// Horizontal speed of sole point `point` from `frame` to the next, m/s.
    pub(crate) fn sole_speed(&self, frame: usize, point: usize) -> f64 {
        horizontal_distance(self.soles[frame][point], self.soles[frame + 1][point]) * self.rate_hz
    }

    /// Horizontal speed of the pelvis from `frame` to the next, m/s.
    pub(crate) fn root_speed(&self, frame: usize) -> f64 {
        let hips = humanoid::HIPS.0;
        horizontal_distance(self.positions[frame][hips], self.positions[frame + 1][hips]) * self.rate_hz
    }
}

pub(crate) fn horizontal_distance(a: Vec3, b: Vec3) -> f64 {
    (f64::from(b.x) - f64::from(a.x)).hypot(f64::from(b.z) - f64::from(a.z))
}

fn check_skeleton(recording: &Recording) -> Result<(), EvalError> {
    let project = Skeleton::humanoid(1.0);
    let found = recording.skeleton.joints();
    for joint in 0..project.len().max(found.len()) {
        let name =
            |joints: &[pomp_motion::Joint]| joints.get(joint).map_or(String::new(), |j| j.name.clone());
        let (expected, found) = (name(project.joints()), name(found));
        if expected != found {
            return Err(EvalError::ForeignSkeleton {
                recording: recording.name.clone(),
                joint,
                expected,
                found,
            });
        }
    }
    Ok(())
}

/// Body height from the length of the left leg, by the proportions of the project skeleton.
fn body_height_m(skeleton: &Skeleton) -> f64 {
    let leg = |skeleton: &Skeleton| {
        let length = |joint: pomp_motion::JointIndex| f64::from(skeleton.joints()[joint.0].offset.length());
        length(humanoid::LEFT_LEG) + length(humanoid::LEFT_FOOT)
    };
    leg(skeleton) / leg(&Skeleton::humanoid(1.0))
}

fn soles(positions: &[Vec3], rotations: Option<&[Quat]>, body_height: f32) -> [Vec3; 4] {
    let joints = [
        (humanoid::LEFT_FOOT, humanoid::ANKLE_HEIGHT),
        (humanoid::LEFT_TOE, humanoid::TOE_HEIGHT),
        (humanoid::RIGHT_FOOT, humanoid::ANKLE_HEIGHT),
        (humanoid::RIGHT_TOE, humanoid::TOE_HEIGHT),
    ];
    joints.map(|(joint, height)| {
        let down = Vec3::NEG_Y * (height * body_height);
        positions[joint.0] + rotations.map_or(down, |r| r[joint.0].normalize() * down)
    })
}

/// The labels of the recording; for the simulated track, where it has bodies of feet, the frames in which these feel a contact
/// impulse.
fn contacts(recording: &Recording, which: Track) -> Vec<[bool; 4]> {
    let felt = recording.simulation.as_ref().filter(|_| which == Track::Simulated);
    felt.and_then(SimulationTrack::foot_contact).unwrap_or_else(|| recording.foot_contact.clone())
}
