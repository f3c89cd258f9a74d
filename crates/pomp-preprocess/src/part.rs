use crate::PreprocessError;
use crate::input::Input;
use pomp_files::Digest;

/// A share of the inputs, for several processes or machines that write into one folder.
///
/// Which part an input belongs to depends on its name and the number of parts alone, so that parts do not overlap and
/// are complete, in any order. Every part keeps a journal and a manifest of its own; a run of the
/// whole, afterwards, finds all results there and writes the manifest of all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    rank: usize,
    ranks: usize,
}

impl Part {
    /// Everything.
    pub const WHOLE: Self = Self { rank: 0, ranks: 1 };

    /// Part `rank` (from 0) of `ranks`.
    ///
    /// # Errors
    /// [`PreprocessError::BadConfig`] when there are no parts, or no such part.
    pub fn new(rank: usize, ranks: usize) -> Result<Self, PreprocessError> {
        if rank < ranks {
            return Ok(Self { rank, ranks });
        }
        let reason = format!("rank {rank} of {ranks} ranks does not exist; ranks count from 0");
        Err(PreprocessError::BadConfig { reason })
    }

    /// Whether `input` belongs to this part.
    pub fn holds(&self, input: &Input) -> bool {
        self.holds_name(&input.name)
    }

    /// Whether what has this name (a clip, or a rollout of a batch) belongs to this part.
    pub fn holds_name(&self, name: &str) -> bool {
        Self::rank_of(name, self.ranks) == self.rank
    }

    /// Rank, of so many, that what has this name belongs to.
    ///
    /// # Panics
    /// There are no ranks.
    pub fn rank_of(name: &str, ranks: usize) -> usize {
        (Digest::of(name).number() % ranks as u64) as usize
    }

    /// What the names of this part's own files end with, empty for the whole.
    pub fn suffix(&self) -> String {
        if self.ranks == 1 { String::new() } else { format!("_{}_of_{}", self.rank, self.ranks) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Provenance;

    #[test]
    fn every_input_belongs_to_exactly_one_part() {
        let parts: Vec<Part> = (0..4).map(|rank| Part::new(rank, 4).unwrap()).collect();
        let mut sizes = [0; 4];
        for number in 0..400 {
            let name = format!("clip_{number}");
            let input = Input { path: name.clone().into(), name, provenance: Provenance::default() };
            let holding: Vec<usize> = (0..4).filter(|&rank| parts[rank].holds(&input)).collect();
            assert_eq!(holding.len(), 1);
            sizes[holding[0]] += 1;
            assert!(Part::WHOLE.holds(&input));
        }
        assert!(sizes.iter().all(|size| (60..140).contains(size)), "{sizes:?}");
    }

    #[test]
    fn rejects_parts_that_do_not_exist() {
        for (rank, ranks) in [(0, 0), (2, 2), (5, 3)] {
            assert!(matches!(Part::new(rank, ranks), Err(PreprocessError::BadConfig { .. })));
        }
    }
}
