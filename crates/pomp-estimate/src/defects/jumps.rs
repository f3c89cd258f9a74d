//! Jumps and spikes: a spike, which returns, is interpolated; a jump of the whole body, which does not, refuses the clip.

use super::defect::{Defect, FASTEST_M_S};
use super::track::JointTracks;
use pomp_motion::SourceMotion;
use pomp_motion::glam::Vec3;

/// Longest spike that is repaired, frames.
const LONGEST: usize = 3;
/// Largest share of repaired frames; a motion with more is refused. A few are always repaired.
const MOST: f32 = 0.02;
const FEW: usize = 3;

pub(super) fn repaired(
    mut motion: SourceMotion,
    tracks: &JointTracks,
    defects: &mut Vec<Defect>,
) -> Result<SourceMotion, String> {
    let name = |joint: usize| motion.skeleton.joints()[joint].name.clone();
    let mut spikes: Vec<[usize; 2]> = Vec::new();
    let mut frame = 1;
    while frame < tracks.frames() {
        let jumping = tracks.faster_than(FASTEST_M_S, frame - 1, frame);
        let Some(&joint) = jumping.first() else {
            frame += 1;
            continue;
        };
        let back = (frame + 1..(frame + 1 + LONGEST).min(tracks.frames())).find(|&after| {
            tracks.speed(frame - 1, after) <= FASTEST_M_S && tracks.speed(after - 1, after) > FASTEST_M_S
        });
        let Some(after) = back else {
            if joint == 0 {
                return Err(format!(
                    "between frames {} and {frame} ({:.2} s) joint \"{}\" moves at {:.0} m/s and does not come back within \
                     {LONGEST} frames; no body moves faster than {FASTEST_M_S} m/s: cut the clip there or repair it",
                    frame - 1,
                    tracks.seconds(frame),
                    name(joint),
                    tracks.speed(frame - 1, frame),
                ));
            }
            let first = frame;
            while frame < tracks.frames() && tracks.speed(frame - 1, frame) > FASTEST_M_S {
                frame += 1;
            }
            defects.push(Defect::Wild {
                frames: [first, frame - 1],
                time_s: tracks.seconds(first),
                joint: name(joint),
                speed_m_s: (first..frame).map(|f| tracks.speed(f - 1, f)).fold(0.0, f32::max),
            });
            continue;
        };
        let frames = [frame, after - 1];
        let between = [frame - 1, after];
        defects.push(Defect::Spike {
            frames,
            time_s: tracks.seconds(frame),
            joint: name(joint),
            others: jumping.len() - 1,
            distance_m: (frame..after).map(|f| tracks.distance_from_between(f, between)).fold(0.0, f32::max),
        });
        spikes.push(frames);
        frame = after + 1;
    }
    let off: usize = spikes.iter().map(|[first, last]| last - first + 1).sum();
    if off > FEW && off as f32 > MOST * tracks.frames() as f32 {
        return Err(format!(
            "{off} of {} frames leave the motion faster than {FASTEST_M_S} m/s, the first is frame {}; so many are not repaired: \
             check the file's unit and frame rate, or clean it",
            tracks.frames(),
            spikes[0][0]
        ));
    }
    for [first, last] in spikes {
        interpolate(&mut motion, first - 1, last + 1);
    }
    Ok(motion)
}

/// Interpolates the frames between two others.
fn interpolate(motion: &mut SourceMotion, before: usize, after: usize) {
    for frame in before + 1..after {
        let share = (frame - before) as f32 / (after - before) as f32;
        motion.poses[frame] = motion.poses[before].lerp(&motion.poses[after], share);
        if let Some(translations) = &mut motion.joint_translations {
            let [from, to] = [before, after].map(|f| translations[f].to_vec());
            let between: Vec<Vec3> = from.iter().zip(&to).map(|(a, b)| a.lerp(*b, share)).collect();
            translations[frame].copy_from_slice(&between);
        }
    }
}
