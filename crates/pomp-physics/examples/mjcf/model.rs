//! The ragdoll as an MJCF model.

use pomp_motion::glam::{Quat, Vec3};
use pomp_motion::{Pose, Skeleton, humanoid};
use pomp_physics::{BodyShape, Drive, DynamicConfig, body_masses, body_shapes};
use std::fmt::Write as _;

/// MuJoCo's up is Z: x, y, z of ours are its y, z, x.
fn vector(v: Vec3) -> String {
    format!("{:.6} {:.6} {:.6}", v.z, v.x, v.y)
}

fn geom(shape: &BodyShape, mass_kg: f32, mesh: &str) -> (String, String) {
    match shape {
        BodyShape::Capsule { from, to, radius } => (
            format!(
                "<geom type=\"capsule\" fromto=\"{} {}\" size=\"{radius:.6}\" mass=\"{mass_kg:.6}\"/>",
                vector(*from),
                vector(*to)
            ),
            String::new(),
        ),
        BodyShape::Prism { profile, from_x, to_x } => {
            let points: Vec<Vec3> = [*from_x, *to_x]
                .iter()
                .flat_map(|&x| profile.iter().map(move |at| Vec3::new(x, at.x, at.y)))
                .collect();
            let low = points.iter().copied().reduce(Vec3::min).expect("a profile has corners");
            let high = points.iter().copied().reduce(Vec3::max).expect("a profile has corners");
            let square = (high - low) * (high - low) * (mass_kg / 12.0);
            let inertia = Vec3::new(square.y + square.z, square.x + square.z, square.x + square.y);
            let vertices: Vec<String> = points.iter().map(|point| vector(*point)).collect();
            (
                format!(
                    "<inertial pos=\"{}\" mass=\"{mass_kg:.6}\" diaginertia=\"{}\"/><geom type=\"mesh\" mesh=\"{mesh}\" mass=\"0\"/>",
                    vector((low + high) * 0.5),
                    vector(inertia)
                ),
                format!("<mesh name=\"{mesh}\" vertex=\"{}\"/>", vertices.join(" ")),
            )
        }
    }
}

/// The drive of a joint by its name in the humanoid.
fn drive(config: &DynamicConfig, name: &str) -> Drive {
    let drives = &config.drives;
    match name.trim_start_matches("Left").trim_start_matches("Right") {
        "UpLeg" => drives.hip,
        "Leg" => drives.knee,
        "Foot" => drives.ankle,
        "Toe" => drives.toe,
        "Neck" => drives.neck,
        "Head" => drives.head,
        "Shoulder" => drives.clavicle,
        "Arm" => drives.shoulder,
        "ForeArm" => drives.elbow,
        "Hand" => drives.wrist,
        _ => drives.spine,
    }
}

/// The ragdoll of `skeleton` with the masses, drives and friction of `config`.
pub fn mjcf(skeleton: &Skeleton, config: &DynamicConfig) -> String {
    let shapes = body_shapes(skeleton).expect("the project skeleton");
    let masses = body_masses(skeleton, config.mass_kg).expect("the project skeleton");
    let rest = Pose::rest(skeleton);
    assert_eq!(rest.local_rotations[0], Quat::IDENTITY);
    let joints = skeleton.joints();
    assert_eq!(joints.len(), humanoid::JOINTS);

    let (mut meshes, mut actuators, mut bodies) = (String::new(), String::new(), String::new());
    let mut open: Vec<usize> = Vec::new();
    for (i, joint) in joints.iter().enumerate() {
        while open.last().is_some_and(|last| joint.parent.is_none_or(|parent| parent.0 != *last)) {
            open.pop();
            bodies.push_str("</body>\n");
        }
        let at = if i == 0 { rest.root_position } else { joint.offset };
        let (geom, mesh) = geom(&shapes[i], masses[i], &joint.name);
        meshes.push_str(&mesh);
        let damping = drive(config, &joint.name).stiffness_nm_per_rad * config.drives.passive_damping_s;
        let hinge = if i == 0 {
            "<freejoint/>".to_owned()
        } else {
            format!("<joint name=\"{}\" type=\"ball\" damping=\"{damping:.6}\"/>", joint.name)
        };
        let _ = writeln!(bodies, "<body name=\"{}\" pos=\"{}\">{hinge}{geom}", joint.name, vector(at));
        open.push(i);
        if i > 0 {
            let kp = drive(config, &joint.name).stiffness_nm_per_rad;
            let kv = kp * config.drives.damping_s;
            for gear in ["1 0 0", "0 1 0", "0 0 1"] {
                let _ = writeln!(
                    actuators,
                    "<position joint=\"{}\" gear=\"{gear} 0 0 0\" kp=\"{kp}\" kv=\"{kv}\"/>",
                    joint.name
                );
            }
        }
    }
    for _ in open {
        bodies.push_str("</body>");
    }
    // Links touch the ground and not each other; contacts critically damped at 5 Hz, half of ours: MuJoCo asks
    // for a time constant of two steps at least, 0.033 s at one step a frame.
    format!(
        "<mujoco><option timestep=\"{:.9}\" gravity=\"0 0 -{}\" integrator=\"implicitfast\"/>\n\
         <size memory=\"16M\"/>\n\
         <default><geom contype=\"1\" conaffinity=\"2\" friction=\"{} 0.005 0.0001\" solref=\"0.0318 1\" condim=\"3\"/></default>\n\
         <asset>{meshes}</asset>\n<worldbody><geom type=\"plane\" size=\"50 50 1\" contype=\"2\" conaffinity=\"1\"/>\n{bodies}\n</worldbody>\n\
         <actuator>\n{actuators}</actuator></mujoco>",
        1.0 / config.frame_rate_hz,
        config.gravity_m_s2,
        config.friction
    )
}
