//! The dynamic module: a PD-controlled ragdoll in Rapier on height-map terrain.
