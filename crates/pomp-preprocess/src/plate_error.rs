use std::path::PathBuf;
use thiserror::Error;

/// What can be wrong with force plates and the clips that belong to them.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum PlateError {
    /// A table that cannot be opened or is no CSV.
    #[error("{}: {source}", path.display())]
    Csv {
        /// The table.
        path: PathBuf,
        /// What the reader says.
        source: csv::Error,
    },
    /// Columns that have to be there.
    #[error("{}: no column {}; {what}", path.display(), missing.join(", none named "))]
    MissingColumns {
        /// The table.
        path: PathBuf,
        /// Their names.
        missing: Vec<String>,
        /// What the table should be.
        what: &'static str,
    },
    /// A value that is no finite number, or not of the kind that its column needs.
    #[error("{}: line {line}, column {column}: \"{found}\" is not {expected}", path.display())]
    BadValue {
        /// The table.
        path: PathBuf,
        /// Line, from 1.
        line: u64,
        /// Name of the column.
        column: String,
        /// What is there.
        found: String,
        /// What should be.
        expected: &'static str,
    },
    /// A manifest without a single trial.
    #[error("{}: it lists no trial with force plates (columns path, grf, mass_kg_use)", path.display())]
    NoTrials {
        /// The manifest.
        path: PathBuf,
    },
    /// Plates of another time than the clip's.
    #[error(
        "{}: the plates cover {plates_s:.2} s and the clip {clip_s:.2} s, of which {shared_s:.2} s are common; \
         both have to begin at the same moment and share at least {least_s} s", path.display()
    )]
    NoOverlap {
        /// The plates.
        path: PathBuf,
        /// Their length, s.
        plates_s: f64,
        /// The clip's length, s.
        clip_s: f64,
        /// Their common time, s.
        shared_s: f64,
        /// What is needed, s.
        least_s: f64,
    },
    /// A mass that the plates contradict.
    #[error(
        "{}: the manifest says {stated_kg} kg (mass_kg_use), but the plates, which measured every contact, carry \
         {measured_kg:.1} kg; correct one of them", path.display()
    )]
    WrongMass {
        /// The plates.
        path: PathBuf,
        /// Mass of the manifest, kg.
        stated_kg: f64,
        /// Mean vertical force over g, kg.
        measured_kg: f64,
    },
    /// A mass that no person has.
    #[error(
        "{}: the manifest says {stated_kg} kg (mass_kg_use), which is no mass of a standing person (10 to 400 kg); \
         correct it", path.display()
    )]
    NoPerson {
        /// The plates.
        path: PathBuf,
        /// Mass of the manifest, kg.
        stated_kg: f64,
    },
}
