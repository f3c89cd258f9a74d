//! Motion files in disguise: other joint names, another order of the joints, another unit, other axes. The body and its
//! motion stay as they are.

use pomp_motion::glam::{Quat, Vec3};
use pomp_motion::random::Draws;
use pomp_motion::{FrameTable, Joint, JointIndex, Pose, Skeleton, SourceMotion};
use std::f32::consts::FRAC_PI_2;

/// A change of a file.
#[derive(Clone, Copy, Debug)]
pub struct Disguise {
    /// What it is called in tables.
    pub name: &'static str,
    /// Whether children and file order are shuffled.
    pub shuffled: bool,
    /// Every length is multiplied by this.
    pub scale: f32,
    /// The world of the motion is turned by this.
    pub turn: Quat,
    /// Whether the rest pose and all joint frames are turned with it.
    pub rest_turned: bool,
}

const PLAIN: Disguise =
    Disguise { name: "names", shuffled: false, scale: 1.0, turn: Quat::IDENTITY, rest_turned: false };

/// The changes that are measured; names are always changed.
pub fn disguises() -> Vec<Disguise> {
    let shuffled = Disguise { name: "order", shuffled: true, ..PLAIN };
    let z_up = Quat::from_rotation_x(FRAC_PI_2);
    let mut all = vec![PLAIN, shuffled];
    for (name, scale) in [("x 0.01", 0.01), ("x 0.37", 0.37), ("x 10", 10.0), ("x 1000", 1000.0)] {
        all.push(Disguise { name, scale, ..shuffled });
    }
    all.push(Disguise { name: "Z up", turn: z_up, ..shuffled });
    all.push(Disguise { name: "Z up, rest", turn: z_up, rest_turned: true, ..shuffled });
    all.push(Disguise {
        name: "X up, rest",
        turn: Quat::from_rotation_z(-FRAC_PI_2),
        rest_turned: true,
        ..shuffled
    });
    all
}

/// The motion in disguise, and for every joint of it the joint of the original.
pub fn disguised(source: &SourceMotion, change: &Disguise, seed: u64) -> (SourceMotion, Vec<usize>) {
    let order =
        if change.shuffled { shuffled_order(source, seed) } else { (0..source.skeleton.len()).collect() };
    let mut new_index = vec![0; order.len()];
    for (new, &old) in order.iter().enumerate() {
        new_index[old] = new;
    }
    let turn = |v: Vec3| change.turn * v * change.scale;
    let rest = |v: Vec3| if change.rest_turned { turn(v) } else { v * change.scale };
    let local = |q: Quat, root: bool| match (change.rest_turned, root) {
        (true, _) => change.turn * q * change.turn.inverse(),
        (false, true) => change.turn * q,
        (false, false) => q,
    };
    let names = words(order.len(), seed);
    let joints = order.iter().zip(names).map(|(&old, name)| {
        let joint = &source.skeleton.joints()[old];
        Joint { name, parent: joint.parent.map(|p| JointIndex(new_index[p.0])), offset: rest(joint.offset) }
    });
    let poses = source
        .poses
        .iter()
        .map(|pose| Pose {
            root_position: turn(pose.root_position),
            local_rotations: order.iter().map(|&old| local(pose.local_rotations[old], old == 0)).collect(),
        })
        .collect();
    let joint_translations = source.joint_translations.as_ref().map(|table| {
        let values = table.rows().flat_map(|row| {
            order
                .iter()
                .map(|&old| if old == 0 { turn(row[old]) } else { rest(row[old]) })
                .collect::<Vec<_>>()
        });
        FrameTable::from_values(table.columns(), values.collect()).expect("as many values as before")
    });
    let motion = SourceMotion {
        name: source.name.clone(),
        skeleton: Skeleton::new(joints.collect()).expect("the same tree with other names"),
        end_sites: source.end_sites.iter().map(|&(j, v)| (JointIndex(new_index[j.0]), rest(v))).collect(),
        frame_rate_hz: source.frame_rate_hz,
        poses,
        joint_translations,
    };
    (motion, order)
}

/// Parents before children, else at random.
fn shuffled_order(source: &SourceMotion, seed: u64) -> Vec<usize> {
    let mut draws = Draws::new(seed, 1);
    let mut open = vec![0];
    let mut order = Vec::new();
    while !open.is_empty() {
        let joint = open.swap_remove(draws.below(open.len()));
        order.push(joint);
        let joints = source.skeleton.joints().iter().enumerate();
        open.extend(joints.filter(|(_, j)| j.parent == Some(JointIndex(joint))).map(|(i, _)| i));
    }
    order
}

/// Words of no language, all different.
fn words(count: usize, seed: u64) -> Vec<String> {
    const SYLLABLES: [&str; 16] = [
        "ba", "ku", "mo", "zi", "ta", "ve", "no", "pul", "gri", "sha", "dor", "wex", "yim", "fa", "quo",
        "len",
    ];
    let mut draws = Draws::new(seed, 2);
    (0..count)
        .map(|i| {
            let word: String = (0..3).map(|_| SYLLABLES[draws.below(SYLLABLES.len())]).collect();
            format!("{word}{i}")
        })
        .collect()
}
