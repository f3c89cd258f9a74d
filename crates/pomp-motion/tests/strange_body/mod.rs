//! Bodies that walk on odd skeletons: bones split, left out and added, joints named at will.

use pomp_motion::glam::{EulerRot, Quat, Vec3};
use pomp_motion::{FrameTable, Joint, JointIndex, Pose, Skeleton, SourceMotion, humanoid};

const FRAMES: usize = 60;

/// A joint of a body under construction.
#[derive(Clone, Debug)]
struct Part {
    name: String,
    parent: Option<String>,
    offset: Vec3,
    turns: Vec<Quat>,
}

/// A walking body, 1.7 m tall, in metres, Y up, T-pose at rest, with the project's joint names until they are changed.
#[derive(Clone, Debug)]
pub struct StrangeBody {
    parts: Vec<Part>,
    root: Vec<Vec3>,
    ends: Vec<(String, Vec3)>,
}

impl StrangeBody {
    pub fn walking() -> Self {
        let skeleton = Skeleton::humanoid(1.7);
        let poses: Vec<Pose> = (0..FRAMES).map(|frame| walk(&skeleton, frame as f32 * 0.15)).collect();
        let joints = skeleton.joints();
        let parts = joints.iter().enumerate().map(|(i, joint)| Part {
            name: joint.name.clone(),
            parent: joint.parent.map(|parent| joints[parent.0].name.clone()),
            offset: joint.offset,
            turns: poses.iter().map(|pose| pose.local_rotations[i]).collect(),
        });
        Self {
            parts: parts.collect(),
            root: poses.iter().map(|pose| pose.root_position).collect(),
            ends: Vec::new(),
        }
    }

    fn part(&mut self, name: &str) -> &mut Part {
        self.parts.iter_mut().find(|part| part.name == name).expect("the body has this joint")
    }

    /// A joint `inserted` on the bone that ends at `name`, at a share of it, that does not turn.
    pub fn split(mut self, name: &str, inserted: &str, share: f32) -> Self {
        let part = self.part(name);
        let (parent, offset) = (part.parent.clone(), part.offset * share);
        part.offset -= offset;
        part.parent = Some(inserted.to_owned());
        self.parts.push(Part {
            name: inserted.to_owned(),
            parent,
            offset,
            turns: vec![Quat::IDENTITY; FRAMES],
        });
        self
    }

    /// Without a joint; what hangs from it hangs from its parent, turned with it.
    pub fn without(mut self, name: &str) -> Self {
        let gone = self.part(name).clone();
        self.parts.retain(|part| part.name != name);
        for part in self.parts.iter_mut().filter(|part| part.parent.as_deref() == Some(name)) {
            part.parent.clone_from(&gone.parent);
            part.offset += gone.offset;
            part.turns.iter_mut().zip(&gone.turns).for_each(|(turn, above)| *turn = *above * *turn);
        }
        self
    }

    /// Without a joint and all that hangs from it.
    pub fn cut(mut self, name: &str) -> Self {
        let below: Vec<String> = self
            .parts
            .iter()
            .filter(|part| part.parent.as_deref() == Some(name))
            .map(|p| p.name.clone())
            .collect();
        self.parts.retain(|part| part.name != name);
        below.iter().fold(self, |body, child| body.cut(child))
    }

    /// A chain of joints that sway, each the next one's parent.
    pub fn chain(mut self, parent: &str, stem: &str, count: usize, first: Vec3, bone: Vec3) -> Self {
        for i in 0..count {
            let above = if i == 0 { parent.to_owned() } else { format!("{stem}{i}") };
            let sway = |frame: usize| Quat::from_rotation_y(0.3 * (frame as f32 * 0.2 + i as f32).sin());
            self.parts.push(Part {
                name: format!("{stem}{}", i + 1),
                parent: Some(above),
                offset: if i == 0 { first } else { bone },
                turns: (0..FRAMES).map(sway).collect(),
            });
        }
        self
    }

    /// Turns a joint at rest and in all frames: the whole limb points elsewhere.
    pub fn turned(mut self, name: &str, turn: Quat) -> Self {
        self.part(name).turns.iter_mut().for_each(|t| *t = turn * *t);
        self
    }

    /// Puts a joint elsewhere in its parent.
    pub fn moved(mut self, name: &str, offset: Vec3) -> Self {
        self.part(name).offset = offset;
        self
    }

    pub fn end(mut self, name: &str, offset: Vec3) -> Self {
        self.ends.push((name.to_owned(), offset));
        self
    }

    /// The motion as a file has it; `name` gives every joint its name in the file.
    pub fn told(&self, name: impl Fn(&str) -> String) -> SourceMotion {
        let mut order: Vec<&Part> = Vec::new();
        while order.len() < self.parts.len() {
            let before = order.len();
            for part in &self.parts {
                let ready = part.parent.as_ref().is_none_or(|above| order.iter().any(|o| o.name == *above));
                if ready && order.iter().all(|o| o.name != part.name) {
                    order.push(part);
                }
            }
            assert!(order.len() > before, "a joint hangs from none");
        }
        let index = |wanted: &str| {
            JointIndex(order.iter().position(|part| part.name == wanted).expect("it is there"))
        };
        let joints = order.iter().map(|part| Joint {
            name: name(&part.name),
            parent: part.parent.as_deref().map(index),
            offset: part.offset,
        });
        let poses = (0..FRAMES).map(|frame| Pose {
            root_position: self.root[frame],
            local_rotations: order.iter().map(|part| part.turns[frame]).collect(),
        });
        SourceMotion {
            name: "strange".to_owned(),
            skeleton: Skeleton::new(joints.collect()).expect("made for this test"),
            end_sites: self.ends.iter().map(|(joint, offset)| (index(joint), *offset)).collect(),
            frame_rate_hz: 30.0,
            poses: poses.collect(),
            joint_translations: None,
        }
    }
}

/// A frame of a walk with swinging arms.
fn walk(skeleton: &Skeleton, t: f32) -> Pose {
    let mut pose = Pose::rest(skeleton);
    let mut set = |joint: JointIndex, x: f32, y: f32, z: f32| {
        pose.local_rotations[joint.0] = Quat::from_euler(EulerRot::YXZ, y, x, z).normalize();
    };
    set(humanoid::HIPS, 0.05 * t.sin(), 0.1 * t.cos(), 0.04 * t.sin());
    set(humanoid::LEFT_UP_LEG, -0.4 * t.sin() - 0.1, 0.05, 0.02);
    set(humanoid::LEFT_LEG, 0.5 + 0.4 * t.cos(), 0.0, 0.0);
    set(humanoid::RIGHT_UP_LEG, 0.4 * t.sin() - 0.1, -0.05, -0.02);
    set(humanoid::RIGHT_LEG, 0.5 - 0.4 * t.cos(), 0.0, 0.0);
    set(humanoid::LEFT_FOOT, -0.3 * t.cos(), 0.1, 0.0);
    set(humanoid::RIGHT_FOOT, 0.3 * t.cos(), -0.1, 0.0);
    set(humanoid::SPINE1, 0.05, 0.1 * t.sin(), 0.03);
    set(humanoid::NECK, 0.1 * t.cos(), 0.1 * t.sin(), 0.0);
    set(humanoid::HEAD, 0.1 * t.sin(), 0.0, 0.05 * t.cos());
    set(humanoid::LEFT_ARM, 0.3 * t.sin(), -0.2, -1.2);
    set(humanoid::LEFT_FORE_ARM, 0.2, -0.6 - 0.3 * t.sin(), 0.0);
    set(humanoid::RIGHT_ARM, -0.3 * t.sin(), 0.2, 1.1);
    set(humanoid::RIGHT_FORE_ARM, 0.1, 0.7 + 0.3 * t.sin(), 0.0);
    set(humanoid::LEFT_HAND, 0.0, 0.0, 0.2 * t.sin());
    set(humanoid::RIGHT_HAND, 0.0, 0.0, 0.2 * t.cos());
    pose.root_position += Vec3::new(0.01 * t, 0.02 * t.sin() - 0.05, 0.2 * t);
    pose
}

/// The motion with a table of translations that say the same as the offsets.
pub fn with_translations(source: SourceMotion) -> SourceMotion {
    let columns = source.skeleton.len();
    let values = source.poses.iter().flat_map(|pose| {
        let offsets = source.skeleton.joints().iter().map(|joint| joint.offset);
        std::iter::once(pose.root_position).chain(offsets.skip(1)).collect::<Vec<_>>()
    });
    let joint_translations = FrameTable::from_values(columns, values.collect());
    SourceMotion { joint_translations, ..source }
}
