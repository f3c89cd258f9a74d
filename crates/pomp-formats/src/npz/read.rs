use super::archive::Arrays;
use super::{PLAN_COLUMNS, PUSH_COLUMNS, Presence};
use crate::FormatError;
use glam::{Quat, Vec3};
use pomp_motion::{
    ESTIMATED_BY_SIMULATION, EffortTrack, FrameTable, Gait, GenerationTrack, GlobalPose, Joint, JointIndex,
    PushRecord, Recipe, Recording, SimulationTrack, Skeleton, TerrainGrid,
};
use std::path::Path;
use std::sync::Arc;

/// A quaternion whose length differs from 1 by more is an error of whoever wrote it, not of rounding.
const UNIT_TOLERANCE: f32 = 1e-3;

/// Reads a recording from an npz file; the arrays are listed in [`crate::npz`].
///
/// # Errors
/// [`FormatError::Io`] when the file cannot be read; [`FormatError::Npz`] naming the array that is missing, cut,
/// of a wrong shape or type, not finite, or not of the skeleton; [`FormatError::Motion`] when names and parents
/// are no tree.
pub fn read_recording(path: &Path) -> Result<Recording, FormatError> {
    recording(&Arrays::open(path)?)
}

/// Reads a recording from the bytes of an npz file; `name` stands for the file in errors.
///
/// # Errors
/// As [`read_recording`], but for [`FormatError::Io`].
pub fn parse_recording(bytes: &[u8], name: &str) -> Result<Recording, FormatError> {
    recording(&Arrays::read(std::io::Cursor::new(bytes), name)?)
}

pub(super) fn recording(arrays: &Arrays) -> Result<Recording, FormatError> {
    let bone_names = arrays.texts("bone_names")?;
    let joints = bone_names.len();
    let frames = match arrays.get("positions")?.shape[..] {
        [frames, found, 3] if found == joints => frames,
        ref shape => {
            let reason = format!("its shape is {shape:?}, expected [T, {joints}, 3] for {joints} bone_names");
            return Err(arrays.error("positions", reason));
        }
    };
    if frames == 0 {
        return Err(arrays.error("positions", "the recording has no frames"));
    }
    let positions = vectors(arrays, "positions", frames, joints)?;
    let quaternions = quaternions(arrays, "quaternions", frames, joints)?;
    let skeleton = skeleton(arrays, &bone_names, &positions, &quaternions)?;
    let frame_rate_hz = arrays.scalar("framerate")?;
    if frame_rate_hz <= 0.0 {
        return Err(
            arrays.error("framerate", format!("it is {frame_rate_hz}, expected a positive rate in Hz"))
        );
    }
    let simulated = arrays.has_any(Presence::Simulation) || arrays.has_any(Presence::Estimate);
    let simulation = simulated.then(|| simulation(arrays, frames, joints)).transpose()?;
    let bodies = simulation.as_ref().map(|simulation| simulation.body_names.len());
    let recording = Recording {
        name: arrays.text("name")?,
        frame_rate_hz,
        skeleton: Arc::new(skeleton),
        positions,
        quaternions,
        velocities: vectors(arrays, "velocities", frames, joints)?,
        root: arrays.rows("root", frames)?,
        gait: arrays.rows::<{ Gait::COUNT }>("gait", frames)?,
        foot_contact: arrays.boolean_rows("foot_contact", frames)?,
        terrain: arrays.has_any(Presence::Terrain).then(|| terrain(arrays)).transpose()?,
        simulation,
        efforts: (arrays.has_any(Presence::Efforts) || arrays.has_any(Presence::ContactPoints))
            .then(|| efforts(arrays, frames, bodies))
            .transpose()?,
        phase: arrays.has("phase").then(|| phase(arrays, frames)).transpose()?,
        phase_model: arrays.has("phase_model").then(|| arrays.text("phase_model")).transpose()?,
        generation: (arrays.has_any(Presence::Generation) || arrays.has("ground_offset"))
            .then(|| generation(arrays, frames, joints, bodies))
            .transpose()?,
        recipe: arrays.has_any(Presence::Recipe).then(|| recipe(arrays)).transpose()?,
        source: arrays.text("source")?,
        license: arrays.text("license")?,
        config_hash: arrays.text("config_hash")?,
    };
    recording.validate().map_err(|source| arrays.invalid(source))?;
    Ok(recording)
}

fn skeleton(
    arrays: &Arrays,
    names: &[String],
    positions: &FrameTable<Vec3>,
    quaternions: &FrameTable<Quat>,
) -> Result<Skeleton, FormatError> {
    let parent_names = arrays.texts("parent_names")?;
    if parent_names.len() != names.len() {
        let reason = format!("it names {} parents for {} bone_names", parent_names.len(), names.len());
        return Err(arrays.error("parent_names", reason));
    }
    let parents: Vec<Option<JointIndex>> = parent_names
        .iter()
        .enumerate()
        .map(|(joint, parent)| match names.iter().position(|name| name == parent) {
            _ if parent.is_empty() => Ok(None),
            Some(index) => Ok(Some(JointIndex(index))),
            None => {
                let reason =
                    format!("\"{parent}\", the parent of \"{}\", is no bone of bone_names", names[joint]);
                Err(arrays.error("parent_names", reason))
            }
        })
        .collect::<Result<_, _>>()?;
    let skeleton = if arrays.has("bone_offsets") {
        let offsets = arrays.floats("bone_offsets", &[names.len(), 3])?;
        let joints = names
            .iter()
            .zip(&parents)
            .zip(offsets.as_chunks::<3>().0)
            .map(|((name, &parent), &offset)| Joint {
                name: name.clone(),
                parent,
                offset: Vec3::from_array(offset),
            })
            .collect();
        Skeleton::new(joints)
    } else {
        let first = GlobalPose { positions: positions[0].into(), rotations: quaternions[0].into() };
        Recording::skeleton_of_pose(names, &parents, &first)
    };
    skeleton.map_err(|source| arrays.invalid(source))
}

fn vectors(
    arrays: &Arrays,
    name: &str,
    frames: usize,
    columns: usize,
) -> Result<FrameTable<Vec3>, FormatError> {
    let values = arrays.floats(name, &[frames, columns, 3])?;
    let values = values.as_chunks::<3>().0.iter().map(|&v| Vec3::from_array(v)).collect();
    table(arrays, name, columns, values)
}

fn quaternions(
    arrays: &Arrays,
    name: &str,
    frames: usize,
    columns: usize,
) -> Result<FrameTable<Quat>, FormatError> {
    let values = arrays.floats(name, &[frames, columns, 4])?;
    let values: Vec<Quat> = values.as_chunks::<4>().0.iter().map(|&v| Quat::from_array(v)).collect();
    if let Some(at) = values.iter().position(|q| (q.length() - 1.0).abs() > UNIT_TOLERANCE) {
        let (frame, column, length) = (at / columns, at % columns, values[at].length());
        return Err(arrays
            .error(name, format!("the quaternion at [{frame}, {column}] has length {length}, expected 1")));
    }
    table(arrays, name, columns, values)
}

fn table<T: Clone>(
    arrays: &Arrays,
    name: &str,
    columns: usize,
    values: Vec<T>,
) -> Result<FrameTable<T>, FormatError> {
    FrameTable::from_values(columns, values).ok_or_else(|| arrays.error(name, "it has no columns"))
}

fn triples(arrays: &Arrays, name: &str, frames: usize) -> Result<Vec<Vec3>, FormatError> {
    Ok(arrays.rows(name, frames)?.into_iter().map(Vec3::from_array).collect())
}

fn terrain(arrays: &Arrays) -> Result<TerrainGrid, FormatError> {
    let &[rows, columns] = &arrays.get("terrain_height")?.shape[..] else {
        return Err(arrays.error("terrain_height", "it must have two dimensions"));
    };
    if rows < 2 || columns < 2 {
        return Err(
            arrays.error("terrain_height", format!("it is {rows} × {columns}, expected at least 2 × 2"))
        );
    }
    let heights = arrays.floats("terrain_height", &[rows, columns])?;
    let origin = arrays.floats("terrain_origin", &[2])?;
    let cell_m = arrays.scalar("terrain_cell")?;
    if cell_m <= 0.0 {
        return Err(
            arrays.error("terrain_cell", format!("it is {cell_m}, expected a positive size in metres"))
        );
    }
    Ok(TerrainGrid {
        heights: table(arrays, "terrain_height", columns, heights.to_vec())?,
        origin: [origin[0], origin[1]],
        cell_m,
    })
}

fn simulation(arrays: &Arrays, frames: usize, joints: usize) -> Result<SimulationTrack, FormatError> {
    let body_names = arrays.texts("body_names")?;
    let bodies = body_names.len();
    let contact_impulse = vectors(arrays, "contact_impulse", frames, bodies)?;
    // Version 0.1 stored the simulator's impulses alone.
    let (impulse_estimator, sim_contact_impulse) = if arrays.has_any(Presence::Estimate) {
        (arrays.text("impulse_estimator")?, vectors(arrays, "sim_contact_impulse", frames, bodies)?)
    } else {
        (ESTIMATED_BY_SIMULATION.to_owned(), contact_impulse.clone())
    };
    Ok(SimulationTrack {
        body_names,
        body_mass_kg: arrays.floats("body_mass", &[bodies])?.to_vec(),
        contact_impulse,
        impulse_estimator,
        sim_contact_impulse,
        positions: vectors(arrays, "sim_positions", frames, joints)?,
        quaternions: quaternions(arrays, "sim_quaternions", frames, joints)?,
        velocities: vectors(arrays, "sim_velocities", frames, joints)?,
        assist_force: triples(arrays, "assist_force", frames)?,
        assist_torque: triples(arrays, "assist_torque", frames)?,
    })
}

fn phase(arrays: &Arrays, frames: usize) -> Result<FrameTable<f32>, FormatError> {
    let columns = match arrays.get("phase")?.shape[..] {
        [found, columns] if found == frames && columns > 0 && columns.is_multiple_of(2) => columns,
        ref shape => {
            let reason = format!("its shape is {shape:?}, expected [{frames}, 2C]");
            return Err(arrays.error("phase", reason));
        }
    };
    let values = arrays.floats("phase", &[frames, columns])?;
    table(arrays, "phase", columns, values.to_vec())
}

fn efforts(arrays: &Arrays, frames: usize, bodies: Option<usize>) -> Result<EffortTrack, FormatError> {
    let bodies = bodies.ok_or_else(|| {
        arrays.error("joint_torque", "the file has no body_names to which the torques belong")
    })?;
    let torques = arrays.floats("joint_torque", &[frames, bodies])?;
    let limits = arrays.floats("assist_limit", &[2])?;
    Ok(EffortTrack {
        joint_torque: table(arrays, "joint_torque", bodies, torques.to_vec())?,
        assist_limit: [limits[0], limits[1]],
        contact_point: arrays
            .has("contact_point")
            .then(|| vectors(arrays, "contact_point", frames, bodies))
            .transpose()?,
    })
}

fn generation(
    arrays: &Arrays,
    frames: usize,
    joints: usize,
    bodies: Option<usize>,
) -> Result<GenerationTrack, FormatError> {
    let pushes = arrays.get("push")?.shape.first().copied().unwrap_or(0);
    let pushes = arrays.rows::<PUSH_COLUMNS>("push", pushes)?;
    let pushes = pushes
        .iter()
        .enumerate()
        .map(|(row, &[time_s, body, jx, jy, jz, px, py, pz])| {
            let limit = bodies.unwrap_or(usize::MAX);
            if body < 0.0 || body.fract() != 0.0 || body as usize >= limit {
                let reason =
                    format!("the body index at [{row}, 1] is {body}, which is no body of body_names");
                return Err(arrays.error("push", reason));
            }
            Ok(PushRecord {
                time_s,
                body: body as usize,
                impulse_ns: Vec3::new(jx, jy, jz),
                point: Vec3::new(px, py, pz),
            })
        })
        .collect::<Result<_, _>>()?;
    Ok(GenerationTrack {
        target_positions: vectors(arrays, "target_positions", frames, joints)?,
        pushes,
        control: arrays.rows("control", frames)?,
        frame_time_us: arrays.floats_or_none("frame_time_us", &[frames])?,
        ground_offset: arrays
            .has("ground_offset")
            .then(|| arrays.rows("ground_offset", frames))
            .transpose()?
            .map(|rows| rows.into_iter().map(Vec3::from_array).collect()),
    })
}

fn recipe(arrays: &Arrays) -> Result<Recipe, FormatError> {
    let frames = arrays.get("plan")?.shape.first().copied().unwrap_or(0);
    let plan = arrays.rows::<PLAN_COLUMNS>("plan", frames)?;
    for (frame, row) in plan.iter().enumerate() {
        let gait = row[PLAN_COLUMNS - 1];
        if gait < 0.0 || gait.fract() != 0.0 || gait as usize >= Gait::COUNT {
            let reason =
                format!("the gait at [{frame}, 4] is {gait}, expected an index below {}", Gait::COUNT);
            return Err(arrays.error("plan", reason));
        }
    }
    Ok(Recipe { settings: arrays.text("recipe")?, plan })
}
