use crate::PhysicsError;
use crate::controls::Controls;
use crate::state::WorldState;
use serde::{Deserialize, Serialize};

/// State of a [`crate::DynamicModule`] between two frames.
#[derive(Clone, Serialize, Deserialize)]
pub struct WorldSnapshot {
    pub(crate) joints: usize,
    pub(crate) controls: Controls,
    pub(crate) state: WorldState,
}

impl WorldSnapshot {
    /// The snapshot as bytes, terrain included; valid for the same version of this crate.
    ///
    /// # Errors
    /// [`PhysicsError::BadSnapshot`] when the state cannot be written.
    pub fn to_bytes(&self) -> Result<Vec<u8>, PhysicsError> {
        postcard::to_stdvec(self).map_err(|e| PhysicsError::BadSnapshot { reason: e.to_string() })
    }

    /// Reads what [`Self::to_bytes`] wrote.
    ///
    /// # Errors
    /// [`PhysicsError::BadSnapshot`] when the bytes are cut or of another version.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, PhysicsError> {
        postcard::from_bytes(bytes).map_err(|e| PhysicsError::BadSnapshot { reason: e.to_string() })
    }
}

impl std::fmt::Debug for WorldSnapshot {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("WorldSnapshot")
            .field("joints", &self.joints)
            .field("controls", &self.controls)
            .finish_non_exhaustive()
    }
}
