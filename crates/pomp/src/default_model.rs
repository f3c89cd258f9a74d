//! The training configuration that comes with the program.

pub use pomp_front::model::{find, find_named, find_whole, hash, load};

use pomp_config::Origin;
use pomp_controllers::ControllerKind;
use std::path::Path;

/// The compact training configuration.
const CONFIG: &str = include_str!("../configs/compact.toml");

/// The training configurations of the controllers.
const CONTROLLERS: [(ControllerKind, &str, &str); 5] = [
    (
        ControllerKind::Phase,
        "configs/controllers/phase.toml",
        include_str!("../configs/controllers/phase.toml"),
    ),
    (ControllerKind::Pfnn, "configs/controllers/pfnn.toml", include_str!("../configs/controllers/pfnn.toml")),
    (ControllerKind::Mann, "configs/controllers/mann.toml", include_str!("../configs/controllers/mann.toml")),
    (
        ControllerKind::LocalPhases,
        "configs/controllers/local-phases.toml",
        include_str!("../configs/controllers/local-phases.toml"),
    ),
    (ControllerKind::Nsm, "configs/controllers/nsm.toml", include_str!("../configs/controllers/nsm.toml")),
];

/// Where the configuration of motion matching comes from: by poses, or by phases.
pub fn matching_origin(kind: ControllerKind, path: Option<&Path>) -> Origin<'_> {
    let (name, text) = match kind {
        ControllerKind::MatchingPhase => (
            "configs/controllers/matching-phase.toml",
            include_str!("../configs/controllers/matching-phase.toml"),
        ),
        _ => ("configs/controllers/matching.toml", include_str!("../configs/controllers/matching.toml")),
    };
    path.map_or(Origin::BuiltIn { name, text }, Origin::File)
}

/// Where the configuration of learned motion matching comes from.
pub fn learned_origin(path: Option<&Path>) -> Origin<'_> {
    let (name, text) = (
        "configs/controllers/learned-matching.toml",
        include_str!("../configs/controllers/learned-matching.toml"),
    );
    path.map_or(Origin::BuiltIn { name, text }, Origin::File)
}

/// Where the configuration of the training of a balance policy comes from.
pub fn balance_origin(path: Option<&Path>) -> Origin<'_> {
    let (name, text) = ("configs/balance.toml", include_str!("../configs/balance.toml"));
    path.map_or(Origin::BuiltIn { name, text }, Origin::File)
}

/// Where the configuration of the training of a style adapter comes from.
pub fn style_origin(path: Option<&Path>) -> Origin<'_> {
    let (name, text) = ("configs/style_adapter.toml", include_str!("../configs/style_adapter.toml"));
    path.map_or(Origin::BuiltIn { name, text }, Origin::File)
}

/// Where the configuration of skeleton-aware networks comes from.
pub fn retarget_origin(path: Option<&Path>) -> Origin<'_> {
    let (name, text) = ("configs/retarget.toml", include_str!("../configs/retarget.toml"));
    path.map_or(Origin::BuiltIn { name, text }, Origin::File)
}

/// Where the configuration of the training of a controller comes from; nothing for those that are not trained so.
pub fn controller_origin(kind: ControllerKind, path: Option<&Path>) -> Option<Origin<'_>> {
    let (_, name, text) = CONTROLLERS.iter().find(|(found, ..)| *found == kind)?;
    Some(path.map_or(Origin::BuiltIn { name, text }, Origin::File))
}

/// Where the configuration of a training comes from.
pub fn origin(path: Option<&Path>) -> Origin<'_> {
    path.map_or(Origin::BuiltIn { name: "configs/compact.toml", text: CONFIG }, Origin::File)
}
