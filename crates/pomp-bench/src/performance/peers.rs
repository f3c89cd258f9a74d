use crate::BenchError;
use serde::{Deserialize, Serialize};
use std::path::Path;

/// A program that does a part of the same work, and the command that compares it with this one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KnownPeer {
    /// Its name in files.
    pub id: &'static str,
    /// Its name.
    pub name: &'static str,
    /// What is compared.
    pub about: &'static str,
    /// The command that measures both.
    pub command: &'static str,
}

/// The peers that the report has a place for.
pub const KNOWN_PEERS: [KnownPeer; 4] = [
    KnownPeer {
        id: "mujoco",
        name: "MuJoCo",
        about: "a step of the dynamic module, with the same bodies, masses, joints and gains on level ground",
        command: "python3 crates/pomp-bench/benches/peers.py mujoco --out peers.json",
    },
    KnownPeer {
        id: "bvh_anim",
        name: "bvh_anim",
        about: "reading a BVH file",
        command: "python3 crates/pomp-bench/benches/peers.py bvh_anim --out peers.json",
    },
    KnownPeer {
        id: "onnx_runtime",
        name: "ONNX Runtime",
        about: "a frame of the kinematic module, one thread",
        command: "python3 crates/pomp-bench/benches/peers.py onnx_runtime --out peers.json",
    },
    KnownPeer {
        id: "pytorch",
        name: "PyTorch",
        about: "training steps of the kinematic module, batch of 128, and of the periodic autoencoder, batch of 64",
        command: "python3 crates/pomp-bench/benches/peers.py pytorch --out peers.json",
    },
];

/// What was measured of a peer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Peer {
    /// One of [`KNOWN_PEERS`].
    pub peer: String,
    /// The version that was measured.
    pub version: String,
    /// How it was measured.
    pub how: String,
    /// The figures.
    pub rows: Vec<PeerRow>,
}

/// A figure of both programs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PeerRow {
    /// What was measured.
    pub what: String,
    /// The unit of both; less is better.
    pub unit: String,
    /// This program: one value per turn.
    pub pomp: Vec<f64>,
    /// The peer: one value per turn.
    pub peer: Vec<f64>,
}

/// The content of a file of peers.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PeersFile {
    peers: Vec<Peer>,
}

/// Reads what `benches/peers.py` has written.
///
/// # Errors
/// A file that cannot be read or holds something else, an unknown peer, and a value that is not a positive number.
pub fn read_peers(path: &Path) -> Result<Vec<Peer>, BenchError> {
    let bad = |reason: String| BenchError::BadPeers { path: path.to_path_buf(), reason };
    let text = std::fs::read_to_string(path).map_err(|source| BenchError::Io {
        action: "reading",
        path: path.to_path_buf(),
        source,
        remedy: "give a file that crates/pomp-bench/benches/peers.py has written with --peers",
    })?;
    let PeersFile { peers } = serde_json::from_str(&text).map_err(|error| bad(error.to_string()))?;
    for peer in &peers {
        if !KNOWN_PEERS.iter().any(|known| known.id == peer.peer) {
            let known = KNOWN_PEERS.map(|known| known.id).join(", ");
            return Err(bad(format!("there is no peer \"{}\"; there are {known}", peer.peer)));
        }
        for row in &peer.rows {
            let is_positive =
                |values: &[f64]| !values.is_empty() && values.iter().all(|v| v.is_finite() && *v > 0.0);
            if !(is_positive(&row.pomp) && is_positive(&row.peer)) {
                return Err(bad(format!(
                    "{}, \"{}\": each program has one positive number per turn",
                    peer.peer, row.what
                )));
            }
        }
    }
    Ok(peers)
}
