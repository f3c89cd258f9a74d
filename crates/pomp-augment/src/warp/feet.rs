//! Paths of the feet of a warped clip from foothold to foothold.

use glam::{Quat, Vec2, Vec3};
use pomp_estimate::terrain_fit::Stance;
use pomp_motion::legs::Leg;
use pomp_motion::{GlobalPose, smoothstep};
use pomp_terrain::HeightMap;

/// Frames of the transition from one foothold to the next where no swing lies between them.
const LEAST_BLEND_FRAMES: usize = 8;
/// Largest lean of a foot with the ground, radians: 25 degrees.
const MOST_LEAN: f32 = 0.436;
/// Half width over which the sideways slope of the ground is measured, metres.
const HALF_WIDTH_M: f32 = 0.04;
/// Assumed length of a swing beyond the end of the clip, frames.
const HALF_SWING_FRAMES: i64 = 15;
/// Largest speed with which a foot is lifted over an obstacle, metres per frame.
const FASTEST_LIFT_M: f32 = 0.04;

/// A rigid motion that carries the level ground of one foothold onto the relief: turned about the middle of the
/// footprint and moved up or down.
#[derive(Clone, Copy, Debug)]
pub(super) struct Footing {
    from: Vec3,
    to: Vec3,
    turn: Quat,
}

impl Footing {
    /// The ground under a stance; both ends of the sole come to lie on it.
    pub fn on(map: &HeightMap, stance: &Stance, level_m: f32) -> Self {
        let at = |place: Vec2| Vec3::new(place.x, map.height(place.x, place.y), place.y);
        let (heel, toe, middle) = (stance.heel, stance.toe, stance.centre());
        let ahead = (toe - heel).normalize_or(Vec2::Y);
        let beside = ahead.perp() * HALF_WIDTH_M;
        let along = at(toe) - at(heel);
        let along = if along.length() > 0.05 { along } else { Vec3::new(ahead.x, 0.0, ahead.y) };
        let across = at(middle + beside) - at(middle - beside);
        let normal = along.cross(across).normalize_or(Vec3::Y);
        let normal = if normal.y < 0.0 { -normal } else { normal };
        let turn = Quat::from_rotation_arc(Vec3::Y, normal);
        let (axis, angle) = turn.to_axis_angle();
        let turn = Quat::from_axis_angle(axis, angle.min(MOST_LEAN));
        let height = 0.5 * (map.height(heel.x, heel.y) + map.height(toe.x, toe.y));
        Self { from: Vec3::new(middle.x, level_m, middle.y), to: Vec3::new(middle.x, height, middle.y), turn }
    }

    fn carries(&self, point: Vec3) -> Vec3 {
        self.to + self.turn * (point - self.from)
    }
}

/// One foot of the warped clip.
pub(super) struct FootPath {
    /// Ankle positions, world, metres.
    pub ankles: Vec<Vec3>,
    /// Rotation applied to the foot, on the left.
    pub turns: Vec<Quat>,
    /// Height of the ground under the foot above the clip's ground, metres.
    pub raised_m: Vec<f32>,
}

/// Heights of ankle, toe joint above the sole and length of the toes, metres.
#[derive(Clone, Copy)]
pub(super) struct Sole {
    pub ankle_m: f32,
    pub toe_m: f32,
    pub toes_m: f32,
}

impl FootPath {
    /// Carries a foot over the relief. `stances` are those of this foot, in order, at least one.
    pub fn over(
        map: &HeightMap,
        level_m: f32,
        poses: &[GlobalPose],
        leg: Leg,
        sole: Sole,
        stances: &[&Stance],
        clearance_m: f32,
    ) -> Self {
        let footings: Vec<Footing> = stances.iter().map(|stance| Footing::on(map, stance, level_m)).collect();
        let frames = poses.len();
        let (mut ankles, mut turns, mut raised_m) =
            (Vec::with_capacity(frames), Vec::with_capacity(frames), Vec::with_capacity(frames));
        let blends = blends(stances, frames);
        let mut next = 0;
        for (frame, pose) in poses.iter().enumerate() {
            while next < blends.len() && frame >= blends[next].1 {
                next += 1;
            }
            let share = blends.get(next).map_or(0.0, |&(start, end)| {
                smoothstep((frame as f32 - start as f32) / (end - start) as f32)
            });
            let (here, there) = (footings[next], footings[(next + 1).min(footings.len() - 1)]);
            let ankle = pose.positions[leg[2].0];
            let moved = here.carries(ankle).lerp(there.carries(ankle), share);
            ankles.push(moved);
            turns.push(here.turn.slerp(there.turn, share));
            raised_m.push(moved.y - ankle.y);
        }
        let mut path = Self { ankles, turns, raised_m };
        let (first, last) = (stances[0].frames.start, stances[stances.len() - 1].frames.end);
        let mut swings: Vec<[i64; 2]> =
            blends.iter().map(|&(start, end)| [start as i64, end as i64]).collect();
        swings.push([-HALF_SWING_FRAMES, first as i64]);
        swings.push([last as i64 - 1, frames as i64 + HALF_SWING_FRAMES]);
        path.clear(map, level_m, poses, leg, sole, &swings, clearance_m);
        path
    }

    /// Lifts the foot where its swing would intersect the relief.
    #[allow(clippy::too_many_arguments, reason = "the foot, its clip, its ground and its swings")]
    fn clear(
        &mut self,
        map: &HeightMap,
        level_m: f32,
        poses: &[GlobalPose],
        leg: Leg,
        sole: Sole,
        swings: &[[i64; 2]],
        clearance_m: f32,
    ) {
        for &[start, end] in swings {
            let inside = start.max(0)..(end + 1).min(poses.len() as i64);
            let mut lifts = vec![0.0f32; inside.clone().count()];
            for at in (start + 1).max(0)..end.min(poses.len() as i64) {
                let frame = at as usize;
                let pose = &poses[frame];
                let before = soles(pose, leg, sole);
                let turn = self.turns[frame];
                let missing = before
                    .map(|point| {
                        let own = point.y - level_m;
                        let p = self.ankles[frame] + turn * (point - pose.positions[leg[2].0]);
                        map.height(p.x, p.z) + own.min(clearance_m) - p.y
                    })
                    .into_iter()
                    .fold(0.0f32, f32::max);
                let missing = missing.min(FASTEST_LIFT_M * (at - start).min(end - at) as f32);
                if missing <= 0.0 {
                    continue;
                }
                for (other, lift) in inside.clone().zip(&mut lifts) {
                    let share = if other <= at {
                        (other - start) as f32 / (at - start) as f32
                    } else {
                        (end - other) as f32 / (end - at) as f32
                    };
                    *lift = lift.max(missing * smoothstep(share));
                }
            }
            for (at, lift) in inside.zip(lifts) {
                self.ankles[at as usize].y += lift;
            }
        }
    }
}

/// Lowest points of a foot: below the ankle, below the toe joint, below the tip of the toes.
pub(super) fn soles(pose: &GlobalPose, [_, _, ankle, toe]: Leg, sole: Sole) -> [Vec3; 3] {
    let (foot, toes) = (pose.rotations[ankle.0], pose.rotations[toe.0]);
    [
        pose.positions[ankle.0] - foot * (Vec3::Y * sole.ankle_m),
        pose.positions[toe.0] - toes * (Vec3::Y * sole.toe_m),
        pose.positions[toe.0] + toes * Vec3::new(0.0, -sole.toe_m, sole.toes_m),
    ]
}

/// First and last frame of the transition from each stance to the next: the swing, or a few frames where there is none.
fn blends(stances: &[&Stance], frames: usize) -> Vec<(usize, usize)> {
    stances
        .windows(2)
        .map(|pair| {
            let (last, first) = (pair[0].frames.end - 1, pair[1].frames.start);
            let wanted = LEAST_BLEND_FRAMES.saturating_sub(first.saturating_sub(last));
            let start = last.saturating_sub(wanted.div_ceil(2)).max(pair[0].frames.start);
            let end = (first + wanted / 2).min(pair[1].frames.end - 1).max(start + 1).min(frames);
            (start, end)
        })
        .collect()
}
