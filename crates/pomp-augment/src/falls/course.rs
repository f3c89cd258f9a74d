//! The course of a fall: the clip, the strike, lying, getting up, and the clip again.

use super::config::FallConfig;
use super::laid::{Laid, lay};
use super::strike::{CALM_S, Strike};
use super::unfit::{Fallible, Unfit};
use super::way_up::GetUpClip;
use crate::Source;
use glam::Vec3;
use pomp_estimate::{PhysicsSettings, Stage, approach, expectations};
use pomp_motion::{
    Clip, FALL_AFTER_S, FALL_HEIGHT, FALL_TILT_DEG, FallDetector, FrameTable, Pose, PushRecord, humanoid,
    smoothstep,
};
use pomp_physics::{Expectation, Fallen, Frame, Leader, Push, RecordedWay, Recovery};
use pomp_terrain::HeightMap;
use std::sync::Arc;

/// Duration of a strike, seconds.
const STRIKE_S: f32 = 0.1;
/// Time in which the recorded motion changes over from the clip to the simulated body, seconds.
const LETS_GO_S: f32 = 0.1;
/// The clip continues with the frame nearest to the body's standing pose, searched from this long before the strike to this
/// long after it, seconds.
const RESUMES_WITHIN_S: [f32; 2] = [1.0, 2.0];
/// Share of the weight on a foot that counts as contact.
const TOUCHES: f32 = 0.02;

/// Which part of the fall a frame belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Owner {
    /// The clip, in this frame.
    Clip(usize),
    /// Falling.
    Falls,
    /// Lying.
    Lies,
    /// Getting up.
    GetsUp,
}

/// The whole motion, as simulated.
pub(super) struct Happened {
    /// The motion `[T]`: the clip, the simulated body while it falls and lies, the get-up motion.
    pub poses: Vec<Pose>,
    pub owners: Vec<Owner>,
    pub contact: Vec<[bool; 4]>,
    /// Joints of the targets of the drives, metres, world `[T, J]`.
    pub targets: FrameTable<Vec3>,
    /// The strike, frame by frame.
    pub pushes: Vec<PushRecord>,
    /// Time from the strike to standing, seconds.
    pub up_after_s: f32,
    /// Name of the recorded get-up motion.
    pub way_up: Option<String>,
    /// Frame at which the clip continues.
    pub resumed_at: usize,
}

pub(super) struct Course<'a> {
    clip: &'a Clip,
    contact: &'a [[bool; 4]],
    level_m: f32,
    ground: &'a HeightMap,
    settings: PhysicsSettings<'a>,
    config: &'a FallConfig,
    strike: Strike,
    /// Feed-forward of the drives.
    expected: &'a [Expectation],
    stage: Stage<'a>,
    falls: FallDetector,
    recovery: Recovery,
    poses: Vec<Pose>,
    owners: Vec<Owner>,
    contacts: Vec<[bool; 4]>,
    targets: FrameTable<Vec3>,
}

impl<'a> Course<'a> {
    /// The body before the clip begins.
    pub fn new(
        source: Source<'a>,
        (ground, level_m): (&'a HeightMap, f32),
        settings: PhysicsSettings<'a>,
        config: &'a FallConfig,
        strike: Strike,
    ) -> Fallible<Self> {
        let Source { clip, recording, expected } = source;
        let approach = approach(clip, settings.replay.warm_up_frames.max(1));
        let start = (&approach[0], &approach[1]);
        let mut stage = Stage::new(clip, ground.grid(), settings.dynamic, settings.replay, start)?;
        for target in &approach[1..approach.len() - 1] {
            stage.step(target, &[], expected.first())?;
        }
        let get_up = FallConfig::get_up(strike.lie_s, strike.pace);
        let frame_s = 1.0 / clip.frame_rate_hz;
        let height_m = stage.module().body_height_m();
        Ok(Self {
            clip,
            contact: &recording.foot_contact,
            level_m,
            ground,
            settings,
            config,
            strike,
            expected,
            stage,
            falls: FallDetector::new(&clip.skeleton, FALL_HEIGHT, FALL_TILT_DEG),
            recovery: Recovery::new(get_up, height_m, config.limp, frame_s),
            poses: Vec::new(),
            owners: Vec::new(),
            contacts: Vec::new(),
            targets: FrameTable::with_columns(clip.skeleton.len()),
        })
    }

    /// The same with recorded get-up motions, if there are any.
    pub fn getting_up(self, clips: &[GetUpClip]) -> Self {
        let way =
            |clip: &GetUpClip| Arc::new(RecordedWay::new(&clip.clip, clip.level_m, &self.clip.skeleton));
        let ways = clips.iter().map(way).collect();
        Self { recovery: self.recovery.by_recorded_ways(ways), ..self }
    }

    /// Runs all phases.
    pub fn run(mut self) -> Fallible<(Happened, Stage<'a>)> {
        for frame in 0..self.strike.frame {
            self.follow_clip(frame)?;
        }
        let pushes = self.fall()?;
        let (stood, since) = self.get_up()?;
        let up_after_s = since as f32 / self.clip.frame_rate_hz;
        let way_up = self.recovery.recorded_way().map(|way| way.name().to_owned());
        let resumed_at = self.go_on(&stood)?;
        let Self { poses, owners, contacts: contact, targets, stage, .. } = self;
        Ok((Happened { poses, owners, contact, targets, pushes, up_after_s, way_up, resumed_at }, stage))
    }

    fn frame_s(&self) -> f32 {
        1.0 / self.clip.frame_rate_hz
    }

    /// Appends a frame and its part of the fall.
    fn keep(&mut self, frame: &Frame, pose: Pose, owner: Owner, contact: [bool; 4]) {
        self.stage.record(frame);
        let target = self.clip.skeleton.forward_kinematics(self.stage.target());
        self.targets.push(&target.positions);
        self.poses.push(pose);
        self.owners.push(owner);
        self.contacts.push(contact);
    }

    fn follow_clip(&mut self, frame: usize) -> Fallible<()> {
        let pose = &self.clip.poses[frame];
        let simulated = self.stage.step(pose, &[], self.expected.get(frame))?;
        if self.stage.has_lost(&simulated) {
            return Err(Unfit::Clip("the ragdoll loses it before it is struck".to_owned()));
        }
        self.keep(&simulated, pose.clone(), Owner::Clip(frame), self.contact[frame]);
        Ok(())
    }

    /// From the strike until the body is down.
    fn fall(&mut self) -> Fallible<Vec<PushRecord>> {
        let Strike { frame: struck, body, impulse_ns, give_way_s, .. } = self.strike;
        let lasts = (STRIKE_S / self.frame_s()).round().max(1.0) as usize;
        let push = Push { body, impulse_ns: impulse_ns / lasts as f32, point: None };
        let mut records = Vec::with_capacity(lasts);
        self.stage.module().set_assist_scale(0.0);
        let limp = self.config.limp;
        let mut down = 0;
        for since in 0.. {
            let time_s = since as f32 * self.frame_s();
            let gone = smoothstep((time_s + self.frame_s()) / give_way_s.max(self.frame_s()));
            self.stage.module().set_strength_scale(1.0 + (limp - 1.0) * gone);
            // The limbs continue their motion; nothing holds the root.
            let clip = &self.clip.poses[(struck + since).min(self.clip.frames() - 1)];
            let root = self.stage.body().to_local(&self.clip.skeleton);
            let mut target = clip.clone();
            target.root_position = root.root_position;
            target.local_rotations[0] = root.local_rotations[0];
            if since == 0 {
                // The target's root is the body's own: the clip's would be far from it.
                let mut from = self.stage.target().clone();
                from.root_position = root.root_position;
                from.local_rotations[0] = root.local_rotations[0];
                self.stage.place_target(from);
            }
            let pushes = if since < lasts { std::slice::from_ref(&push) } else { &[] };
            records.extend(pushes.iter().map(|push| PushRecord {
                time_s: (struck + since) as f32 * self.frame_s(),
                body: push.body,
                impulse_ns: push.impulse_ns,
                point: self.stage.body().positions[push.body],
            }));
            let simulated = self.unled_step(&target, pushes)?;
            let body = simulated.pose.to_local(&self.clip.skeleton);
            let share = smoothstep((time_s + self.frame_s()) / LETS_GO_S);
            self.keep_unled(&simulated, clip.lerp(&body, share), Owner::Falls);
            let ground = self.level_m;
            down = if self.falls.is_down(&simulated.pose, ground) { down + 1 } else { 0 };
            if down as f32 * self.frame_s() > FALL_AFTER_S {
                break;
            }
            if time_s > self.config.up_within_s {
                return Err(self.gave_up("it did not fall"));
            }
        }
        self.recovery.fall(self.stage.target().clone());
        Ok(records)
    }

    /// From lying to standing; gives the target at the end and the frames since the strike.
    fn get_up(&mut self) -> Fallible<(Pose, usize)> {
        let mut velocities: Option<Vec<Vec3>> = None;
        loop {
            let since = self.poses.len() - self.strike.frame;
            if since as f32 * self.frame_s() > self.config.up_within_s {
                return Err(self.gave_up("it did not get up"));
            }
            // The speed of the first frame of lying is not defined.
            let speed = velocities.as_ref().map_or(f32::MAX, |velocities| {
                velocities.iter().map(|v| v.length()).sum::<f32>() / velocities.len() as f32
            });
            let leader = self.recovery.lead(&Fallen {
                skeleton: &self.clip.skeleton,
                pose: self.stage.body(),
                mean_joint_speed_m_s: speed,
                target: self.stage.target(),
                terrain: self.ground,
                led_over: self.ground,
            });
            let to = match leader {
                Leader::Recovery { from, to } => {
                    if let Some(from) = from {
                        self.stage.place_target(from);
                    }
                    to
                }
                Leader::ModuleAnew { target, .. } => return Ok((target, since)),
                Leader::Module => unreachable!("a fallen body does not follow the module"),
            };
            let help = self.recovery.help();
            let assist = help.assist * self.config.assist;
            self.stage.module().set_assist_scale(assist);
            self.stage.module().set_strength_scale(help.strength);
            let simulated = self.unled_step(&to, &[])?;
            velocities = Some(simulated.velocities.to_vec());
            let rises = self.recovery.gait() == Some(pomp_motion::Gait::GetUp);
            if rises {
                self.keep_unled(&simulated, to, Owner::GetsUp);
            } else {
                let body = simulated.pose.to_local(&self.clip.skeleton);
                self.keep_unled(&simulated, body, Owner::Lies);
            }
        }
    }

    /// The rest of the clip, moved to the body in its pose `stood`; gives its first frame.
    fn go_on(&mut self, stood: &Pose) -> Fallible<usize> {
        let rate = self.clip.frame_rate_hz;
        let last = self.clip.frames() - (CALM_S * rate).ceil() as usize;
        let [before, after] = RESUMES_WITHIN_S.map(|seconds| (seconds * rate) as usize);
        let frames = self.strike.frame.saturating_sub(before)..=(self.strike.frame + after).min(last);
        let Laid { first, clip } = lay(self.clip, self.contact, self.level_m, frames, stood);
        let expected = expectations(&clip, &self.contact[first..], self.settings)?;
        let (assist, return_s) = (self.config.assist, self.config.return_s);
        self.stage.module().set_strength_scale(1.0);
        let mut at = 0.0f32;
        for since in 1.. {
            let back = smoothstep(since as f32 * self.frame_s() / return_s);
            at += back;
            let here = at as usize;
            if here + 1 >= clip.frames() {
                break;
            }
            let mut pose = clip.poses[here].lerp(&clip.poses[here + 1], at - here as f32);
            if let Some((stood, share)) = self.recovery.fade() {
                pose = stood.lerp(&pose, share);
            }
            self.stage.module().set_assist_scale(assist + (1.0 - assist) * back);
            let told = expected.get(here).filter(|_| back >= 1.0);
            let simulated = self.stage.step(&pose, &[], told)?;
            if self.stage.has_lost(&simulated) || self.falls.is_down(&simulated.pose, self.level_m) {
                return Err(Unfit::Fall("it lost the clip again after it had got up".to_owned()));
            }
            self.keep(&simulated, pose, Owner::Clip(first + here), self.contact[first + here]);
        }
        Ok(first)
    }

    /// A step; a divergence ends the fall.
    fn unled_step(&mut self, target: &Pose, pushes: &[Push]) -> Fallible<Frame> {
        let frame = self.stage.step(target, pushes, None)?;
        if let Some(divergence) = frame.recovered {
            let reason = divergence.reason;
            return Err(Unfit::Fall(format!("the simulator could not follow the fall ({reason:?})")));
        }
        Ok(frame)
    }

    /// Appends a simulated frame; foot contacts are read from the forces.
    fn keep_unled(&mut self, frame: &Frame, pose: Pose, owner: Owner) {
        let least = TOUCHES * self.stage.weight_n() * self.frame_s();
        let bodies = [humanoid::LEFT_FOOT, humanoid::LEFT_TOE, humanoid::RIGHT_FOOT, humanoid::RIGHT_TOE];
        let contact = bodies.map(|body| frame.contact_impulse[body.0].y > least);
        self.keep(frame, pose, owner, contact);
    }

    fn gave_up(&self, what: &str) -> Unfit {
        Unfit::Fall(format!("{what} within {} s of the strike", self.config.up_within_s))
    }
}
