//! Clips with the labels of their styles.

use crate::cli::LabelArguments;
use crate::errors::misuse;
use crate::motion_file;
use crate::progress::Progress;
use anyhow::{Context, Result, anyhow, bail};
use pomp_files::{Digest, Hasher};
use pomp_front::measure::files;
use pomp_motion::Recording;
use pomp_motion::retarget::RigLibrary;
use pomp_preprocess::{PreprocessConfig, ProvenanceIndex};
use pomp_style::{DataRecord, StyleClip};
use rayon::prelude::*;
use regex::Regex;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Clips that were read, and where they came from.
pub struct LabelledClips {
    pub clips: Vec<StyleClip>,
    pub data: DataRecord,
}

/// Reads a clip, its contacts as preprocessing finds them.
pub fn read(path: &Path, rigs: &RigLibrary) -> Result<Recording> {
    motion_file::read(path, &PreprocessConfig::default(), rigs)
}

/// Reads all clips among `paths`, in the order of their names.
pub fn read_all(paths: &[PathBuf], labels: &LabelArguments) -> Result<LabelledClips> {
    let source = LabelSource::of(&labels.labels)?;
    let rigs = motion_file::rigs(&labels.rig)?;
    let mut all = Vec::new();
    for path in paths {
        all.extend(files(path)?);
    }
    all.sort();
    all.dedup();
    let labelled = all
        .into_iter()
        .map(|path| {
            let style = source.of_clip(&path)?;
            Ok((path, style))
        })
        .collect::<Result<Vec<_>>>()?;
    let progress = Progress::new("style", "clips", labelled.len());
    let clips = labelled
        .par_iter()
        .map(|(path, style)| {
            let recording = read(path, &rigs)?;
            progress.step();
            Ok(StyleClip { recording, style: style.clone() })
        })
        .collect::<Result<Vec<_>>>()?;
    drop(progress);
    refuse_same_names(&labelled, &clips)?;
    Ok(LabelledClips { data: record(&labelled, &clips)?, clips })
}

/// Cycles are named after clips: two of one name could not be told apart.
fn refuse_same_names(labelled: &[(PathBuf, String)], clips: &[StyleClip]) -> Result<()> {
    let mut by_name: BTreeMap<&str, &Path> = BTreeMap::new();
    for ((path, _), clip) in labelled.iter().zip(clips) {
        if let Some(first) = by_name.insert(&clip.recording.name, path) {
            bail!(
                "{} and {} are both named \"{}\"; rename one of them, or give the folders one by one",
                first.display(),
                path.display(),
                clip.recording.name
            );
        }
    }
    Ok(())
}

/// Hash over names, labels and bytes, and the licences of each style.
fn record(labelled: &[(PathBuf, String)], clips: &[StyleClip]) -> Result<DataRecord> {
    let mut hasher = Hasher::default();
    let mut provenance = ProvenanceIndex::default();
    let mut licenses: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for ((path, style), clip) in labelled.iter().zip(clips) {
        let digest = Digest::of_file(path).with_context(|| path.display().to_string())?;
        hasher.update(format!("{}\n{style}\n{digest}\n", clip.recording.name));
        let mut found = provenance.of(path)?.license;
        if !clip.recording.license.is_empty() {
            found.clone_from(&clip.recording.license);
        }
        licenses.entry(style.clone()).or_default().push(found);
    }
    for list in licenses.values_mut() {
        list.sort_unstable();
        list.dedup();
    }
    Ok(DataRecord { hash: hasher.finish().to_string(), licenses })
}

/// Where labels stand.
enum LabelSource {
    Folder,
    Name(Regex),
    Manifest { file: PathBuf, styles: BTreeMap<PathBuf, String> },
}

impl LabelSource {
    fn of(text: &str) -> Result<Self> {
        if text == "folder" {
            return Ok(Self::Folder);
        }
        if let Some(pattern) = text.strip_prefix("name:") {
            let pattern = Regex::new(pattern).map_err(|error| misuse!("--labels {text}: {error}"))?;
            if pattern.captures_len() < 2 {
                return Err(misuse!(
                    "--labels {text}: the pattern has no group; put the style in parentheses"
                ));
            }
            return Ok(Self::Name(pattern));
        }
        let file = PathBuf::from(text);
        if file.extension().is_none_or(|extension| !extension.eq_ignore_ascii_case("csv")) {
            return Err(misuse!("--labels {text}: give folder, name:PATTERN or a CSV file"));
        }
        let content = std::fs::read_to_string(&file).with_context(|| file.display().to_string())?;
        let folder = file.parent().unwrap_or(Path::new(""));
        let styles = manifest(&content)
            .map_err(|reason| {
                anyhow!("{}: {reason}; give a CSV with the columns path and style", file.display())
            })?
            .into_iter()
            .map(|(path, style)| (folder.join(path), style))
            .collect();
        Ok(Self::Manifest { file, styles })
    }

    fn of_clip(&self, path: &Path) -> Result<String> {
        match self {
            Self::Folder => path
                .parent()
                .and_then(|folder| folder.file_name())
                .map(|name| name.to_string_lossy().into_owned())
                .ok_or_else(|| {
                    anyhow!(
                        "{}: it lies in no folder that could name its style; give --labels name:PATTERN or a CSV file",
                        path.display()
                    )
                }),
            Self::Name(pattern) => {
                let name = path.file_name().unwrap_or_default().to_string_lossy();
                pattern.captures(&name).and_then(|groups| groups.get(1)).map(|style| style.as_str().to_owned()).ok_or_else(
                    || {
                        anyhow!(
                            "{}: its name does not match \"{pattern}\"; change the pattern of --labels, or leave the clip out",
                            path.display()
                        )
                    },
                )
            }
            Self::Manifest { file, styles } => styles.get(path).cloned().ok_or_else(|| {
                anyhow!("{}: {} does not list it; add a line, or leave the clip out", path.display(), file.display())
            }),
        }
    }
}

/// The columns path and style of a CSV.
fn manifest(text: &str) -> std::result::Result<Vec<(PathBuf, String)>, String> {
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let headers = reader.headers().map_err(|error| error.to_string())?.clone();
    let column = |name: &str| {
        headers
            .iter()
            .position(|header| header.trim() == name)
            .ok_or_else(|| format!("there is no column {name}"))
    };
    let (path, style) = (column("path")?, column("style")?);
    reader
        .records()
        .map(|row| {
            let row = row.map_err(|error| error.to_string())?;
            let line = row.position().map_or(0, csv::Position::line);
            let field = |column: usize| {
                row.get(column)
                    .map(str::trim)
                    .filter(|field| !field.is_empty())
                    .ok_or_else(|| format!("line {line} lacks its path or its style"))
            };
            Ok((PathBuf::from(field(path)?), field(style)?.to_owned()))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_come_from_folders_names_and_manifests() {
        let of = |source: &str, path: &str| {
            LabelSource::of(source).unwrap().of_clip(Path::new(path)).map_err(|error| error.to_string())
        };
        assert_eq!(of("folder", "walks/tired/01.bvh").unwrap(), "tired");
        assert_eq!(of("name:walk_([a-z]+)_", "walks/walk_old_01.bvh").unwrap(), "old");
        let refused = of("name:walk_([a-z]+)_", "walks/run_01.bvh").unwrap_err();
        assert!(refused.contains("walks/run_01.bvh") && refused.contains("--labels"), "{refused}");
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("styles.csv");
        std::fs::write(&file, "path,style\na/1.bvh,proud\n").unwrap();
        let source = LabelSource::of(file.to_str().unwrap()).unwrap();
        assert_eq!(source.of_clip(&folder.path().join("a/1.bvh")).unwrap(), "proud");
        let refused = source.of_clip(&folder.path().join("a/2.bvh")).unwrap_err().to_string();
        assert!(refused.contains("a/2.bvh") && refused.contains("styles.csv does not list it"), "{refused}");
    }

    #[test]
    fn rejects_label_sources_that_name_no_style() {
        for (source, reason) in [
            ("name:walk_", "no group"),
            ("name:walk_(", "regex"),
            ("everywhere", "give folder, name:PATTERN or a CSV file"),
        ] {
            let refused = LabelSource::of(source).err().unwrap().to_string();
            assert!(refused.contains(reason), "{refused}");
        }
        assert!(manifest("path,label\na,b\n").unwrap_err().contains("no column style"));
        assert!(manifest("path,style\na,\n").unwrap_err().contains("line 2"));
    }
}
