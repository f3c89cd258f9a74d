//! What the front doors of POMP share: what a person asks for by name or file, and what is told when it is wrong.
//!
//! [`motion_file`] reads a motion from whatever file it is in, [`model`] finds a model, [`terrain`] a ground, [`control`] a command
//! and [`pushes`] what disturbs a rollout; [`config_file`] puts configurations together. [`rollout::RolloutRequest`] makes a
//! `RolloutRecipe` of such words, [`batch::Scenes`] the scenes of many, and [`support`] says what holds the character up in them. [`measure`] measures a motion on the ground that it stands on, and [`picture`] draws it in the
//! format of a file's ending. [`retarget`] puts a motion on the skeleton of another file.
//!
//! Errors are for people, so they are `anyhow`'s, with the causes of the crates below; [`errors::told`] is their one sentence. The
//! command line and the Python package tell the same.
//!
//! It prints nothing and knows no command.

pub mod batch;
pub mod config_file;
pub mod control;
pub mod errors;
pub mod measure;
pub mod model;
pub mod motion_file;
pub mod picture;
pub mod pushes;
pub mod retarget;
pub mod rollout;
pub mod support;
pub mod terrain;
