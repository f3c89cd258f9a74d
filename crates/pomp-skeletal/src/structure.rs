//! What a skeleton is to the networks: its tree, its axes, and the means that features are told against.

use crate::SkeletalError;
use crate::kinematics::FEATURES;
use crate::seen::Seen;
use crate::tree::{Chain, SkeletalTree, chains};
use glam::{Quat, Vec3, Vec4};
use pomp_motion::retarget::UpAxis;
use pomp_motion::rotation::{from_yaw, yaw_of_direction};
use pomp_motion::{GlobalPose, JointIndex, Skeleton, SourceMotion};
use serde::{Deserialize, Serialize};

/// Least deviation that a feature is divided by: what hardly moves is not blown up. About 3° of a rotation.
const LEAST_DEVIATION: f32 = 0.03;
/// What an offset over height, less its mean, is divided by.
const OFFSET_SCALE: f32 = 0.05;
/// Most frames of a clip that axes and limbs are found from.
const LOOKED_AT: usize = 200;
/// Least height of the root above the feet, share of the length of the legs, in the mean over all frames.
const STANDING: f32 = 0.35;
/// Least share of the way that goes forwards, in the sum over all frames.
const AHEAD: f32 = 0.2;
/// Shorter bones have no direction worth a comparison, heights, or legs where a leg begins.
const SHORT: f32 = 0.02;
/// The bones of bodies with the same joint frames and rest pose differ by less, radians.
const MOST_TURNED: f32 = 0.6;
/// A joint may move by this share of the height in its parent without being said to move.
const STILL: f32 = 2e-3;

/// A skeleton that networks are for, of bodies of any proportions.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Structure {
    /// The skeleton of the files, and which of its joints are those below.
    pub seen: Seen,
    /// Names of the joints that the networks see, parents first.
    pub joints: Vec<String>,
    /// Their parents among them.
    pub parents: Vec<Option<usize>>,
    /// Axis of its files that points to the sky.
    pub up: UpAxis,
    /// Where the body faces, in the frame of the root joint.
    pub forward: Vec3,
    /// Ends of the left and the right leg.
    pub feet: [usize; 2],
    /// End of the limb that is highest.
    pub head: usize,
    /// Chains of joints ([`chains`]) in the order of the primal skeleton that both structures of a model share.
    pub order: Vec<usize>,
    /// Mean rotation of each joint in its parent, of the root in the heading.
    pub mean_rotations: Vec<Quat>,
    /// Mean offset of each joint over the height, of all bodies.
    pub mean_offsets: Vec<Vec3>,
    /// Mean place of the end of each chain against the root, in its heading, heights.
    pub chain_ends: Vec<Vec3>,
    /// Mean of every feature.
    pub mean: Vec<f32>,
    /// Deviation of every feature.
    pub deviation: Vec<f32>,
}

/// Bone lengths of a body of a structure.
#[derive(Clone, Debug, PartialEq)]
pub struct Body {
    /// From the feet to the root and on to the head along the bones, in the unit of its file.
    pub height: f32,
    /// From the feet to the root alone, share of the height.
    pub legs: f32,
    /// Offset of each joint from its parent over the height; of the root nothing.
    pub offsets: Vec<Vec3>,
}

/// Where a motion goes: per frame the yaw of its heading and the place of the root along the ground. Bodies go as far as their legs
/// are long.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Path {
    /// Radians, without jumps.
    pub yaw: Vec<f32>,
    /// x and z over the length of the legs; y is 0.
    pub ground: Vec<Vec3>,
}

impl Structure {
    /// Finds legs, head and facing of a skeleton from motions of it, and the means of its features. The motions have the joints alone
    /// that the networks see ([`Seen::reduced`]).
    ///
    /// # Errors
    /// [`SkeletalError::Skeleton`] where legs, head, up or forward cannot be told; as [`Self::body`].
    pub fn find(
        place: &str,
        motions: &[SourceMotion],
        up: UpAxis,
        seen: Seen,
    ) -> Result<Self, SkeletalError> {
        let refuse = |reason: String| SkeletalError::Skeleton { place: place.to_owned(), reason };
        let first = motions.first().ok_or_else(|| refuse("there are no motions".to_owned()))?;
        let joints: Vec<String> = first.skeleton.joints().iter().map(|joint| joint.name.clone()).collect();
        let parents = first.skeleton.joints().iter().map(|joint| joint.parent.map(|p| p.0)).collect();
        let mut found = Self {
            seen,
            mean_rotations: vec![Quat::IDENTITY; joints.len()],
            mean_offsets: vec![Vec3::ZERO; joints.len()],
            joints,
            parents,
            up,
            forward: Vec3::Z,
            feet: [0; 2],
            head: 0,
            order: Vec::new(),
            chain_ends: Vec::new(),
            mean: Vec::new(),
            deviation: Vec::new(),
        };
        found.find_limbs(motions).map_err(refuse)?;
        found.find_forward(motions).map_err(refuse)?;
        found.find_means(motions)?;
        Ok(found)
    }

    /// The skeleton with offsets over the height.
    fn skeleton(&self) -> Skeleton {
        let joints = self.joints.iter().zip(&self.parents).map(|(name, parent)| pomp_motion::Joint {
            name: name.clone(),
            parent: parent.map(JointIndex),
            offset: Vec3::ZERO,
        });
        Skeleton::new(joints.collect()).expect("it was a skeleton's")
    }

    /// Its chains.
    pub fn chains(&self) -> Vec<Chain> {
        chains(&self.skeleton())
    }

    /// Its tree with the nodes of the primal skeleton in the common order.
    pub fn tree(&self) -> SkeletalTree {
        SkeletalTree::new(self.joints.len(), &self.chains(), &self.order)
    }

    /// Joints at the ends of the limbs, in the order of the primal skeleton.
    pub fn end_effectors(&self) -> Vec<usize> {
        let chains = self.chains();
        let is_end = |chain: &&usize| chains.iter().all(|other| other.parent != Some(**chain));
        self.order
            .iter()
            .filter(is_end)
            .map(|&chain| *chains[chain].joints.last().expect("not empty"))
            .collect()
    }

    /// Values of a frame's features.
    pub fn width(&self) -> usize {
        FEATURES * (self.joints.len() + 1)
    }

    /// A joint and all above it.
    fn line(&self, joint: usize) -> Vec<usize> {
        std::iter::successors(Some(joint), |&j| self.parents[j]).collect()
    }

    /// The body of a motion's skeleton; the motion has the joints alone that the networks see.
    ///
    /// # Errors
    /// [`SkeletalError::Clip`] for a joint below the root that moves in its parent, and a body without height.
    pub fn body(&self, motion: &SourceMotion) -> Result<Body, SkeletalError> {
        let refuse = |reason: String| SkeletalError::Clip { clip: motion.name.clone(), reason };
        let mut offsets: Vec<Vec3> = motion.skeleton.joints().iter().map(|joint| joint.offset).collect();
        if let Some(table) = &motion.joint_translations {
            offsets.copy_from_slice(&table[0]);
        }
        offsets[0] = Vec3::ZERO;
        let length = |joint: usize| self.line(joint).iter().map(|&j| offsets[j].length()).sum::<f32>();
        let legs = 0.5 * (length(self.feet[0]) + length(self.feet[1]));
        let height = legs + length(self.head);
        if !(height.is_finite() && legs > 0.0) {
            return Err(refuse("the bones of its legs have no length; give it offsets".to_owned()));
        }
        if let Some(table) = &motion.joint_translations {
            for (frame, row) in table.rows().enumerate() {
                let moves = |joint: &usize| row[*joint].distance(offsets[*joint]) > STILL * height;
                if let Some(joint) = (1..row.len()).find(moves) {
                    return Err(refuse(format!(
                        "joint \"{}\" moves in its parent in frame {frame}; the networks know rotations and the motion of the root \
                         alone: fix the joint, or make it the root",
                        self.joints[joint]
                    )));
                }
            }
        }
        offsets.iter_mut().for_each(|offset| *offset /= height);
        Ok(Body { height, legs: legs / height, offsets })
    }

    /// The first joint whose bone points elsewhere than in the bodies learned: where joint frames are other ones, or the rest pose is.
    pub(crate) fn bone_elsewhere(&self, body: &Body) -> Option<usize> {
        let pairs = body.offsets.iter().zip(&self.mean_offsets);
        pairs.into_iter().position(|(own, mean)| {
            own.length().min(mean.length()) > SHORT && own.angle_between(*mean) > MOST_TURNED
        })
    }

    /// The static features of a body, `[N 3]`: how its offsets differ from the mean.
    pub fn statics(&self, body: &Body) -> Vec<f32> {
        let differences =
            body.offsets.iter().zip(&self.mean_offsets).map(|(own, mean)| (*own - *mean) / OFFSET_SCALE);
        [0.0; 3].into_iter().chain(differences.flat_map(|difference| difference.to_array())).collect()
    }

    /// The world pose of a frame with Y up.
    fn upright(&self, motion: &SourceMotion, frame: usize) -> GlobalPose {
        let turn = self.up.world_from_file();
        let GlobalPose { positions, rotations } = motion.global_pose(frame);
        GlobalPose {
            positions: positions.into_iter().map(|at| turn * at).collect(),
            rotations: rotations.into_iter().map(|q| turn * q).collect(),
        }
    }

    fn heading(&self, root: Quat) -> f32 {
        yaw_of_direction(root * self.forward)
    }

    fn looked_at<'a>(
        &'a self,
        motions: &'a [SourceMotion],
    ) -> impl Iterator<Item = (&'a SourceMotion, GlobalPose)> {
        motions.iter().flat_map(move |motion| {
            let stride = motion.frames().div_ceil(LOOKED_AT);
            (0..motion.frames()).step_by(stride).map(move |frame| (motion, self.upright(motion, frame)))
        })
    }

    fn find_limbs(&mut self, motions: &[SourceMotion]) -> Result<(), String> {
        let chains = self.chains();
        self.order = (0..chains.len()).collect();
        let ends = self.end_effectors();
        if ends.len() < 3 {
            return Err(format!(
                "it has {} limbs, and two legs and a head are needed; give a skeleton that branches",
                ends.len()
            ));
        }
        let mut heights = vec![0.0_f64; ends.len()];
        let mut frames = 0.0_f64;
        for (motion, pose) in self.looked_at(motions) {
            let length: f32 = motion.skeleton.joints()[1..].iter().map(|joint| joint.offset.length()).sum();
            for (height, &end) in heights.iter_mut().zip(&ends) {
                *height += f64::from((pose.positions[end].y - pose.positions[0].y) / length.max(1e-9));
            }
            frames += 1.0;
        }
        heights.iter_mut().for_each(|height| *height /= frames.max(1.0));
        let mut by_height: Vec<usize> = (0..ends.len()).collect();
        by_height.sort_by(|&a, &b| heights[a].total_cmp(&heights[b]));
        self.feet = [ends[by_height[0]], ends[by_height[1]]];
        self.head = ends[by_height[ends.len() - 1]];
        let skeleton = &motions[0].skeleton;
        let of_all: f32 = skeleton.joints()[1..].iter().map(|joint| joint.offset.length()).sum();
        for (side, &foot) in self.feet.iter().enumerate() {
            let line = self.line(foot);
            let leg: f32 = line[..line.len() - 1].iter().map(|&j| skeleton.joints()[j].offset.length()).sum();
            let above = -heights[by_height[side]] as f32 * of_all;
            if above < STANDING * leg {
                return Err(format!(
                    "its root is {:.0} % of the leg's length above \"{}\" along {} on average: that is no body that stands; set \
                     up_axis to the axis that points to the sky, or give motions on the feet",
                    100.0 * above / leg.max(1e-9),
                    self.joints[foot],
                    self.up.name()
                ));
            }
        }
        Ok(())
    }

    fn find_forward(&mut self, motions: &[SourceMotion]) -> Result<(), String> {
        let [left, right] = self.feet.map(|foot| self.line(foot));
        let skeleton = &motions[0].skeleton;
        // The first joint of each leg away from where they branch: some skeletons have joints without length there.
        let below_common = |own: &[usize], other: &[usize]| {
            let leg: Vec<usize> = own.iter().copied().take_while(|joint| !other.contains(joint)).collect();
            let length = |joint: &usize| skeleton.joints()[*joint].offset.length();
            let whole: f32 = leg.iter().map(length).sum();
            let away = leg.iter().rev().find(|joint| length(joint) > SHORT * whole);
            *away.or(leg.last()).expect("feet are two joints")
        };
        let hips = [below_common(&left, &right), below_common(&right, &left)];
        let (mut across, mut up) = (Vec3::ZERO, Vec3::ZERO);
        for (_, pose) in self.looked_at(motions) {
            let into_root = pose.rotations[0].inverse();
            across += into_root * (pose.positions[hips[0]] - pose.positions[hips[1]]).normalize_or_zero();
            up += into_root * Vec3::Y;
        }
        let Some(forward) = across.cross(up).try_normalize() else {
            return Err(format!(
                "its legs begin in one place at \"{}\" and \"{}\", so that it has no left and right",
                self.joints[hips[0]], self.joints[hips[1]]
            ));
        };
        let (mut ahead, mut way) = (0.0_f64, 0.0_f64);
        for motion in motions {
            for frame in 1..motion.frames() {
                let turn = self.up.world_from_file();
                let step = turn * (motion.poses[frame].root_position - motion.poses[frame - 1].root_position);
                let facing = turn * motion.poses[frame].local_rotations[0] * forward;
                let facing = Vec3::new(facing.x, 0.0, facing.z).normalize_or_zero();
                ahead += f64::from(step.dot(facing));
                way += f64::from(Vec3::new(step.x, 0.0, step.z).length());
            }
        }
        if ahead.abs() < f64::from(AHEAD) * way || way == 0.0 {
            return Err(format!(
                "where it faces cannot be told: {:.0} % of its way leads along or against its front; add motions that walk forwards",
                100.0 * ahead.abs() / way.max(1e-9)
            ));
        }
        self.forward = if ahead > 0.0 { forward } else { -forward };
        if ahead < 0.0 {
            self.feet.reverse();
        }
        Ok(())
    }

    fn find_means(&mut self, motions: &[SourceMotion]) -> Result<(), SkeletalError> {
        let bodies = motions.iter().map(|motion| self.body(motion)).collect::<Result<Vec<_>, _>>()?;
        for body in &bodies {
            let share = 1.0 / bodies.len() as f32;
            self.mean_offsets.iter_mut().zip(&body.offsets).for_each(|(mean, own)| *mean += *own * share);
        }
        let chains = self.chains();
        let mut sums = vec![Vec4::ZERO; self.joints.len()];
        self.chain_ends = vec![Vec3::ZERO; chains.len()];
        let mut frames = 0.0_f32;
        for (motion, body) in motions.iter().zip(&bodies) {
            let stride = motion.frames().div_ceil(LOOKED_AT);
            for frame in (0..motion.frames()).step_by(stride) {
                let pose = self.upright(motion, frame);
                let out_of_heading = from_yaw(self.heading(pose.rotations[0])).inverse();
                for (joint, sum) in sums.iter_mut().enumerate() {
                    let own = if joint == 0 {
                        out_of_heading * pose.rotations[0]
                    } else {
                        motion.poses[frame].local_rotations[joint]
                    };
                    let own = Vec4::from(own);
                    *sum += if sum.dot(own) < 0.0 { -own } else { own };
                }
                for (end, chain) in self.chain_ends.iter_mut().zip(&chains) {
                    let joint = *chain.joints.last().expect("a chain has joints");
                    *end += out_of_heading * (pose.positions[joint] - pose.positions[0]) / body.height;
                }
                frames += 1.0;
            }
        }
        self.chain_ends.iter_mut().for_each(|end| *end /= frames);
        self.mean_rotations =
            sums.into_iter().map(|sum| sum.try_normalize().map_or(Quat::IDENTITY, Quat::from_vec4)).collect();
        self.find_scales(motions, &bodies);
        Ok(())
    }

    fn find_scales(&mut self, motions: &[SourceMotion], bodies: &[Body]) {
        let width = self.width();
        let (mut sum, mut squares, mut rows) = (vec![0.0_f64; width], vec![0.0_f64; width], 0.0_f64);
        for (motion, body) in motions.iter().zip(bodies) {
            for row in self.features(body, motion).0.chunks_exact(width) {
                for ((sum, square), value) in sum.iter_mut().zip(&mut squares).zip(row) {
                    *sum += f64::from(*value);
                    *square += f64::from(*value) * f64::from(*value);
                }
                rows += 1.0;
            }
        }
        self.mean = sum.iter().map(|sum| (sum / rows) as f32).collect();
        let deviation = |(square, mean): (&f64, &f32)| {
            let variance = square / rows - f64::from(*mean) * f64::from(*mean);
            (variance.max(0.0).sqrt() as f32).max(LEAST_DEVIATION)
        };
        self.deviation = squares.iter().zip(&self.mean).map(deviation).collect();
    }

    /// The features of a motion, frame by frame `[N 4]` in their own units, and where it goes.
    pub fn features(&self, body: &Body, motion: &SourceMotion) -> (Vec<f32>, Path) {
        let turn = self.up.world_from_file();
        let mut path = Path::default();
        for pose in &motion.poses {
            let yaw = self.heading(turn * pose.local_rotations[0]);
            let before = path.yaw.last().copied().unwrap_or(yaw);
            path.yaw.push(before + pomp_motion::rotation::wrap_angle(yaw - before));
            let at = turn * pose.root_position / (body.legs * body.height);
            path.ground.push(Vec3::new(at.x, 0.0, at.z));
        }
        let last = motion.frames() - 1;
        let mut table = Vec::with_capacity(motion.frames() * self.width());
        for (frame, pose) in motion.poses.iter().enumerate() {
            // The last frame goes on as the one before it.
            let from = frame.min(last.saturating_sub(1));
            let to = (from + 1).min(last);
            let out_of_heading = from_yaw(path.yaw[from]).inverse();
            let step = (path.ground[to] - path.ground[from]) * body.legs;
            let velocity = out_of_heading * step * motion.frame_rate_hz;
            let turning = (path.yaw[to] - path.yaw[from]) * motion.frame_rate_hz;
            table.extend([velocity.x, velocity.z, (turn * pose.root_position).y / body.height, turning]);
            for (joint, mean) in self.mean_rotations.iter().enumerate() {
                let own = pose.local_rotations[joint];
                let own = if joint == 0 { from_yaw(path.yaw[frame]).inverse() * turn * own } else { own };
                let from_mean = (mean.inverse() * own).normalize();
                table.extend(Vec4::from(if from_mean.w < 0.0 { -from_mean } else { from_mean }).to_array());
            }
        }
        (table, path)
    }
}
