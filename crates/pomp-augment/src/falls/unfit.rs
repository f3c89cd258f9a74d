use pomp_physics::PhysicsError;
use pomp_terrain::TerrainError;

/// Why a clip gives no fall.
#[derive(Debug)]
pub enum Unfit {
    /// The clip does not allow it.
    Clip(String),
    /// It fell, and the result is no sample.
    Fall(String),
    /// An error of the simulator.
    Physics(PhysicsError),
    /// An error of the ground: the clip reaches too far.
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
