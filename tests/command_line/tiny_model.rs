//! A configuration whose model trains in seconds.

use crate::program::repository;
use std::fs;
use toml::Value as Toml;

/// What makes `configs/compact.toml` small; every kind of layer stays.
pub fn tiny_changes() -> Vec<(&'static [&'static str], Toml)> {
    vec![
        (&["name"], "tiny".into()),
        (&["exclude"], Toml::Array(Vec::new())),
        (&["held_out_every"], 0.into()),
        (&["phase", "stride"], 12.into()),
        (&["phase", "training", "epochs"], 1.into()),
        (&["phase", "training", "batch_size"], 8.into()),
        (&["aligned_phase", "stride"], 12.into()),
        (&["aligned_phase", "training", "epochs"], 1.into()),
        (&["aligned_phase", "training", "batch_size"], 8.into()),
        (&["kinematic", "network", "expert_hidden"], Toml::Array(vec![8.into()])),
        (&["kinematic", "network", "condition_size"], 16.into()),
        (&["kinematic", "network", "decoder_hidden"], Toml::Array(vec![16.into(), 16.into()])),
        (&["kinematic", "diffusion", "steps"], 8.into()),
        (&["kinematic", "training", "steps"], 12.into()),
        (&["kinematic", "training", "batch_size"], 16.into()),
    ]
}

/// `configs/compact.toml` with other values at some paths; later ones win.
pub fn changed(changes: &[(&[&str], Toml)]) -> String {
    let text = fs::read_to_string(repository().join("configs/compact.toml")).unwrap();
    let mut config: Toml = toml::from_str(&text).unwrap();
    for (path, value) in changes {
        let (last, tables) = path.split_last().unwrap();
        let table = tables.iter().fold(&mut config, |table, key| table.get_mut(key).unwrap());
        table.as_table_mut().unwrap().insert((*last).to_owned(), value.clone());
    }
    toml::to_string(&config).unwrap()
}
