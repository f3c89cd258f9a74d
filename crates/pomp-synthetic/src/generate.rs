use crate::feet::FootTrack;
use crate::jump::Jump;
use crate::path::{Bout, RootPath};
use crate::pelvis::{LegLengths, PelvisModel, PelvisTrack, stillness};
use crate::planted_foot::FootShape;
use crate::stance::Stance;
use crate::step_plan::StepPlanner;
use crate::style::Style;
use crate::swing::SwingLeg;
use crate::upper_body::UpperBody;
use crate::{Ends, MotionKind, MotionRequest, Side, SyntheticClip, SyntheticError};
use pomp_motion::glam::{Quat, Vec2};
use pomp_motion::random::noise;
use pomp_motion::{Clip, FRAME_RATE_HZ, Gait, Pose, Skeleton, humanoid};
use pomp_terrain::HeightMap;
use std::sync::Arc;

/// Frames made before and after the clip, so that smoothing sees no ends.
const MARGIN: usize = 48;

/// Makes a clip of `request` on `terrain`.
///
/// # Errors
/// [`SyntheticError::BadRequest`] for a number outside its range; [`SyntheticError::OutOfReach`] when the ground
/// is too steep for the steps asked for.
pub fn generate(request: &MotionRequest, terrain: &HeightMap) -> Result<SyntheticClip, SyntheticError> {
    request.validate()?;
    let skeleton = Arc::new(Skeleton::humanoid(request.body_height_m));
    let body = Body::of(&skeleton, request.body_height_m);
    let size = request.body_height_m / 1.75;
    let style = match request.kind {
        MotionKind::Jog => Style::jog(request.speed_m_s, size),
        MotionKind::Walk | MotionKind::StopAndGo => Style::walk(request.speed_m_s, size),
        MotionKind::Stand | MotionKind::Jump => Style::walk(1.3, size),
    };
    let path = root_path(request, &style);
    let jumps = jumps(request);
    let frames = (request.duration_s * FRAME_RATE_HZ).round() as usize + 1;
    let times: Vec<f32> =
        (0..frames + 2 * MARGIN).map(|i| (i as f32 - MARGIN as f32) / FRAME_RATE_HZ).collect();

    let planner = StepPlanner { request, terrain, path: &path, style: &style, shape: body.foot };
    let feet = feet(&planner, &body, &jumps, &times);
    let model =
        PelvisModel { request, terrain, path: &path, style: &style, lengths: body.lengths, jumps: &jumps };
    let pelvis = model.track(&feet, &times, FRAME_RATE_HZ)?;

    let inside = MARGIN..MARGIN + frames;
    let tracks = Tracks {
        request,
        style: &style,
        path: &path,
        jumps: &jumps,
        feet: &feet,
        pelvis: &pelvis,
        times: &times,
    };
    let poses = inside.clone().map(|i| tracks.pose(i)).collect();
    let gait = inside.clone().map(|i| tracks.gait(i).one_hot()).collect();
    let foot_contact = inside
        .map(|i| {
            let [left_heel, left_toe] = feet[0].contact[i];
            let [right_heel, right_toe] = feet[1].contact[i];
            [left_heel, left_toe, right_heel, right_toe]
        })
        .collect();
    let clip = Clip::new(request.name(), skeleton, FRAME_RATE_HZ, poses)?;
    Ok(SyntheticClip { clip, terrain: terrain.clone(), foot_contact, gait })
}

/// Lengths read from the skeleton.
struct Body {
    lengths: LegLengths,
    foot: FootShape,
}

impl Body {
    fn of(skeleton: &Skeleton, body_height_m: f32) -> Self {
        let offset = |joint: pomp_motion::JointIndex| skeleton.joints()[joint.0].offset;
        let lengths = LegLengths {
            thigh: offset(humanoid::LEFT_LEG).length(),
            shank: offset(humanoid::LEFT_FOOT).length(),
            left_hip: offset(humanoid::LEFT_UP_LEG),
            rest_height: offset(humanoid::HIPS).y,
        };
        Self { lengths, foot: FootShape::of_height(body_height_m, offset(humanoid::LEFT_TOE)) }
    }
}

fn root_path(request: &MotionRequest, style: &Style) -> RootPath {
    let duration = request.duration_s;
    let ramp_s = 0.9 * style.stride_s;
    let bouts = match request.kind {
        MotionKind::Stand | MotionKind::Jump => Some(Vec::new()),
        MotionKind::StopAndGo => {
            let count = (duration / 4.2).floor().max(1.0);
            let length = duration / count;
            Some(
                (0..count as usize)
                    .map(|k| {
                        let begin = k as f32 * length;
                        Bout { start_s: begin + 0.6, end_s: begin + length - 0.7, ramp_s }
                    })
                    .collect(),
            )
        }
        MotionKind::Walk | MotionKind::Jog => match request.ends {
            Ends::Steady => None,
            Ends::Standing => Some(vec![Bout { start_s: 0.6, end_s: duration - 0.7, ramp_s }]),
        },
    };
    let (speed, curvature) = if request.moves() {
        (request.speed_m_s, request.turn_rate_rad_s / request.speed_m_s)
    } else {
        // Standing footholds still ask the path for a stride length; no step is taken.
        (1.0, 0.0)
    };
    RootPath { start: Vec2::from(request.start_xz), heading: request.heading_rad, speed, curvature, bouts }
}

fn jumps(request: &MotionRequest) -> Vec<Jump> {
    let mut jumps: Vec<Jump> = Vec::new();
    if request.kind != MotionKind::Jump {
        return jumps;
    }
    let mut start = 0.4;
    loop {
        let jump = Jump::starting(start, request.speed_m_s, request.body_height_m);
        if jump.end_s() > request.duration_s {
            return jumps;
        }
        start = jump.end_s() + 0.3 + 0.15 * noise(request.seed, 31, jumps.len() as i64) * request.variation;
        jumps.push(jump);
    }
}

fn feet(planner: &StepPlanner, body: &Body, jumps: &[Jump], times: &[f32]) -> [FootTrack; 2] {
    if planner.request.kind == MotionKind::Jump || planner.request.kind == MotionKind::Stand {
        return [Side::Left, Side::Right].map(|side| {
            let mut stances = vec![Stance::resting(planner.standing_foothold(side, 0.0))];
            for jump in jumps {
                let last = stances.len() - 1;
                let [before, after] = jump.stances(stances[last].foothold, stances[last].from_s);
                stances[last] = before;
                stances.push(after);
            }
            FootTrack::jumping(&stances, jumps, times)
        });
    }
    let stances = planner.stances(MARGIN as f32 / FRAME_RATE_HZ);
    [Side::Left, Side::Right].map(|side| {
        let leg = SwingLeg {
            side,
            thigh_m: body.lengths.thigh,
            shank_m: body.lengths.shank,
            hip_height_m: body.lengths.rest_height + body.lengths.left_hip.y
                - planner.style.drop_m
                - planner.style.sag_m,
            shape: body.foot,
        };
        let stances = &stances[side as usize];
        FootTrack::stepping(leg, planner.path, planner.style, planner.terrain, stances, times)
    })
}

/// Everything that a frame is made from; the tracks have one entry for each of `times`.
#[derive(Clone, Copy)]
struct Tracks<'a> {
    request: &'a MotionRequest,
    style: &'a Style,
    path: &'a RootPath,
    jumps: &'a [Jump],
    feet: &'a [FootTrack; 2],
    pelvis: &'a PelvisTrack,
    times: &'a [f32],
}

impl Tracks<'_> {
    fn pose(&self, i: usize) -> Pose {
        let Self { request, style, path, jumps, feet, pelvis, times } = *self;
        let time = times[i];
        let mut local = vec![Quat::IDENTITY; humanoid::JOINTS];
        let rotation = pelvis.rotations[i];
        local[0] = rotation;
        let legs = [
            [humanoid::LEFT_UP_LEG, humanoid::LEFT_LEG, humanoid::LEFT_FOOT, humanoid::LEFT_TOE],
            [humanoid::RIGHT_UP_LEG, humanoid::RIGHT_LEG, humanoid::RIGHT_FOOT, humanoid::RIGHT_TOE],
        ];
        for (side, joints) in legs.into_iter().enumerate() {
            let [thigh, shank] = pelvis.legs[i][side];
            let foot = feet[side].poses[i];
            let chain = [rotation, thigh, shank, foot.foot, foot.toe];
            for (k, joint) in joints.into_iter().enumerate() {
                local[joint.0] = (chain[k].inverse() * chain[k + 1]).normalize();
            }
        }
        let effort = path.effort(time);
        let fold: f32 = jumps.iter().map(|jump| jump.fold(time)).sum();
        let raise: f32 = jumps.iter().map(|jump| jump.arm_raise(time)).sum();
        // The left arm goes forward with the right leg; hanging arms rest slightly in front of the body.
        let swing = [-1.0, 1.0].map(|sign| 0.03 + raise + sign * style.arm_gain * pelvis.lead_m[i]);
        let elbow = swing.map(|s| {
            let carried = 0.18 + (style.elbow - 0.18) * effort;
            carried + 0.45 * ((s * 2.0).tanh() + 1.0) * 0.5 * (effort + 0.4 * raise.abs())
        });
        let bank = (path.speed * effort).powi(2) * path.curvature / crate::jump::GRAVITY;
        UpperBody {
            pelvis_yaw: pelvis.yaw[i],
            pelvis_roll: pelvis.roll[i],
            lean: 0.7 * style.lean * effort + 0.55 * fold,
            bank: bank.clamp(-0.25, 0.25),
            arm_swing: swing,
            elbow,
            breath: 0.012 * (std::f32::consts::TAU * 0.25 * time + 3.0 * noise(request.seed, 41, 0)).sin(),
        }
        .write(&mut local);
        Pose { root_position: pelvis.positions[i], local_rotations: local.into() }
    }

    fn gait(&self, i: usize) -> Gait {
        let Self { request, style, path, jumps, feet, pelvis, times } = *self;
        let time = times[i];
        if request.kind == MotionKind::Stand {
            return Gait::Stand;
        }
        if request.kind == MotionKind::Jump {
            return if jumps.iter().any(|jump| time >= jump.bottom_s() && time <= jump.landed_s()) {
                Gait::Jump
            } else if pelvis.height[i] < -CROUCH_DEPTH * request.body_height_m {
                Gait::Crouch
            } else {
                Gait::Stand
            };
        }
        let both_down = feet[0].planted[i] && feet[1].planted[i];
        if both_down && stillness(path.effort(time)) > 0.5 {
            Gait::Stand
        } else if style.ballistic {
            Gait::Jog
        } else {
            Gait::Walk
        }
    }
}

/// Pelvis below standing from which a stand is a crouch, share of body height.
const CROUCH_DEPTH: f32 = 0.06;
