use super::{PLAN_COLUMNS, PUSH_COLUMNS};
use crate::{FormatError, write_atomically};
use glam::{Quat, Vec3};
use npyz::{DType, WriterBuilder};
use pomp_motion::{FrameTable, Recording};
use std::io::{Cursor, Write};
use std::path::Path;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, DateTime, ZipWriter};

/// Writes a recording as one npz file; the arrays are listed in [`crate::npz`].
///
/// The same recording gives the same bytes.
///
/// # Errors
/// [`FormatError::Motion`] when the recording contradicts itself, [`FormatError::Npz`] naming an array with a
/// value that is not finite, [`FormatError::CannotWrite`] for names that numpy cannot hold, [`FormatError::Io`]
/// when the file cannot be written.
pub fn write_recording(path: &Path, recording: &Recording) -> Result<(), FormatError> {
    let bytes = bytes(recording, &path.display().to_string())?;
    write_atomically(path, |out| out.write_all(&bytes))
}

/// The bytes of the npz file that [`write_recording`] writes.
///
/// # Errors
/// As [`write_recording`], less those of the file system; errors name the recording in place of a file.
pub fn recording_bytes(recording: &Recording) -> Result<Vec<u8>, FormatError> {
    bytes(recording, &recording.name)
}

/// The bytes of the npz file that [`write_recording`] would write of `recording` if it had no phases.
///
/// They are the same before and after phases are read, and whether or not the file was compressed: whoever asks
/// whether data has changed hashes these.
///
/// # Errors
/// As [`write_recording`], less those of the file system; errors name the recording in place of a file.
pub fn bytes_without_phases(recording: &Recording) -> Result<Vec<u8>, FormatError> {
    let bare = Recording { phase: None, phase_model: None, ..recording.clone() };
    bytes(&bare, &recording.name)
}

/// The arrays that a file of `recording` holds, each handed to `take` with its name there, in the order of the file.
///
/// # Errors
/// As [`write_recording`], less those of the file system; errors name the recording in place of a file.
pub fn each_array(recording: &Recording, take: &mut dyn FnMut(NamedArray)) -> Result<(), FormatError> {
    let mut take = |array| {
        take(array);
        Ok(())
    };
    Arrays { file: recording.name.clone(), take: &mut take }.recording(recording)
}

fn bytes(recording: &Recording, file: &str) -> Result<Vec<u8>, FormatError> {
    let file = file.to_owned();
    let mut archive = Archive { file: file.clone(), zip: ZipWriter::new(Cursor::new(Vec::new())) };
    Arrays { file, take: &mut |array| archive.add(&array) }.recording(recording)?;
    archive.finish()
}

/// An array of a recording.
#[derive(Clone, Debug, PartialEq)]
pub struct NamedArray {
    /// Its name in the file; [`super::ARRAYS`] says what it holds.
    pub name: &'static str,
    /// Sizes, slowest first; none for a single value.
    pub shape: Vec<usize>,
    /// The values, row-major.
    pub values: ArrayValues,
}

/// The values of a [`NamedArray`].
#[derive(Clone, Debug, PartialEq)]
pub enum ArrayValues {
    /// Numbers.
    Floats(Vec<f32>),
    /// Yes or no.
    Booleans(Vec<bool>),
    /// Texts.
    Texts(Vec<String>),
}

/// Takes a recording apart into arrays, one at a time: all of them take as much room as the recording.
struct Arrays<'a> {
    /// Name of the file or recording, for errors.
    file: String,
    take: &'a mut dyn FnMut(NamedArray) -> Result<(), FormatError>,
}

impl Arrays<'_> {
    fn recording(&mut self, recording: &Recording) -> Result<(), FormatError> {
        recording.validate().map_err(|source| FormatError::Motion { file: self.file.clone(), source })?;
        let (frames, joints) = (recording.frames(), recording.skeleton.len());
        let skeleton = recording.skeleton.joints();
        let names: Vec<&str> = skeleton.iter().map(|joint| joint.name.as_str()).collect();
        if names.contains(&"") {
            return Err(self.cannot("a joint has an empty name; name it".to_owned()));
        }
        let parents: Vec<&str> =
            skeleton.iter().map(|joint| joint.parent.map_or("", |parent| names[parent.0])).collect();
        self.texts("name", &[], &[&recording.name])?;
        self.vectors("positions", &recording.positions, joints)?;
        self.quaternions("quaternions", &recording.quaternions, joints)?;
        self.texts("bone_names", &[joints], &names)?;
        self.texts("parent_names", &[joints], &parents)?;
        self.floats("framerate", &[], [recording.frame_rate_hz])?;
        let offsets = skeleton.iter().flat_map(|joint| joint.offset.to_array());
        self.floats("bone_offsets", &[joints, 3], offsets)?;
        self.floats("root", &[frames, 4], recording.root.iter().flatten().copied())?;
        self.vectors("velocities", &recording.velocities, joints)?;
        let gaits = pomp_motion::Gait::COUNT;
        self.floats("gait", &[frames, gaits], recording.gait.iter().flatten().copied())?;
        self.booleans("foot_contact", &[frames, 4], recording.foot_contact.iter().flatten().copied())?;
        if let Some(terrain) = &recording.terrain {
            let shape = [terrain.heights.frames(), terrain.heights.columns()];
            self.floats("terrain_height", &shape, terrain.heights.values().iter().copied())?;
            self.floats("terrain_origin", &[2], terrain.origin)?;
            self.floats("terrain_cell", &[], [terrain.cell_m])?;
        }
        if let Some(simulation) = &recording.simulation {
            let bodies = simulation.body_names.len();
            let names: Vec<&str> = simulation.body_names.iter().map(String::as_str).collect();
            self.texts("body_names", &[bodies], &names)?;
            self.floats("body_mass", &[bodies], simulation.body_mass_kg.iter().copied())?;
            self.vectors("contact_impulse", &simulation.contact_impulse, bodies)?;
            self.texts("impulse_estimator", &[], &[&simulation.impulse_estimator])?;
            self.vectors("sim_contact_impulse", &simulation.sim_contact_impulse, bodies)?;
            self.vectors("sim_positions", &simulation.positions, joints)?;
            self.quaternions("sim_quaternions", &simulation.quaternions, joints)?;
            self.vectors("sim_velocities", &simulation.velocities, joints)?;
            self.floats("assist_force", &[frames, 3], coordinates(&simulation.assist_force))?;
            self.floats("assist_torque", &[frames, 3], coordinates(&simulation.assist_torque))?;
        }
        if let Some(efforts) = &recording.efforts {
            let bodies = efforts.joint_torque.columns();
            let torques = efforts.joint_torque.values().iter().copied();
            self.floats("joint_torque", &[frames, bodies], torques)?;
            self.floats("assist_limit", &[2], efforts.assist_limit)?;
            if let Some(points) = &efforts.contact_point {
                self.vectors("contact_point", points, bodies)?;
            }
        }
        if let Some(phase) = &recording.phase {
            let shape = [phase.frames(), phase.columns()];
            self.floats("phase", &shape, phase.values().iter().copied())?;
        }
        if let Some(model) = &recording.phase_model {
            self.texts("phase_model", &[], &[model])?;
        }
        if let Some(generation) = &recording.generation {
            self.vectors("target_positions", &generation.target_positions, joints)?;
            let pushes = generation.pushes.iter().flat_map(|push| {
                let [[jx, jy, jz], [px, py, pz]] = [push.impulse_ns.to_array(), push.point.to_array()];
                [push.time_s, push.body as f32, jx, jy, jz, px, py, pz]
            });
            self.floats("push", &[generation.pushes.len(), PUSH_COLUMNS], pushes)?;
            self.floats("control", &[frames, 4], generation.control.iter().flatten().copied())?;
            match &generation.frame_time_us {
                Some(times) => self.floats("frame_time_us", &[frames], times.iter().copied())?,
                None => self.give("frame_time_us", &[frames], ArrayValues::Floats(vec![f32::NAN; frames]))?,
            }
            if let Some(offsets) = &generation.ground_offset {
                self.floats("ground_offset", &[frames, 3], coordinates(offsets))?;
            }
        }
        if let Some(recipe) = &recording.recipe {
            self.texts("recipe", &[], &[&recipe.settings])?;
            let shape = [recipe.plan.len(), PLAN_COLUMNS];
            self.floats("plan", &shape, recipe.plan.iter().flatten().copied())?;
        }
        self.texts("source", &[], &[&recording.source])?;
        self.texts("license", &[], &[&recording.license])?;
        self.texts("config_hash", &[], &[&recording.config_hash])
    }

    fn vectors(
        &mut self,
        name: &'static str,
        table: &FrameTable<Vec3>,
        columns: usize,
    ) -> Result<(), FormatError> {
        self.floats(name, &[table.frames(), columns, 3], coordinates(table.values()))
    }

    fn quaternions(
        &mut self,
        name: &'static str,
        table: &FrameTable<Quat>,
        columns: usize,
    ) -> Result<(), FormatError> {
        let values = table.values().iter().flat_map(Quat::to_array);
        self.floats(name, &[table.frames(), columns, 4], values)
    }

    fn floats(
        &mut self,
        name: &'static str,
        shape: &[usize],
        values: impl IntoIterator<Item = f32>,
    ) -> Result<(), FormatError> {
        let values: Vec<f32> = values.into_iter().collect();
        let expected: usize = shape.iter().product();
        if values.len() != expected {
            let problem = format!("{} values for the shape {shape:?}", values.len());
            return Err(FormatError::Npz { file: self.file.clone(), array: name.to_owned(), problem });
        }
        if let Some(at) = values.iter().position(|value| !value.is_finite()) {
            let problem = format!("value {at} of the shape {shape:?} is {}", values[at]);
            return Err(FormatError::Npz { file: self.file.clone(), array: name.to_owned(), problem });
        }
        self.give(name, shape, ArrayValues::Floats(values))
    }

    fn booleans(
        &mut self,
        name: &'static str,
        shape: &[usize],
        values: impl IntoIterator<Item = bool>,
    ) -> Result<(), FormatError> {
        self.give(name, shape, ArrayValues::Booleans(values.into_iter().collect()))
    }

    fn texts(&mut self, name: &'static str, shape: &[usize], values: &[&str]) -> Result<(), FormatError> {
        if let Some(text) = values.iter().find(|text| text.contains('\0')) {
            return Err(self.cannot(format!("{name} has the text {text:?}, and numpy ends text at a NUL")));
        }
        self.give(name, shape, ArrayValues::Texts(values.iter().map(|&text| text.to_owned()).collect()))
    }

    fn give(&mut self, name: &'static str, shape: &[usize], values: ArrayValues) -> Result<(), FormatError> {
        (self.take)(NamedArray { name, shape: shape.to_vec(), values })
    }

    fn cannot(&self, problem: String) -> FormatError {
        FormatError::CannotWrite { file: self.file.clone(), problem }
    }
}

/// An npz file in memory: a recording is small, and a zip must seek.
struct Archive {
    file: String,
    zip: ZipWriter<Cursor<Vec<u8>>>,
}

impl Archive {
    fn add(&mut self, array: &NamedArray) -> Result<(), FormatError> {
        let NamedArray { name, shape, values } = array;
        match values {
            ArrayValues::Floats(values) => self.array::<f32, f32>(name, "<f4", shape, values),
            ArrayValues::Booleans(values) => self.array::<bool, bool>(name, "|b1", shape, values),
            ArrayValues::Texts(values) => {
                // numpy has no text of length 0.
                let points = values.iter().map(|text| text.chars().count()).max().unwrap_or(0).max(1);
                self.array::<str, String>(name, &format!("<U{points}"), shape, values)
            }
        }
    }

    fn array<T, V>(
        &mut self,
        name: &str,
        descr: &str,
        shape: &[usize],
        values: &[V],
    ) -> Result<(), FormatError>
    where
        T: npyz::Serialize + ?Sized,
        V: std::borrow::Borrow<T>,
    {
        let options = SimpleFileOptions::default()
            .compression_method(CompressionMethod::Stored)
            .last_modified_time(DateTime::DEFAULT)
            .unix_permissions(0o644);
        let shape: Vec<u64> = shape.iter().map(|&size| size as u64).collect();
        let kind = descr.parse().expect("the element types written here are npy's own");
        let mut bytes = Vec::new();
        let written = npyz::WriteOptions::<T>::new()
            .dtype(DType::new_scalar(kind))
            .shape(&shape)
            .writer(&mut bytes)
            .begin_nd()
            .and_then(|mut array| {
                for value in values {
                    array.push(value.borrow())?;
                }
                array.finish()
            });
        written.map_err(|refusal| self.cannot(format!("array {name}: {refusal}")))?;
        self.zip
            .start_file(format!("{name}.npy"), options)
            .map_err(|refusal| self.cannot(format!("array {name}: {refusal}")))?;
        self.zip.write_all(&bytes).map_err(|refusal| self.cannot(format!("array {name}: {refusal}")))
    }

    fn finish(self) -> Result<Vec<u8>, FormatError> {
        let Self { file, zip } = self;
        let finished = zip.finish().map_err(|refusal| FormatError::CannotWrite {
            file,
            problem: format!("the archive cannot be closed: {refusal}"),
        })?;
        Ok(finished.into_inner())
    }

    fn cannot(&self, problem: String) -> FormatError {
        FormatError::CannotWrite { file: self.file.clone(), problem }
    }
}

fn coordinates(vectors: &[Vec3]) -> impl Iterator<Item = f32> {
    vectors.iter().flat_map(Vec3::to_array)
}
