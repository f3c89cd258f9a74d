use super::*;
use pomp_terrain::{Shape, StartArea, TerrainSpec, generate};

const DT_S: f32 = 1.0 / 60.0;
const HEIGHT_M: f32 = 1.75;

fn map(shape: Shape, cell_m: f32) -> HeightMap {
    let spec = TerrainSpec { size_m: 30.0, cell_m, start: StartArea::NONE, shape };
    generate(&spec, 1).unwrap()
}

/// A walk along +z as a kinematic module would have it on the ground that it is shown.
fn module(skeleton: &Skeleton, ground: &Ground<'_>, frame: usize, speed_mps: f32) -> Pose {
    let period_s = 1.1;
    let mut pose = Pose::rest(skeleton);
    let root = ground.root.origin;
    pose.root_position = root + Vec3::Y * 0.86;
    let world = skeleton.forward_kinematics(&pose);
    for (leg, joints) in LEGS.into_iter().enumerate() {
        let cycles = frame as f32 * DT_S / period_s + 0.5 * leg as f32;
        let stride = speed_mps * period_s;
        let (whole, part) = (cycles.floor(), cycles.fract());
        // Two thirds of a cycle the foot stands.
        let t = ((part - 0.65) / 0.35).max(0.0);
        let swing = t * t * (3.0 - 2.0 * t);
        let z = stride * (whole + swing - 0.5 * leg as f32 + 0.32);
        let x = world.positions[joints[2].0].x;
        let y = ground.shown(x, z) + 0.039 * HEIGHT_M + 0.06 * (std::f32::consts::PI * swing).sin();
        let lean = (ground.shown(x, z + 0.14) - ground.shown(x, z - 0.04)).atan2(0.18);
        let turn = Quat::from_rotation_x(-lean);
        bend_leg(skeleton, &mut pose, &world, joints, Vec3::new(x, y, z), turn);
    }
    pose
}

/// Walks for some seconds over `terrain` and gives what the module had and what was made of it.
fn walk(terrain: &HeightMap, speed_mps: f32, seconds: f32) -> Vec<(Pose, Pose)> {
    let mut carry = FootPlacement::new(FootPlacementConfig::default(), HEIGHT_M);
    walk_with(&mut carry, terrain, speed_mps, seconds).into_iter().map(|(poses, _)| poses).collect()
}

/// The same, with the way that the root is to go after each frame.
fn walk_with(
    carry: &mut FootPlacement,
    terrain: &HeightMap,
    speed_mps: f32,
    seconds: f32,
) -> Vec<((Pose, Pose), Vec2)> {
    let skeleton = Skeleton::humanoid(HEIGHT_M);
    let surface = ShownSurface::over(terrain);
    let mut before: Option<GlobalPose> = None;
    (0..(seconds / DT_S) as usize)
        .map(|frame| {
            let z = speed_mps * frame as f32 * DT_S;
            let root = RootFrame { origin: Vec3::new(0.0, surface.height(0.0, z), z), yaw: 0.0 };
            let travel = Vec2::new(0.0, speed_mps);
            let ground = Ground { terrain, surface: &surface, root: &root, travel };
            let level = module(&skeleton, &ground, frame, speed_mps);
            let world = skeleton.forward_kinematics(&level);
            let last = before.replace(world.clone()).unwrap_or(world);
            let carried = carry.pose(&skeleton, &level, &last, None, &ground, DT_S);
            let way = carry.root_way(&surface, Vec2::new(0.0, z));
            ((level, carried), way)
        })
        .collect()
}

#[test]
fn on_level_ground_nothing_is_carried() {
    let level = map(Shape::Flat {}, 0.1);
    for (shown, carried) in walk(&level, 1.2, 4.0) {
        assert_eq!(shown, carried);
    }
}

#[test]
fn the_whole_sole_stays_above_stairs_and_gaps_on_its_way_and_rests_on_what_carries_it() {
    let stairs = |rise_m, run_m| Shape::Stairs { rise_m, run_m, count: 6, landing_m: 2.0, heading_deg: 0.0 };
    let grounds = [
        (map(stairs(0.15, 0.3), 0.05), 0.6, 0.15),
        (map(stairs(0.2, 0.3), 0.05), 0.6, 0.2),
        (map(Shape::Gaps { width_m: 0.4, depth_m: 0.5, spacing_m: 2.0, heading_deg: 0.0 }, 0.1), 1.2, 0.5),
    ];
    let skeleton = Skeleton::humanoid(HEIGHT_M);
    let sole = Sole { body_height_m: HEIGHT_M };
    for (terrain, speed_mps, edge_m) in &grounds {
        let depth = |pose: &Pose| {
            let world = skeleton.forward_kinematics(pose);
            LEGS.map(|leg| {
                let at = world.positions[leg[2].0];
                -sole.lowest(&world, leg, at, |x, z| terrain.height(x, z))
            })
        };
        let (mut deepest, mut untreated, mut count) = (0.0f32, 0.0f32, 0);
        let poses = walk(terrain, *speed_mps, 14.0);
        for (shown, carried) in &poses[30..] {
            for (a, b) in depth(shown).into_iter().zip(depth(carried)) {
                untreated = untreated.max(a);
                deepest = deepest.max(b);
                count += usize::from(b > 0.02);
            }
        }
        let share = count as f32 / (2 * poses.len()) as f32;
        println!(
            "edges of {edge_m} m: {deepest:.3} m deep at worst, {share:.4} of the soles deeper than 2 cm; as shown {untreated:.3} m"
        );
        assert!(share < 0.02 && deepest < 0.06, "a sole is in the ground");
    }
}

#[test]
fn on_stairs_the_root_follows_its_feet_by_the_share_that_is_set() {
    let stairs =
        map(Shape::Stairs { rise_m: 0.15, run_m: 0.3, count: 6, landing_m: 2.0, heading_deg: 0.0 }, 0.05);
    let longest = |root_follows: f32| {
        let config = FootPlacementConfig { root_follows, ..FootPlacementConfig::default() };
        let mut carry = FootPlacement::new(config, HEIGHT_M);
        let ways = walk_with(&mut carry, &stairs, 0.6, 8.0);
        ways.iter().map(|(_, way)| way.length()).fold(0.0, f32::max)
    };
    let [none, some, more] = [0.0, 0.02, 0.04].map(longest);
    println!("the root goes {none}, {some:.4} and {more:.4} m in a frame at the most");
    assert_eq!(none, 0.0);
    assert!(some > 1e-3 && (more - 2.0 * some).abs() < 1e-5);
}

#[test]
fn a_foot_that_is_about_to_stand_before_a_trench_is_not_sent_over_it_in_a_frame() {
    let skeleton = Skeleton::humanoid(HEIGHT_M);
    let farthest = |poses: &[Pose]| {
        let ankles: Vec<[Vec3; 2]> = poses
            .iter()
            .map(|pose| skeleton.forward_kinematics(pose))
            .map(|world| LEGS.map(|leg| world.positions[leg[2].0]))
            .collect();
        let moved = ankles.windows(2).flat_map(|pair| [0, 1].map(|leg| pair[1][leg].distance(pair[0][leg])));
        moved.fold(0.0, f32::max)
    };
    for spacing_cm in (190..=250u8).step_by(5) {
        let spacing_m = f32::from(spacing_cm) / 100.0;
        let gaps = map(Shape::Gaps { width_m: 0.4, depth_m: 0.5, spacing_m, heading_deg: 0.0 }, 0.1);
        let (shown, carried): (Vec<Pose>, Vec<Pose>) = walk(&gaps, 1.1, 14.0).into_iter().unzip();
        let (asked, went) = (farthest(&shown), farthest(&carried));
        println!(
            "trenches every {spacing_m} m: a foot goes {went:.3} m in a frame at the most, the module's {asked:.3} m"
        );
        assert!(went < 2.0 * asked);
    }
}
