use crate::figure::{Figure, Placed};
use crate::follow::Follow;
use crate::lengths::{LEGS, Lengths};
use crate::plant::FootTrack;
use crate::report::{Follower, PlantedFeet, ShortJoint};
use crate::solve::{Solved, Solver};
use crate::{OntoReport, OntoSkeleton, RetargetOntoError, TargetSkeleton};
use glam::{Quat, Vec3};
use pomp_motion::retarget::{reflected, sole_heights};
use pomp_motion::{Clip, FrameTable, GlobalPose, JointIndex, Pose, Skeleton, SourceMotion, humanoid};

/// A joint of fewer than three rotation channels loses nothing worth a word below this, degrees.
const LOST_DEGREES: f32 = 0.5;
/// An ankle farther from its target than this share of the leg is out of reach.
const OUT_OF_REACH: f32 = 0.012;

/// How a clip is put on a skeleton.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OntoOptions {
    /// Whether planted heels and toes are held in place by inverse kinematics, also where they slide in the clip. Default false:
    /// ankles follow the clip's, and slide as far as they do.
    pub plant_feet: bool,
    /// Whether the rotations of the joints are copied and nothing else is done: no inverse kinematics, no correction of spine,
    /// collar bones and arms. The pelvis follows the clip's. Default false; it is what the rules are measured against.
    pub copied_rotations: bool,
}

/// Puts a clip of the project's topology on a target. `contacts` are left heel, left toe, right heel and right toe per frame;
/// the frame rate stays.
///
/// # Errors
/// [`RetargetOntoError::OtherTopology`] for a clip that is not on the project skeleton, or contacts of another length;
/// [`RetargetOntoError::Format`] for a target with rotation channels that state no rotation.
pub fn onto_skeleton(
    clip: &Clip,
    contacts: &[[bool; 4]],
    target: &TargetSkeleton,
    options: OntoOptions,
) -> Result<OntoSkeleton, RetargetOntoError> {
    check_topology(clip, contacts)?;
    let figure = &target.figure;
    let from = Lengths::of(|role| Some(rest_positions(&clip.skeleton)[role.0]));
    let (from_leg, to_leg) =
        (from.leg.expect("the project has legs"), target.lengths.leg.expect("a rig map that fits has legs"));
    let scale = to_leg / from_leg;
    let rise = target.floor.ankle_height_m - scale * sole_heights(&clip.skeleton).0;
    let solver = Solver::new(figure, &from, &target.lengths, scale, rise);
    let poses = clip.global_poses();
    let solve = |pose: &GlobalPose, shifts| {
        if options.copied_rotations { solver.copied(pose) } else { solver.solve(pose, shifts) }
    };
    let mut solved: Vec<Solved> = poses.iter().map(|pose| solve(pose, [Vec3::ZERO; 2])).collect();
    let mut shifts = vec![[Vec3::ZERO; 2]; poses.len()];
    if options.plant_feet {
        for side in [0, 1] {
            let track = foot_track(clip, &poses, contacts, &solver, &solved, side);
            let moved = track.shifts(to_leg, clip.frame_rate_hz);
            shifts.iter_mut().zip(moved).for_each(|(both, shift)| both[side] = shift);
        }
        solved = poses.iter().zip(&shifts).map(|(pose, &shifts)| solve(pose, shifts)).collect();
    }
    let Written { motion, placed, short_joints } = write(clip, target, &solved)?;
    let mut warnings = target.warnings.clone();
    warnings.extend(target.inference.iter().flat_map(|inference| inference.warnings.iter().cloned()));
    warnings.extend(out_of_reach(&solver, &poses, &shifts, &placed, to_leg));
    let names = |wanted: &dyn Fn(&Follow) -> bool| -> Vec<String> {
        let joints = motion.skeleton.joints().iter().zip(&figure.follow);
        joints.filter(|(_, follow)| wanted(follow)).map(|(joint, _)| joint.name.clone()).collect()
    };
    let report = OntoReport {
        rig: target.rig.clone(),
        source_frame: target.source_frame.clone(),
        scale,
        ankle_height_m: target.floor.ankle_height_m,
        ankle_height_reason: target.floor.reason.to_owned(),
        carrier: motion.skeleton.joints()[target.carrier].name.clone(),
        missing: target.joints.missing.clone(),
        followers: followers(&motion, figure),
        at_rest: names(&|follow| *follow == Follow::Rest),
        short_joints,
        planted_feet: planted_feet(clip, &poses, contacts, figure, &placed, scale),
        warnings,
    };
    let motion = if target.mirrored { reflected(&motion) } else { motion };
    Ok(OntoSkeleton {
        motion,
        report,
        file: target.file.clone(),
        carrier: target.carrier,
        mirrored: target.mirrored,
    })
}

fn check_topology(clip: &Clip, contacts: &[[bool; 4]]) -> Result<(), RetargetOntoError> {
    let other = |reason: String| RetargetOntoError::OtherTopology { clip: clip.name.clone(), reason };
    let project = Skeleton::humanoid(1.0);
    let same = clip.skeleton.len() == project.len()
        && clip
            .skeleton
            .joints()
            .iter()
            .zip(project.joints())
            .all(|(own, wanted)| (&own.name, own.parent) == (&wanted.name, wanted.parent));
    if !same {
        return Err(other(format!(
            "it has {} joints, from {} to {}; retarget it onto the project skeleton first",
            clip.skeleton.len(),
            clip.skeleton.joints()[0].name,
            clip.skeleton.joints()[clip.skeleton.len() - 1].name
        )));
    }
    if contacts.len() != clip.frames() {
        return Err(other(format!("it has {} frames, and contacts for {}", clip.frames(), contacts.len())));
    }
    Ok(())
}

fn rest_positions(skeleton: &Skeleton) -> Vec<Vec3> {
    skeleton.forward_kinematics(&Pose::rest(skeleton)).positions.into_vec()
}

/// Ankle and toe of one side, as they are on the target.
fn foot_track(
    clip: &Clip,
    poses: &[GlobalPose],
    contacts: &[[bool; 4]],
    solver: &Solver<'_>,
    solved: &[Solved],
    side: usize,
) -> FootTrack {
    let ankle = JointIndex(LEGS[side].0 + 2);
    let toe = JointIndex(ankle.0 + 1);
    let figure = solver.figure;
    // A flat foot has its toe joint this much below its ankle, on the target and in the clip.
    let t_pose = figure.t_pose();
    let ankle_at = |placed: &Placed| figure.at(placed, ankle).unwrap_or_default();
    let toe_at = |placed: &Placed| figure.at(placed, toe).unwrap_or_else(|| ankle_at(placed));
    let target_drop = ankle_at(&t_pose).y - toe_at(&t_pose).y;
    let clip_drop =
        if figure.joint_of[toe.0].is_some() { -clip.skeleton.joints()[toe.0].offset.y } else { 0.0 };
    let clip_toe = if figure.joint_of[toe.0].is_some() { toe } else { ankle };
    let mut track = FootTrack { points: Vec::new(), heights: Vec::new(), planted: Vec::new() };
    for ((pose, solved), contact) in poses.iter().zip(solved).zip(contacts) {
        let placed = figure.place(solved.pelvis, &solved.given);
        track.points.push([ankle_at(&placed), toe_at(&placed)]);
        let toe_height = solver.in_space(pose.positions[clip_toe.0] + Vec3::Y * clip_drop).y - target_drop;
        track.heights.push([solver.in_space(pose.positions[ankle.0]).y, toe_height]);
        track.planted.push([contact[2 * side], contact[2 * side + 1]]);
    }
    track
}

struct Written {
    /// Right-handed, file unit and axes.
    motion: SourceMotion,
    /// Every frame as it is written, metres, Y up.
    placed: Vec<Placed>,
    short_joints: Vec<ShortJoint>,
}

/// Local rotations as the target's channels can state them, and translations that put the pelvis in its place.
fn write(clip: &Clip, target: &TargetSkeleton, solved: &[Solved]) -> Result<Written, RetargetOntoError> {
    let figure = &target.figure;
    let joints = figure.parents.len();
    let metres = target.source_frame.unit.metres();
    let own = if target.mirrored { reflected(target.file.motion()) } else { target.file.motion().clone() };
    let channels = |joint: usize| target.file.rotation_channels(joint);
    let short: Vec<usize> = (0..joints).filter(|&joint| channels(joint) < 3).collect();
    let mut lost = vec![0.0_f64; joints];
    let mut poses = Vec::with_capacity(solved.len());
    let mut placed = Vec::with_capacity(solved.len());
    let mut table = FrameTable::with_columns(joints);
    for Solved { given, pelvis } in solved {
        let mut local = vec![Quat::IDENTITY; joints];
        let mut world: Vec<Quat> = Vec::with_capacity(joints);
        let mut positions: Vec<Vec3> = Vec::with_capacity(joints);
        for joint in 0..joints {
            let (at, parent) = figure.parents[joint]
                .map_or((Vec3::ZERO, figure.world_from_file), |p| (positions[p.0], world[p.0]));
            let wanted = (parent.inverse() * figure.rotation(joint, given, parent)).normalize();
            // A mirror image writes the reflected rotation, whose axes are the same but for signs.
            let stated = target.file.stated_rotation(joint, wanted)?;
            lost[joint] += f64::from(wanted.angle_between(stated).to_degrees());
            local[joint] = stated;
            positions.push(at + parent * target.written_offsets[joint]);
            world.push((parent * stated).normalize());
        }
        let shift = *pelvis - positions[figure.pelvis()];
        for joint in (0..joints).filter(|&joint| is_carried(figure, target.carrier, joint)) {
            positions[joint] += shift;
        }
        let above = figure.parents[target.carrier].map_or(figure.world_from_file, |parent| world[parent.0]);
        let mut translations: Vec<Vec3> =
            target.written_offsets.iter().map(|&offset| offset / metres).collect();
        translations[target.carrier] += above.inverse() * shift / metres;
        poses.push(Pose { root_position: translations[0], local_rotations: local.into() });
        table.push(&translations);
        placed.push(Placed { positions, rotations: world });
    }
    let joint_translations = (target.carrier > 0 || own.joint_translations.is_some()).then_some(table);
    let frames = solved.len().max(1) as f64;
    let short_joints = short
        .into_iter()
        .map(|joint| ShortJoint {
            joint: own.skeleton.joints()[joint].name.clone(),
            channels: channels(joint),
            lost_degrees: (lost[joint] / frames) as f32,
        })
        .filter(|joint| joint.lost_degrees > LOST_DEGREES)
        .collect();
    let motion = SourceMotion {
        name: clip.name.clone(),
        frame_rate_hz: clip.frame_rate_hz,
        poses,
        joint_translations,
        ..own
    };
    motion.validate()?;
    Ok(Written { motion, placed, short_joints })
}

fn is_carried(figure: &Figure, carrier: usize, joint: usize) -> bool {
    std::iter::successors(Some(joint), |&j| figure.parents[j].map(|parent| parent.0)).any(|j| j == carrier)
}

fn followers(motion: &SourceMotion, figure: &Figure) -> Vec<Follower> {
    let joints = motion.skeleton.joints().iter().zip(&figure.follow);
    joints
        .filter_map(|(joint, follow)| {
            let (shares, share) = match follow {
                Follow::Bend { share, .. } => ("bend", *share),
                Follow::Twist { share, .. } => ("twist", *share),
                Follow::Pelvis(_) => ("pelvis", 1.0),
                Follow::Role(_) | Follow::Rest => return None,
            };
            Some(Follower { joint: joint.name.clone(), shares, share })
        })
        .collect()
}

fn out_of_reach(
    solver: &Solver<'_>,
    poses: &[GlobalPose],
    shifts: &[[Vec3; 2]],
    placed: &[Placed],
    leg: f32,
) -> Option<String> {
    let missed = poses.iter().zip(shifts).zip(placed).filter(|((pose, shifts), placed)| {
        LEGS.into_iter().zip(*shifts).any(|(hip, shift)| {
            let ankle = JointIndex(hip.0 + 2);
            let wanted = solver.in_space(pose.positions[ankle.0]) + *shift;
            solver.figure.at(placed, ankle).is_some_and(|at| at.distance(wanted) > OUT_OF_REACH * leg)
        })
    });
    let missed = missed.count();
    (missed > 0).then(|| {
        format!(
            "in {missed} of {} frames an ankle is out of reach by more than {:.0} cm",
            poses.len(),
            100.0 * OUT_OF_REACH * leg
        )
    })
}

/// Speeds along the ground of ankles and toe joints while they are planted.
fn planted_feet(
    clip: &Clip,
    poses: &[GlobalPose],
    contacts: &[[bool; 4]],
    figure: &Figure,
    placed: &[Placed],
    scale: f32,
) -> PlantedFeet {
    const POINTS: [JointIndex; 4] =
        [humanoid::LEFT_FOOT, humanoid::LEFT_TOE, humanoid::RIGHT_FOOT, humanoid::RIGHT_TOE];
    let along = |from: Vec3, to: Vec3| glam::Vec2::new(to.x - from.x, to.z - from.z).length();
    let (mut in_clip, mut on_target, mut steps, mut planted) = (0.0_f64, 0.0_f64, 0_usize, 0_usize);
    for (point, role) in POINTS.into_iter().enumerate() {
        planted += contacts.iter().filter(|contact| contact[point]).count();
        for frame in 1..poses.len() {
            if !(contacts[frame - 1][point] && contacts[frame][point]) {
                continue;
            }
            let (before, now) = (&placed[frame - 1], &placed[frame]);
            let Some((before, now)) = figure.at(before, role).zip(figure.at(now, role)) else { continue };
            on_target += f64::from(along(before, now) / scale);
            in_clip += f64::from(along(poses[frame - 1].positions[role.0], poses[frame].positions[role.0]));
            steps += 1;
        }
    }
    let per_second = f64::from(clip.frame_rate_hz) / steps.max(1) as f64;
    PlantedFeet {
        clip_m_s: (in_clip * per_second) as f32,
        target_m_s: (on_target * per_second) as f32,
        planted: planted as f32 / (4 * poses.len()) as f32,
    }
}
