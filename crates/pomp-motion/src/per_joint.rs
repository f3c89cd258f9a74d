use crate::humanoid;
use smallvec::SmallVec;

/// One value per joint `[J]`. Those of the project skeleton lie in place, so that a frame of the closed loop asks for no memory; a
/// skeleton with more joints takes it from the allocator.
pub type PerJoint<T> = SmallVec<[T; humanoid::JOINTS]>;
