//! The studio: a page in the browser that steers, pushes and shows the simulated character.
//!
//! [`serve`] binds a [`StudioConfig`]'s address, tells the caller the [`Started`] page's URL and serves it until the
//! process ends. The page is one static file, embedded in this crate. Each page that connects gets a [`world::World`] of
//! its own on a thread of its own, sixty frames a second; [`protocol`] says which bytes pass between them. A
//! [`Library`] holds the clips, recordings and rollouts that the page offers; [`ClipPackage`] is one of them as the
//! page reads it, and [`standalone_html`] is the page with one inside, for machines without this program.
//!
//! What it does not do: it trains and preprocesses nothing, and it knows no user: whoever may open the page may do all
//! that the page can.

pub mod bundle;
mod clip_card;
mod clip_package;
mod config;
mod error;
mod library;
mod open_clip;
mod plate_curves;
pub mod protocol;
mod rig_choice;
mod server;
pub mod world;

pub use bundle::standalone_html;
pub use clip_package::ClipPackage;
pub use config::StudioConfig;
pub use error::StudioError;
pub use library::{Library, LibraryEntry};
pub use open_clip::open_clip;
pub use server::{NamedModel, Started, Studio, serve, serve_until};
