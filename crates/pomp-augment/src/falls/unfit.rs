use pomp_physics::PhysicsError;
use pomp_terrain::TerrainError;

/// Why a clip has no such result.
#[derive(Debug)]
pub enum Unfit {
    /// The clip does not allow it.
    Clip(String),
    /// It fell, and what came of it is no sample.
    Fall(String),
    /// The simulator refuses something.
    Physics(PhysicsError),
    /// The ground is refused: the clip reaches too far.
    Ground(TerrainError),
}

impl From<PhysicsError> for Unfit {
    fn from(source: PhysicsError) -> Self {
        Self::Physics(source)
    }
}

impl From<TerrainError> for Unfit {
    fn from(source: TerrainError) -> Self {
        Self::Ground(source)
    }
}

pub(super) type Fallible<T> = Result<T, Unfit>;
