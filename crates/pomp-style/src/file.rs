//! Style files: safetensors of 64-bit numbers, with one entry of metadata, JSON, that says what they are.

use crate::config::StyleConfig;
use crate::cycle::KEY_FRAMES;
use crate::fit::FitReport;
use crate::model::{CodedCycle, DataRecord, Reference, StyleModel};
use crate::posture::PostureSpace;
use crate::principal::Principal;
use crate::subspaces::{Search, Subspaces};
use crate::{StyleError, WalkCycle};
use glam::{Quat, Vec3};
use nalgebra::{DMatrix, DVector};
use pomp_files::Hasher;
use pomp_motion::{Pose, RootFrame, Skeleton};
use safetensors::tensor::{Dtype, SafeTensors, TensorView};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

/// Key of the metadata.
const KEY: &str = "pomp-style";
/// Version of the format; it counts up when an older program would misread a file.
const VERSION: u32 = 1;
/// Largest numbers of frames, joints, components and cycles that are believed.
const MOST: usize = 1 << 20;

/// What the metadata says.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Header {
    version: u32,
    made_by: String,
    config: StyleConfig,
    data: DataRecord,
    report: FitReport,
    skeleton: Skeleton,
    frame_rate_hz: f32,
    keys: [usize; KEY_FRAMES],
    contact: Vec<[bool; 4]>,
    style_subspace: usize,
    start: usize,
    /// Names and styles of the cycles of the fit.
    cycles: Vec<(String, String)>,
    /// SHA-256 over the tensors: a file whose numbers were changed is refused.
    tensors_sha256: String,
}

/// Writes a model with the figures of its fit: whole, or not at all.
///
/// # Errors
/// [`StyleError::Io`].
pub fn save(model: &StyleModel, report: &FitReport, path: &Path) -> Result<(), StyleError> {
    let bytes = to_bytes(model, report);
    let failed = |source| StyleError::Io { action: "write", path: path.to_owned(), source };
    pomp_files::replace_file(path, |file| file.write_all(&bytes)).map_err(failed)
}

/// Reads a model and the figures of its fit.
///
/// # Errors
/// [`StyleError::Io`], and [`StyleError::BadFile`] for what is no style file, or a damaged one.
pub fn open(path: &Path) -> Result<(StyleModel, FitReport), StyleError> {
    let bytes = std::fs::read(path).map_err(|source| StyleError::Io {
        action: "read",
        path: path.to_owned(),
        source,
    })?;
    from_bytes(&bytes).map_err(|reason| StyleError::BadFile { path: path.to_owned(), reason })
}

/// A table of numbers with its name.
struct Table(&'static str, DMatrix<f64>);

fn tables(model: &StyleModel) -> Vec<Table> {
    let column = |values: &[f64]| DMatrix::from_column_slice(values.len(), 1, values);
    let principal = |names: [&'static str; 4], principal: &Principal| {
        let [mean, basis, variances, total] = names;
        vec![
            Table(mean, column(principal.mean.as_slice())),
            Table(basis, principal.basis.clone()),
            Table(variances, column(&principal.variances)),
            Table(total, column(&[principal.total_variance])),
        ]
    };
    let poses = &model.reference.poses;
    let pose_row = |pose: &Pose| {
        let numbers = pose.root_position.to_array().into_iter();
        numbers
            .chain(pose.local_rotations.iter().flat_map(Quat::to_array))
            .map(f64::from)
            .collect::<Vec<f64>>()
    };
    let rows: Vec<f64> = poses.iter().flat_map(&pose_row).collect();
    let means: Vec<f64> = model.space.means().iter().flat_map(Quat::to_array).map(f64::from).collect();
    let codes: Vec<_> = model.cycles.iter().map(|cycle| cycle.code.transpose()).collect();
    let mut all = vec![
        Table("codes", DMatrix::from_rows(&codes)),
        Table("joint_means", DMatrix::from_row_slice(model.space.means().len(), 4, &means)),
        Table("reference_poses", DMatrix::from_row_slice(poses.len(), rows.len() / poses.len(), &rows)),
        Table("rotation", model.subspaces.rotation.clone()),
        Table("timing_weight", column(&[model.timing_weight])),
    ];
    all.extend(principal(POSTURE, &model.posture));
    all.extend(principal(TIMING, &model.timing));
    all.extend(principal(WHITENING, &model.whitening));
    all
}

const POSTURE: [&str; 4] = ["posture_mean", "posture_basis", "posture_variances", "posture_total_variance"];
const TIMING: [&str; 4] = ["timing_mean", "timing_basis", "timing_variances", "timing_total_variance"];
const WHITENING: [&str; 4] =
    ["whitening_mean", "whitening_basis", "whitening_variances", "whitening_total_variance"];

/// Row-major bytes.
fn bytes_of(table: &DMatrix<f64>) -> Vec<u8> {
    table.transpose().as_slice().iter().flat_map(|value| value.to_le_bytes()).collect()
}

/// Hash of tensors in the order of their names.
fn hash_of<'a>(tensors: impl Iterator<Item = (&'a str, &'a [u8])>) -> String {
    let mut sorted: Vec<(&str, &[u8])> = tensors.collect();
    sorted.sort_unstable();
    let mut hasher = Hasher::default();
    for (name, bytes) in sorted {
        hasher.update(name);
        hasher.update(bytes);
    }
    hasher.finish().to_string()
}

fn to_bytes(model: &StyleModel, report: &FitReport) -> Vec<u8> {
    let mut tables: Vec<(&str, [usize; 2], Vec<u8>)> = tables(model)
        .into_iter()
        .map(|Table(name, table)| (name, [table.nrows(), table.ncols()], bytes_of(&table)))
        .collect();
    tables.sort_by_key(|(name, ..)| *name);
    let header = Header {
        version: VERSION,
        made_by: format!("pomp {}", env!("CARGO_PKG_VERSION")),
        config: model.config.clone(),
        data: model.data.clone(),
        report: report.clone(),
        skeleton: model.space.skeleton().as_ref().clone(),
        frame_rate_hz: model.reference.frame_rate_hz,
        keys: model.reference.keys,
        contact: model.reference.contact.clone(),
        style_subspace: model.style_subspace,
        start: model.search.start,
        cycles: model.cycles.iter().map(|cycle| (cycle.name.clone(), cycle.style.clone())).collect(),
        tensors_sha256: hash_of(tables.iter().map(|(name, _, bytes)| (*name, bytes.as_slice()))),
    };
    let json = serde_json::to_string(&header).expect("a header is plain data");
    let views = tables.iter().map(|(name, shape, bytes)| {
        (*name, TensorView::new(Dtype::F64, shape.to_vec(), bytes).expect("the values fill the shape"))
    });
    // One entry, because several would be written in another order in every run.
    let metadata = HashMap::from([(KEY.to_owned(), json)]);
    safetensors::serialize(views, Some(metadata)).expect("the header is below the library's 100 MB")
}

/// The tensors of a file, by name and shape.
struct Tensors<'a>(SafeTensors<'a>);

impl Tensors<'_> {
    fn table(&self, name: &str, shape: [Option<usize>; 2]) -> Result<DMatrix<f64>, String> {
        let view = self.0.tensor(name).map_err(|_| format!("the tensor {name} is missing"))?;
        let &[rows, columns] = view.shape() else {
            return Err(format!("the tensor {name} has the shape {:?}, not two dimensions", view.shape()));
        };
        let fits = |found: usize, wanted: Option<usize>| {
            found <= MOST && wanted.is_none_or(|wanted| wanted == found)
        };
        if view.dtype() != Dtype::F64 || !fits(rows, shape[0]) || !fits(columns, shape[1]) {
            return Err(format!("the tensor {name} is {:?} of {rows} × {columns}", view.dtype()));
        }
        let (words, _) = view.data().as_chunks::<8>();
        let values: Vec<f64> = words.iter().map(|&word| f64::from_le_bytes(word)).collect();
        match values.iter().position(|value| !value.is_finite()) {
            None => Ok(DMatrix::from_row_slice(rows, columns, &values)),
            Some(at) => Err(format!("the tensor {name} is not finite at {at}")),
        }
    }

    fn column(&self, name: &str, length: Option<usize>) -> Result<DVector<f64>, String> {
        Ok(self.table(name, [length, Some(1)])?.column(0).into_owned())
    }

    fn principal(&self, names: [&str; 4], size: usize, components: usize) -> Result<Principal, String> {
        let [mean, basis, variances, total] = names;
        let variances = self.column(variances, Some(components))?.as_slice().to_vec();
        if variances.iter().any(|&variance| variance <= 0.0) {
            return Err(format!("a variance of {mean} is not positive"));
        }
        Ok(Principal {
            mean: self.column(mean, Some(size))?,
            basis: self.table(basis, [Some(size), Some(components)])?,
            variances,
            total_variance: self.column(total, Some(1))?[0],
        })
    }
}

fn from_bytes(bytes: &[u8]) -> Result<(StyleModel, FitReport), String> {
    let broken =
        |error: safetensors::SafeTensorError| format!("no style file, or one that was cut ({error})");
    let (_, metadata) = SafeTensors::read_metadata(bytes).map_err(broken)?;
    let tensors = Tensors(SafeTensors::deserialize(bytes).map_err(broken)?);
    let json = metadata
        .metadata()
        .as_ref()
        .and_then(|entries| entries.get(KEY))
        .ok_or("safetensors, but no style file: it has no metadata \"pomp-style\"")?;
    let version: serde_json::Value =
        serde_json::from_str(json).map_err(|error| format!("its metadata: {error}"))?;
    if version["version"] != VERSION {
        return Err(format!("its format is version {}, this program reads {VERSION}", version["version"]));
    }
    let header: Header = serde_json::from_str(json).map_err(|error| format!("its metadata: {error}"))?;
    let hash = hash_of(tensors.0.iter().map(|(name, view)| (name, view.data())));
    if hash != header.tensors_sha256 {
        return Err("its numbers are not those that were written".to_owned());
    }
    let Header { config, data, report, skeleton, frame_rate_hz, keys, contact, .. } = header;
    let timing_weight = tensors.column("timing_weight", Some(1))?[0];
    config.validate().map_err(|error| error.to_string())?;
    let (skeleton, frames) = (Arc::new(skeleton), contact.len());
    let (k, l) = (config.posture_components, config.timing_components);
    let dimensions = k + l;
    let rising = keys.windows(2).all(|pair| pair[0] < pair[1]);
    if frames < 2 || !rising || keys[0] != 0 || keys[KEY_FRAMES - 1] + 1 != frames {
        return Err("its key frames do not fit its contacts".to_owned());
    }
    let positive = |value: f64| value.is_finite() && value > 0.0;
    if !positive(f64::from(frame_rate_hz)) || !positive(timing_weight) {
        return Err("its frame rate or the weight of its timing is not positive".to_owned());
    }
    if header.style_subspace >= config.subspaces.count {
        return Err("it has no such style subspace".to_owned());
    }
    let rotation = |row: &[f64]| {
        let [x, y, z, w] = std::array::from_fn(|i| row[i] as f32);
        Quat::from_xyzw(x, y, z, w)
    };
    let means = tensors.table("joint_means", [Some(skeleton.len()), Some(4)])?.transpose();
    let means: Vec<Quat> = means.as_slice().chunks(4).map(rotation).collect();
    let poses = tensors.table("reference_poses", [Some(frames), Some(3 + 4 * skeleton.len())])?.transpose();
    let poses: Vec<Pose> = poses
        .as_slice()
        .chunks(3 + 4 * skeleton.len())
        .map(|row| Pose {
            root_position: Vec3::from_array(std::array::from_fn(|i| row[i] as f32)),
            local_rotations: row[3..].chunks(4).map(rotation).collect(),
        })
        .collect();
    let is_rotation = |q: &Quat| (q.length() - 1.0).abs() < 1e-3;
    if !means.iter().chain(poses.iter().flat_map(|pose| &pose.local_rotations)).all(is_rotation) {
        return Err("a rotation of its reference is none".to_owned());
    }
    let codes = tensors.table("codes", [Some(header.cycles.len()), Some(dimensions)])?;
    let cycles = header
        .cycles
        .into_iter()
        .zip(codes.row_iter())
        .map(|((name, style), code)| CodedCycle { name, style, code: code.transpose() })
        .collect();
    let space = PostureSpace::of_means(&skeleton, means);
    let reference = WalkCycle {
        name: report.reference.clone(),
        clip: report.reference.clone(),
        style: String::new(),
        positions: poses.iter().map(|pose| skeleton.forward_kinematics(pose).positions.into_vec()).collect(),
        skeleton,
        frame_rate_hz,
        poses,
        contact,
        keys,
        first_frame: 0,
        frame: RootFrame { origin: Vec3::ZERO, yaw: 0.0 },
    };
    let model = StyleModel {
        reference: Reference::of(&reference, &config),
        posture: tensors.principal(POSTURE, frames * space.size(), k)?,
        timing: tensors.principal(TIMING, frames - 1, l)?,
        whitening: tensors.principal(WHITENING, dimensions, dimensions)?,
        subspaces: Subspaces {
            rotation: tensors.table("rotation", [Some(dimensions); 2])?,
            size: dimensions / config.subspaces.count,
        },
        search: Search { likelihood: report.likelihood, iterations: report.iterations, start: header.start },
        style_subspace: header.style_subspace,
        timing_weight,
        space,
        data,
        cycles,
        config,
    };
    Ok((model, report))
}
