//! Clips in few bytes: 30 frames a second, rotation vectors, root motion from frame to frame.

use super::clip::{ClipRoot, MatchingClip};
use glam::{Quat, Vec2, Vec3, Vec4};
use pomp_motion::rotation::{exp, from_yaw, log};
use pomp_motion::{FrameTable, Gait};

/// Frames of 60 Hz per stored frame.
const KEPT_EVERY: usize = 2;
/// Values of the root per frame: height over its rest, displacement (x, z) and turn until the next frame.
pub(super) const ROOT: usize = 4;

/// Stored frames, row-major. What moves is stored as differences, so that half precision is enough.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Stored {
    /// Rotation vectors of the local rotations `[T, 3J]`.
    pub rotations: Vec<f32>,
    /// `[T, ROOT]`; the last frame of a clip stays.
    pub roots: Vec<f32>,
    /// Gait weights `[T, G]`.
    pub gaits: Vec<f32>,
    /// Phase codes of the clips, then those of their mirror images `[T, 4C]`; empty when phases are not matched.
    pub phases: Vec<f32>,
}

impl Stored {
    /// How many frames are stored of so many at 60 Hz.
    pub fn frames_of(frames: usize) -> usize {
        frames.div_ceil(KEPT_EVERY)
    }

    /// Appends a clip on a skeleton whose pelvis rests at `rest_height_m`.
    pub fn push(&mut self, clip: &MatchingClip, rest_height_m: f32) {
        let frames: Vec<usize> = (0..clip.frames()).step_by(KEPT_EVERY).collect();
        for (index, &frame) in frames.iter().enumerate() {
            let vectors = clip.rotations_local[frame].iter().flat_map(|rotation| log(*rotation).to_array());
            self.rotations.extend(vectors);
            let root = &clip.roots[frame];
            let next = frames.get(index + 1).map_or(root, |next| &clip.roots[*next]);
            let (displacement, turn) = root.to_root(next.position, next.yaw);
            self.roots.extend([root.height_m - rest_height_m, displacement.x, displacement.y, turn]);
            self.gaits.extend(clip.gaits[frame]);
            for codes in [&clip.phase_codes, &clip.mirrored_codes] {
                self.phases.extend(codes.get(frame).into_iter().flatten());
            }
        }
    }

    /// The clip of `frames` stored frames from number `first` on, at 60 Hz.
    pub fn clip(&self, first: usize, frames: usize, joints: usize, rest_height_m: f32) -> MatchingClip {
        let rotations: Vec<Vec<Quat>> = self.rotations[3 * joints * first..3 * joints * (first + frames)]
            .chunks_exact(3 * joints)
            .map(|row| row.chunks_exact(3).map(|vector| exp(Vec3::from_slice(vector))).collect())
            .collect();
        let roots = roots(&self.roots[ROOT * first..ROOT * (first + frames)], rest_height_m);
        let gaits: Vec<[f32; Gait::COUNT]> = self.gaits[Gait::COUNT * first..Gait::COUNT * (first + frames)]
            .chunks_exact(Gait::COUNT)
            .map(|row| std::array::from_fn(|gait| row[gait]))
            .collect();
        let mut clip = MatchingClip {
            rotations_local: FrameTable::with_columns(joints),
            roots: Vec::with_capacity(2 * frames),
            gaits: Vec::with_capacity(2 * frames),
            usable: vec![true; (2 * frames).saturating_sub(1)],
            phase_codes: Vec::new(),
            mirrored_codes: Vec::new(),
        };
        if !self.phases.is_empty() {
            let width = self.phases.len() / (self.roots.len() / ROOT);
            let rows = &self.phases[width * first..width * (first + frames)];
            [clip.phase_codes, clip.mirrored_codes] = codes(rows, width);
        }
        for frame in 0..frames {
            clip.rotations_local.push(&rotations[frame]);
            clip.roots.push(roots[frame]);
            clip.gaits.push(gaits[frame]);
            if frame + 1 < frames {
                // The frames around the gap; at the ends the nearest ones again.
                let [a, b, c, d] = [frame.saturating_sub(1), frame, frame + 1, (frame + 2).min(frames - 1)];
                let between =
                    (0..joints).map(|joint| rotation_between([a, b, c, d].map(|at| rotations[at][joint])));
                clip.rotations_local.push(&between.collect::<Vec<_>>());
                clip.roots.push(root_between([a, b, c, d].map(|at| roots[at])));
                clip.gaits.push(std::array::from_fn(|gait| 0.5 * (gaits[b][gait] + gaits[c][gait])));
            }
        }
        clip
    }
}

/// Roots of a clip from its stored rows, which begins at the origin, facing +Z.
fn roots(rows: &[f32], rest_height_m: f32) -> Vec<ClipRoot> {
    let (mut position, mut yaw) = (Vec2::ZERO, 0.0);
    rows.chunks_exact(ROOT)
        .map(|row| {
            let root = ClipRoot { position, yaw, height_m: rest_height_m + row[0] };
            let way = from_yaw(yaw) * Vec3::new(row[1], 0.0, row[2]);
            position += Vec2::new(way.x, way.z);
            yaw += row[3];
            root
        })
        .collect()
}

/// Phase codes at 60 Hz from stored rows: those of a clip, and of its mirror image.
fn codes(rows: &[f32], width: usize) -> [Vec<Vec<f32>>; 2] {
    let rows: Vec<&[f32]> = rows.chunks_exact(width).collect();
    let row = |frame: usize| rows[frame.min(rows.len() - 1)];
    let frames = 0..(2 * rows.len()).saturating_sub(1);
    let at = |frame: usize| -> Vec<f32> {
        let b = frame / 2;
        if frame.is_multiple_of(2) {
            return row(b).to_vec();
        }
        let around = [row(b.saturating_sub(1)), row(b), row(b + 1), row(b + 2)];
        (0..width).map(|value| between(around.map(|row| row[value]))).collect()
    };
    let halves = frames.map(|frame| {
        let mut own = at(frame);
        let image = own.split_off(width / 2);
        (own, image)
    });
    let (own, images) = halves.unzip();
    [own, images]
}

/// Half way between the middle two of four values: the Catmull-Rom spline through them.
fn between<T>([a, b, c, d]: [T; 4]) -> T
where
    T: std::ops::Add<Output = T> + std::ops::Sub<Output = T> + std::ops::Mul<f32, Output = T>,
{
    (b + c) * 0.5625 - (a + d) * 0.0625
}

fn rotation_between(rotations: [Quat; 4]) -> Quat {
    let near = rotations[1];
    let same_side = rotations.map(|q| Vec4::from(if q.dot(near) < 0.0 { -q } else { q }));
    Quat::from_vec4(between(same_side)).normalize()
}

fn root_between(roots: [ClipRoot; 4]) -> ClipRoot {
    ClipRoot {
        position: between(roots.map(|root| root.position)),
        yaw: between(roots.map(|root| root.yaw)),
        height_m: between(roots.map(|root| root.height_m)),
    }
}
