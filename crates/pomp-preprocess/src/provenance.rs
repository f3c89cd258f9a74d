//! Where clips come from: the `manifest.csv` that a data folder may carry.

use crate::PreprocessError;
use std::collections::HashMap;
use std::path::{Path, PathBuf};

/// Source and licence of one clip.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Provenance {
    /// Collection, subject and description.
    pub source: String,
    /// Licence as the collection states it.
    pub license: String,
}

/// Provenance of all clips of the folders above the inputs, from their `manifest.csv` (columns `path`,
/// `source`, `subject`, `description` and `licence` or `license`; others are ignored).
#[derive(Debug, Default)]
pub struct ProvenanceIndex {
    manifests: HashMap<PathBuf, HashMap<PathBuf, Provenance>>,
}

/// Folders above a clip that are searched for a manifest.
const LEVELS: usize = 4;

impl ProvenanceIndex {
    /// The provenance of `clip`, unknown when no manifest names it.
    ///
    /// # Errors
    /// A manifest that is there but cannot be read.
    pub fn of(&mut self, clip: &Path) -> Result<Provenance, PreprocessError> {
        for folder in clip.ancestors().skip(1).take(LEVELS) {
            if !self.manifests.contains_key(folder) {
                let rows = read_manifest(folder)?;
                self.manifests.insert(folder.to_path_buf(), rows);
            }
            let found =
                clip.strip_prefix(folder).ok().and_then(|relative| self.manifests[folder].get(relative));
            if let Some(provenance) = found {
                return Ok(provenance.clone());
            }
        }
        Ok(Provenance { source: "unknown".to_owned(), license: "unknown".to_owned() })
    }
}

fn read_manifest(folder: &Path) -> Result<HashMap<PathBuf, Provenance>, PreprocessError> {
    let path = folder.join("manifest.csv");
    if !path.is_file() {
        return Ok(HashMap::new());
    }
    let bad = |source: csv::Error| PreprocessError::Io {
        action: "reading the manifest",
        path: path.clone(),
        source: source.into(),
        remedy: "repair or remove it: sources and licences are taken from it",
    };
    let mut reader = csv::Reader::from_path(&path).map_err(bad)?;
    let headers = reader.headers().map_err(bad)?.clone();
    let column = |name: &str| headers.iter().position(|header| header == name);
    let (Some(clip), license) = (column("path"), column("licence").or_else(|| column("license"))) else {
        return Ok(HashMap::new());
    };
    let texts = ["source", "subject", "description"].map(column);
    let mut rows = HashMap::new();
    for record in reader.records() {
        let record = record.map_err(bad)?;
        let field = |at: Option<usize>| at.and_then(|i| record.get(i)).unwrap_or_default();
        let source: Vec<&str> = texts.iter().map(|at| field(*at)).filter(|text| !text.is_empty()).collect();
        let provenance = Provenance { source: source.join("; "), license: field(license).to_owned() };
        rows.insert(PathBuf::from(field(Some(clip))), provenance);
    }
    Ok(rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clip_finds_its_row_in_the_manifest_two_folders_up() {
        let root = tempfile::tempdir().unwrap();
        let clip = root.path().join("walks/slow.bvh");
        std::fs::create_dir_all(clip.parent().unwrap()).unwrap();
        std::fs::write(
            root.path().join("manifest.csv"),
            "path,source,subject,licence\nwalks/slow.bvh,lab,S1,\"free, with notice\"\n",
        )
        .unwrap();
        let found = ProvenanceIndex::default().of(&clip).unwrap();
        assert_eq!(
            found,
            Provenance { source: "lab; S1".to_owned(), license: "free, with notice".to_owned() }
        );
    }

    #[test]
    fn a_clip_without_manifest_is_of_unknown_source() {
        let root = tempfile::tempdir().unwrap();
        let found = ProvenanceIndex::default().of(&root.path().join("a.bvh")).unwrap();
        assert_eq!(found.license, "unknown");
    }
}
