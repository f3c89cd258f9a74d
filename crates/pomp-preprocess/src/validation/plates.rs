//! Force plates: a manifest of trials, and per trial a table of forces on the frames of its clip.

use crate::plate_error::PlateError;
use pomp_motion::glam::DVec3;
use std::path::{Path, PathBuf};

/// A trial as the manifest states it.
#[derive(Clone, Debug, PartialEq)]
pub struct Trial {
    /// Name of the clip without folder and extension.
    pub name: String,
    /// The clip.
    pub clip: PathBuf,
    /// The plates.
    pub plates: PathBuf,
    /// Mass of the person, kg.
    pub mass_kg: f64,
    /// Activity: the first of `labels`, or "unknown".
    pub activity: String,
    /// Share of the trial in which the plates carried something; 1 when not stated.
    pub contact_fraction: f64,
}

impl Trial {
    /// Whether the plates saw every contact, so that their sum is the whole force: they carried something nearly always,
    /// or the person leaves the ground.
    pub fn complete(&self) -> bool {
        self.contact_fraction >= 0.95 || self.activity == "run" || self.activity == "jump"
    }
}

/// Trials of `manifest.csv` in `folder` (columns `path`, `grf`, `mass_kg_use`; `labels` and `contact_fraction` are
/// used when there), sorted by name.
///
/// # Errors
/// No manifest, a column missing, a mass that is no positive number, no trial.
pub fn trials(folder: &Path) -> Result<Vec<Trial>, PlateError> {
    let path = folder.join("manifest.csv");
    let csv = |source| PlateError::Csv { path: path.clone(), source };
    let mut reader = csv::Reader::from_path(&path).map_err(csv)?;
    let headers = reader.headers().map_err(csv)?.clone();
    let columns = columns(
        &path,
        &headers,
        &["path", "grf", "mass_kg_use"],
        "the manifest names each clip, its plates and the mass of the person",
    )?;
    let optional = ["labels", "contact_fraction"].map(|name| headers.iter().position(|h| h == name));
    let mut trials = Vec::new();
    for record in reader.records() {
        let record = record.map_err(csv)?;
        let line = record.position().map_or(0, csv::Position::line);
        let field = |at: usize| record.get(at).unwrap_or_default();
        if field(columns[1]).is_empty() {
            continue;
        }
        let positive = |at: usize, name: &str| {
            let text = field(at);
            text.parse().ok().filter(|v: &f64| v.is_finite() && *v > 0.0).ok_or_else(|| {
                PlateError::BadValue {
                    path: path.clone(),
                    line,
                    column: name.to_owned(),
                    found: text.to_owned(),
                    expected: "a positive number",
                }
            })
        };
        let clip = folder.join(field(columns[0]));
        let labels = optional[0].map_or("", field);
        trials.push(Trial {
            name: clip.file_stem().map_or_else(String::new, |stem| stem.to_string_lossy().into_owned()),
            plates: folder.join(field(columns[1])),
            clip,
            mass_kg: positive(columns[2], "mass_kg_use")?,
            activity: labels
                .split([';', ' ', ','])
                .next()
                .filter(|s| !s.is_empty())
                .unwrap_or("unknown")
                .to_owned(),
            contact_fraction: match optional[1] {
                Some(at) => positive(at, "contact_fraction")?,
                None => 1.0,
            },
        });
    }
    if trials.is_empty() {
        return Err(PlateError::NoTrials { path });
    }
    trials.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(trials)
}

/// Measurements of the plates: left and right foot per row.
#[derive(Clone, Debug, PartialEq)]
pub struct Plates {
    /// Time of each row from the first one, s.
    pub time_s: Vec<f64>,
    /// Force on the feet, N, world.
    pub force_n: Vec<[DVec3; 2]>,
    /// Centre of pressure, metres, world of the clip.
    pub pressure_center_m: Vec<[DVec3; 2]>,
}

impl Plates {
    /// Reads a table with columns `t` (s), and for L and R `_fx_N`, `_fy_N`, `_fz_N`, `_px_cm`, `_py_cm`, `_pz_cm`.
    ///
    /// # Errors
    /// A column missing, a value that is no finite number, times that do not rise; with file, line and column.
    pub fn read(path: &Path) -> Result<Self, PlateError> {
        let csv = |source| PlateError::Csv { path: path.to_path_buf(), source };
        let mut reader = csv::Reader::from_path(path).map_err(csv)?;
        let headers = reader.headers().map_err(csv)?.clone();
        let mut names = vec!["t".to_owned()];
        for side in ["L", "R"] {
            names.extend(["fx_N", "fy_N", "fz_N", "px_cm", "py_cm", "pz_cm"].map(|c| format!("{side}_{c}")));
        }
        let wanted: Vec<&str> = names.iter().map(String::as_str).collect();
        let columns =
            columns(path, &headers, &wanted, "force plates need time, forces and centres of pressure")?;
        let mut plates = Self { time_s: vec![], force_n: vec![], pressure_center_m: vec![] };
        for record in reader.records() {
            let record = record.map_err(csv)?;
            let line = record.position().map_or(0, csv::Position::line);
            let bad = |column: usize, expected| PlateError::BadValue {
                path: path.to_path_buf(),
                line,
                column: names[column].clone(),
                found: record.get(columns[column]).unwrap_or_default().to_owned(),
                expected,
            };
            let mut row = [0.0; 13];
            for (column, value) in row.iter_mut().enumerate() {
                let text = record.get(columns[column]).unwrap_or_default().trim();
                *value = text
                    .parse()
                    .ok()
                    .filter(|v: &f64| v.is_finite())
                    .ok_or_else(|| bad(column, "a finite number"))?;
            }
            if plates.time_s.last().is_some_and(|last| row[0] <= *last) {
                return Err(bad(0, "later than the row before"));
            }
            let triple = |at: usize| DVec3::new(row[at], row[at + 1], row[at + 2]);
            plates.time_s.push(row[0]);
            plates.force_n.push([triple(1), triple(7)]);
            plates.pressure_center_m.push([triple(4) * 0.01, triple(10) * 0.01]);
        }
        let first = plates.time_s.first().copied().unwrap_or_default();
        for time in &mut plates.time_s {
            *time -= first;
        }
        Ok(plates)
    }

    /// Seconds from the first row to the last.
    pub fn seconds(&self) -> f64 {
        self.time_s.last().copied().unwrap_or_default()
    }

    /// Mean force and centre of pressure (weighted by the vertical force) of each frame's time, from the frame before
    /// to this one; the first frame has the values of the second.
    pub fn per_frame(&self, frames: usize, rate_hz: f64) -> Vec<[PlateFrame; 2]> {
        let mut result: Vec<[PlateFrame; 2]> = (0..frames)
            .map(|frame| {
                let (from, to) = ((frame as f64 - 1.0) / rate_hz, frame as f64 / rate_hz);
                [0, 1].map(|foot| self.mean(foot, from.max(0.0), to.max(1e-9)))
            })
            .collect();
        if frames > 1 {
            result[0] = result[1];
        }
        result
    }

    fn mean(&self, foot: usize, from: f64, to: f64) -> PlateFrame {
        // A few samples of the linear interpolation: plates run faster than frames, but not by much.
        const SAMPLES: usize = 8;
        let mut frame = PlateFrame::default();
        let mut load = 0.0;
        for k in 0..SAMPLES {
            let time = from + (to - from) * (k as f64 + 0.5) / SAMPLES as f64;
            let after = self.time_s.partition_point(|t| *t < time).clamp(1, self.time_s.len().max(2) - 1);
            let (t0, t1) = (self.time_s[after - 1], self.time_s[after]);
            let share = ((time - t0) / (t1 - t0)).clamp(0.0, 1.0);
            let (a, b) = (self.force_n[after - 1][foot], self.force_n[after][foot]);
            let force = a.lerp(b, share);
            frame.force_n += force / SAMPLES as f64;
            // An unloaded plate has no centre of pressure.
            let (wa, wb) = (a.y.max(0.0) * (1.0 - share), b.y.max(0.0) * share);
            let places = &self.pressure_center_m;
            frame.center_m += places[after - 1][foot] * wa + places[after][foot] * wb;
            load += wa + wb;
        }
        if load > 0.0 {
            frame.center_m /= load;
        }
        frame
    }
}

/// Measurement under one foot during one frame.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PlateFrame {
    /// Mean force, N.
    pub force_n: DVec3,
    /// Centre of pressure, metres; zero without load.
    pub center_m: DVec3,
}

fn columns(
    path: &Path,
    headers: &csv::StringRecord,
    wanted: &[&str],
    what: &'static str,
) -> Result<Vec<usize>, PlateError> {
    let found: Vec<Option<usize>> =
        wanted.iter().map(|name| headers.iter().position(|h| h.trim() == *name)).collect();
    let missing: Vec<String> = wanted
        .iter()
        .zip(&found)
        .filter(|(_, at)| at.is_none())
        .map(|(name, _)| (*name).to_owned())
        .collect();
    if missing.is_empty() {
        Ok(found.into_iter().flatten().collect())
    } else {
        Err(PlateError::MissingColumns { path: path.to_path_buf(), missing, what })
    }
}
