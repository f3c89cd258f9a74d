//! One test per kind of input that is refused.

use crate::support::*;
use pomp_motion::glam::{Quat, Vec3};
use pomp_motion::{FrameTable, Joint, JointIndex, Skeleton, TerrainGrid, humanoid};
use pomp_physics::{DynamicConfig, DynamicModule, PhysicsError, PoseVelocity, Push, WorldSnapshot};

fn refused(config: &DynamicConfig, terrain: &TerrainGrid) -> String {
    DynamicModule::new(&skeleton(), config, terrain).err().expect("it has to be refused").to_string()
}

#[test]
fn the_shipped_config_is_the_default() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../configs/physics.toml");
    let text = std::fs::read_to_string(path).unwrap();
    assert_eq!(DynamicConfig::from_toml(&text).unwrap(), DynamicConfig::default());
}

#[test]
fn rejects_settings_out_of_range_by_name() {
    type Spoil = fn(&mut DynamicConfig);
    let cases: [(&str, Spoil); 9] = [
        ("mass_kg", |c| c.mass_kg = 0.0),
        ("friction", |c| c.friction = -0.1),
        ("steps_per_frame", |c| c.steps_per_frame = 0),
        ("frame_rate_hz", |c| c.frame_rate_hz = f32::NAN),
        ("gravity_m_s2", |c| c.gravity_m_s2 = f32::INFINITY),
        ("drives.knee.torque_limit_nm", |c| c.drives.knee.torque_limit_nm = 0.0),
        ("assist.vertical_share", |c| c.assist.vertical_share = -1.0),
        ("contact.damping_ratio", |c| c.contact.damping_ratio = 0.0),
        ("guard.max_root_speed_m_s", |c| c.guard.max_root_speed_m_s = 0.0),
    ];
    for (field, spoil) in cases {
        let mut config = DynamicConfig::default();
        spoil(&mut config);
        let message = refused(&config, &flat());
        assert!(message.contains(field), "{message}");
    }
}

#[test]
fn rejects_unknown_and_missing_fields_of_a_config() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../configs/physics.toml");
    let text = std::fs::read_to_string(path).unwrap();
    let unknown = DynamicConfig::from_toml(&format!("stickiness = 1.0\n{text}")).unwrap_err().to_string();
    assert!(unknown.contains("stickiness"), "{unknown}");
    let missing = text.replacen("friction = ", "# friction = ", 1);
    let missing = DynamicConfig::from_toml(&missing).unwrap_err().to_string();
    assert!(missing.contains("friction"), "{missing}");
}

#[test]
fn rejects_terrain_that_is_no_ground() {
    let spoiled = |spoil: &dyn Fn(&mut TerrainGrid)| {
        let mut terrain = flat();
        spoil(&mut terrain);
        refused(&DynamicConfig::default(), &terrain)
    };
    let nan = spoiled(&|t| t.heights[4][7] = f32::NAN);
    assert!(nan.contains("row 4, column 7"), "{nan}");
    assert!(spoiled(&|t| t.cell_m = 0.0).contains("cells"));
    assert!(spoiled(&|t| t.origin[1] = f32::INFINITY).contains("origin"));
    assert!(spoiled(&|t| t.heights = FrameTable::filled(1, 30, 0.0)).contains("1 rows"));
    assert!(spoiled(&|t| t.cell_m = 0.001 + 1e-9).contains("too many"));
}

#[test]
fn rejects_a_skeleton_of_another_topology() {
    let config = DynamicConfig::default();
    let short = Skeleton::new(skeleton().joints()[..5].to_vec()).unwrap();
    let message = DynamicModule::new(&short, &config, &flat()).err().unwrap().to_string();
    assert!(message.contains("joint 5") && message.contains("RightUpLeg"), "{message}");
    let mut joints = skeleton().joints().to_vec();
    joints.push(Joint { name: "Tail".to_owned(), parent: Some(JointIndex(0)), offset: Vec3::NEG_Z });
    let tailed = Skeleton::new(joints).unwrap();
    assert!(DynamicModule::new(&tailed, &config, &flat()).err().unwrap().to_string().contains("Tail"));
    let mut joints = skeleton().joints().to_vec();
    joints[6].offset = Vec3::ZERO;
    let stumped = Skeleton::new(joints).unwrap();
    assert!(DynamicModule::new(&stumped, &config, &flat()).err().unwrap().to_string().contains("RightLeg"));
}

#[test]
fn rejects_targets_that_are_not_finite_and_leaves_the_state() {
    let mut module = module(&flat());
    module.reset(&stand(), &PoseVelocity::zero(22)).unwrap();
    let before = module.pose();
    let mut bad = stand();
    bad.local_rotations[humanoid::LEFT_LEG.0] = Quat::from_xyzw(f32::NAN, 0.0, 0.0, 1.0);
    let message = module.step(&stand(), &bad, &[]).unwrap_err().to_string();
    assert!(message.contains("LeftLeg") && message.contains("end of the frame"), "{message}");
    let mut bad = stand();
    bad.root_position.y = f32::INFINITY;
    let message = module.step(&bad, &stand(), &[]).unwrap_err().to_string();
    assert!(message.contains("root position"), "{message}");
    let mut bad = stand();
    bad.local_rotations[3] = Quat::from_xyzw(0.0, 0.0, 0.0, 0.0);
    assert!(module.step(&bad, &stand(), &[]).is_err());
    let mut bad = stand();
    bad.local_rotations.pop();
    assert!(matches!(module.step(&bad, &stand(), &[]), Err(PhysicsError::SizeMismatch { found: 21, .. })));
    assert_eq!(module.pose(), before);
}

#[test]
fn rejects_pushes_that_are_not_finite_or_on_no_body() {
    let mut module = module(&flat());
    let good = Push { body: 0, impulse_ns: Vec3::X, point: None };
    let mut try_push = |push: Push| module.step(&stand(), &stand(), &[good, push]).unwrap_err().to_string();
    assert!(try_push(Push { body: 22, ..good }).contains("push 1 is on body 22"));
    assert!(try_push(Push { impulse_ns: Vec3::NAN, ..good }).contains("impulse_ns of push 1"));
    assert!(try_push(Push { point: Some(Vec3::INFINITY), ..good }).contains("point of push 1"));
}

#[test]
fn rejects_reset_velocities_that_are_not_finite() {
    let mut module = module(&flat());
    let mut velocity = PoseVelocity::zero(22);
    velocity.angular[13] = Vec3::NAN;
    let message = module.reset(&stand(), &velocity).unwrap_err().to_string();
    assert!(message.contains("Head"), "{message}");
    assert!(module.reset(&stand(), &PoseVelocity::zero(21)).is_err());
}

#[test]
fn rejects_bytes_that_are_no_snapshot() {
    let module = module(&flat());
    let bytes = module.save().to_bytes().unwrap();
    assert!(WorldSnapshot::from_bytes(&bytes[..bytes.len() / 2]).is_err());
    assert!(WorldSnapshot::from_bytes(&[]).is_err());
}
