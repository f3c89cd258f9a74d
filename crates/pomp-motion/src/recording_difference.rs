use crate::{FrameTable, Recording};
use glam::{Quat, Vec3};

/// The first place at which an array of two recordings differs.
#[derive(Clone, Debug, PartialEq)]
pub struct Difference {
    /// Name of the array, as in npz files.
    pub array: &'static str,
    /// Row, which is the frame in arrays that have frames.
    pub row: usize,
    /// Number within the row.
    pub column: usize,
    /// The value of the first recording; `None` where it has no such row.
    pub first: Option<f32>,
    /// The value of the second.
    pub second: Option<f32>,
}

impl std::fmt::Display for Difference {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { array, row, column, first, second } = self;
        let told = |value: &Option<f32>| value.map_or("missing".to_owned(), |value| format!("{value:?}"));
        write!(f, "{array}[{row}], number {column}: {} and {}", told(first), told(second))
    }
}

/// Where two recordings differ, compared bit for bit: the first place of each array that does, earliest row first.
///
/// Everything that a frame of a motion or a rollout holds is compared, and ground and pushes. Names, provenance, recipe
/// and wall times are not, nor are efforts that one of the two does not tell.
pub fn differences(first: &Recording, second: &Recording) -> Vec<Difference> {
    let told = [first, second].map(|recording| recording.efforts.is_some());
    let pointed = [first, second]
        .map(|recording| recording.efforts.as_ref().is_some_and(|efforts| efforts.contact_point.is_some()));
    let both = [told, pointed].map(|told| told == [true, true]);
    let (a, b) = (arrays(first, both), arrays(second, both));
    let mut found: Vec<Difference> = NAMES
        .into_iter()
        .zip(a.iter().zip(&b))
        .filter_map(|(array, (a, b))| {
            let longer = a.values.len().max(b.values.len());
            let (width, other) = (a.width.max(b.width).max(1), a.width != b.width);
            let at = (0..longer).find(|&at| {
                let bits = |array: &Flat| array.values.get(at).map(|value| value.to_bits());
                other || bits(a) != bits(b)
            })?;
            let value = |array: &Flat| array.values.get(at).copied();
            Some(Difference { array, row: at / width, column: at % width, first: value(a), second: value(b) })
        })
        .collect();
    found.sort_by_key(|difference| difference.row);
    found
}

/// The arrays that are compared, in the order of [`arrays`].
const NAMES: [&str; 23] = [
    "positions",
    "quaternions",
    "root",
    "velocities",
    "gait",
    "foot_contact",
    "contact_impulse",
    "sim_contact_impulse",
    "sim_positions",
    "sim_quaternions",
    "sim_velocities",
    "assist_force",
    "assist_torque",
    "joint_torque",
    "contact_point",
    "phase",
    "target_positions",
    "control",
    "push",
    "framerate",
    "body_mass",
    "terrain_height",
    "ground_offset",
];

/// An array as rows of `width` numbers.
#[derive(Default)]
struct Flat {
    width: usize,
    values: Vec<f32>,
}

impl Flat {
    fn rows<const N: usize>(rows: impl IntoIterator<Item = [f32; N]>) -> Self {
        Self { width: N, values: rows.into_iter().flatten().collect() }
    }

    fn vectors(table: &FrameTable<Vec3>) -> Self {
        let values = table.values().iter().flat_map(Vec3::to_array).collect();
        Self { width: 3 * table.columns(), values }
    }

    fn quaternions(table: &FrameTable<Quat>) -> Self {
        let values = table.values().iter().flat_map(Quat::to_array).collect();
        Self { width: 4 * table.columns(), values }
    }

    fn numbers(table: &FrameTable<f32>) -> Self {
        Self { width: table.columns(), values: table.values().to_vec() }
    }
}

fn arrays(recording: &Recording, [efforts, points]: [bool; 2]) -> [Flat; NAMES.len()] {
    let simulation = recording.simulation.as_ref();
    let efforts = recording.efforts.as_ref().filter(|_| efforts);
    let points = efforts.filter(|_| points).and_then(|efforts| efforts.contact_point.as_ref());
    let generation = recording.generation.as_ref();
    let contacts = recording.foot_contact.iter();
    let triples = |vectors: &[Vec3]| Flat::rows(vectors.iter().map(Vec3::to_array));
    [
        Flat::vectors(&recording.positions),
        Flat::quaternions(&recording.quaternions),
        Flat::rows(recording.root.iter().copied()),
        Flat::vectors(&recording.velocities),
        Flat::rows(recording.gait.iter().copied()),
        Flat::rows(contacts.map(|feet| feet.map(|down| f32::from(u8::from(down))))),
        simulation.map(|s| Flat::vectors(&s.contact_impulse)).unwrap_or_default(),
        simulation.map(|s| Flat::vectors(&s.sim_contact_impulse)).unwrap_or_default(),
        simulation.map(|s| Flat::vectors(&s.positions)).unwrap_or_default(),
        simulation.map(|s| Flat::quaternions(&s.quaternions)).unwrap_or_default(),
        simulation.map(|s| Flat::vectors(&s.velocities)).unwrap_or_default(),
        simulation.map(|s| triples(&s.assist_force)).unwrap_or_default(),
        simulation.map(|s| triples(&s.assist_torque)).unwrap_or_default(),
        efforts.map(|efforts| Flat::numbers(&efforts.joint_torque)).unwrap_or_default(),
        points.map(Flat::vectors).unwrap_or_default(),
        recording.phase.as_ref().map(Flat::numbers).unwrap_or_default(),
        generation.map(|g| Flat::vectors(&g.target_positions)).unwrap_or_default(),
        generation.map(|g| Flat::rows(g.control.iter().copied())).unwrap_or_default(),
        generation
            .map(|g| {
                Flat::rows(g.pushes.iter().map(|push| {
                    let [[jx, jy, jz], [px, py, pz]] = [push.impulse_ns.to_array(), push.point.to_array()];
                    [push.time_s, push.body as f32, jx, jy, jz, px, py, pz]
                }))
            })
            .unwrap_or_default(),
        Flat::rows([[recording.frame_rate_hz]]),
        simulation.map(|s| Flat::rows(s.body_mass_kg.iter().map(|kg| [*kg]))).unwrap_or_default(),
        recording.terrain.as_ref().map(|t| Flat::numbers(&t.heights)).unwrap_or_default(),
        generation.and_then(|g| g.ground_offset.as_deref()).map(triples).unwrap_or_default(),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Clip, EffortTrack, Pose, Skeleton};
    use std::sync::Arc;

    fn standing(frames: usize) -> Recording {
        let skeleton = Arc::new(Skeleton::humanoid(1.75));
        let pose = Pose::rest(&skeleton);
        Recording::of_clip(&Clip::new("stand", skeleton, 60.0, vec![pose; frames]).unwrap())
    }

    #[test]
    fn equal_recordings_differ_nowhere() {
        assert_eq!(differences(&standing(5), &standing(5)), []);
    }

    #[test]
    fn a_single_bit_is_found_in_its_frame_and_the_earliest_frame_comes_first() {
        let first = standing(5);
        let mut second = first.clone();
        let value = second.root[3][1];
        second.root[3][1] = f32::from_bits(value.to_bits() ^ 1);
        second.gait[2][0] = -0.0;
        second.gait[2][1] = -0.0;
        let found = differences(&first, &second);
        let places: Vec<_> = found.iter().map(|d| (d.array, d.row, d.column)).collect();
        assert_eq!(places, [("gait", 2, 0), ("root", 3, 1)]);
        assert!(found[1].to_string().starts_with("root[3], number 1: "), "{}", found[1]);
    }

    #[test]
    fn efforts_are_compared_where_both_tell_them() {
        let told = |torque: f32| {
            let mut recording = standing(5);
            let mut joint_torque = FrameTable::filled(5, 2, 1.0);
            joint_torque[3][1] = torque;
            recording.efforts =
                Some(EffortTrack { joint_torque, assist_limit: [1.0, 1.0], contact_point: None });
            recording
        };
        assert_eq!(differences(&told(1.0), &standing(5)), [], "an earlier version told none");
        let found = differences(&told(1.0), &told(2.0));
        assert_eq!((found.len(), found[0].array, found[0].row), (1, "joint_torque", 3));
    }

    #[test]
    fn a_recording_that_ends_earlier_or_lacks_an_array_differs() {
        let (long, short) = (standing(5), standing(4));
        let found = differences(&long, &short);
        assert!(found.iter().all(|d| d.row == 4 && d.second.is_none()), "{found:?}");
        let mut phased = standing(5);
        phased.phase = Some(FrameTable::filled(5, 2, 0.0));
        let found = differences(&standing(5), &phased);
        assert_eq!((found.len(), found[0].array, found[0].first), (1, "phase", None));
    }
}
