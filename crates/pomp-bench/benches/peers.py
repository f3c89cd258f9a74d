"""Measures this program beside others that do a part of the same work, and writes what `pomp bench performance --peers` reads.

    python3 crates/pomp-bench/benches/peers.py mujoco --out peers.json

The peers are mujoco (pip install mujoco), bvh_anim (nothing to install), onnx_runtime (pip install numpy onnx onnxruntime) and pytorch
(pip install numpy torch). Without a name, all are measured. Each turn runs both programs one after the other, so that a machine that
grows slower slows both; --turns sets how many. Peers that the file has from before stay in it. Run it in the root of the repository; it
runs the scripts of the crates, which also run alone.
"""

import argparse
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[3]
TARGET = Path(os.environ.get("CARGO_TARGET_DIR", REPOSITORY / "target"))
# The whole program is named beside the crate: Cargo would compile the dependencies anew for the crate alone.
WHOLE = ["-p", "pomp"]


def output(command):
    """What a command prints; its messages go on to standard error."""
    print("$", *command, file=sys.stderr, flush=True)
    return subprocess.run(list(map(str, command)), check=True, stdout=subprocess.PIPE, text=True, cwd=REPOSITORY).stdout


def add(rows, what, unit, pomp, peer):
    row = rows.setdefault(what, {"what": what, "unit": unit, "pomp": [], "peer": []})
    row["pomp"].append(pomp)
    row["peer"].append(peer)


def mujoco(turns):
    output(["cargo", "build", "--release", *WHOLE, "-p", "pomp-physics", "--example", "mjcf"])
    step = re.compile(r"^(\w+, \d+ steps a frame): ([\d.]+) us a frame", re.MULTILINE)
    rows, version = {}, None
    with tempfile.TemporaryDirectory() as scratch:
        humanoid = Path(scratch) / "humanoid.xml"
        humanoid.write_text(output([TARGET / "release/examples/mjcf"]))
        for _ in range(turns):
            ours = dict(step.findall(output(["cargo", "bench", *WHOLE, "-p", "pomp-physics", "--bench", "step"])))
            printed = output([sys.executable, REPOSITORY / "crates/pomp-physics/benches/mujoco_step.py", humanoid])
            theirs = dict(step.findall(printed))
            version = re.search(r"MuJoCo ([\w.]+)", printed)[1]
            for what in ours:
                add(rows, f"{what}", "µs per frame", float(ours[what]), float(theirs[what]))
    how = (
        "One core; collision detection included; the body stands, or its legs sway. With few steps per frame MuJoCo's explicit drives "
        "throw the body off, so that its times with 1 and 4 steps are those of another motion."
    )
    return version, how, rows


def bvh_anim(turns):
    rows = {}
    for _ in range(turns):
        output(["cargo", "bench", *WHOLE, "-p", "pomp-formats", "--bench", "bvh"])
        median = lambda name: json.loads((TARGET / f"criterion/read_bvh/{name}_100_MB/new/estimates.json").read_text())["median"]
        ours, theirs = [median(name)["point_estimate"] / 1e6 for name in ("ours", "bvh_anim")]
        add(rows, "a file of 100 MB", "ms", ours, theirs)
    lock = (REPOSITORY / "Cargo.lock").read_text()
    version = re.search(r'name = "bvh_anim"\nversion = "([^"]+)"', lock)[1]
    return version, "Medians of criterion. This program also repairs and converts what it reads; bvh_anim does not.", rows


def rounds(script, turns, command, line, version):
    """What a script prints that runs both programs in rounds."""
    printed = output([sys.executable, REPOSITORY / script, turns, *command])
    return re.findall(line, printed, re.MULTILINE), re.search(version, printed)[1]


def onnx_runtime(turns):
    command = ["cargo", "bench", *WHOLE, "-p", "pomp-kinematic", "--bench", "kinematic", "--"]
    line = r"^frame/(\w+)/(\d+): ours ([\d.]+) ms, ONNX Runtime ([\d.]+) ms"
    found, version = rounds("crates/pomp-kinematic/benches/onnx_runtime.py", turns, command, line, r"ONNX Runtime ([\w.]+),")
    rows = {}
    for size, steps, ours, theirs in found:
        add(rows, f"{size}, {steps} denoising steps", "ms", float(ours), float(theirs))
    return version, "Medians of frames; all experts run.", rows


def pytorch(turns):
    rows, bench = {}, ["cargo", "bench", *WHOLE]
    command = [*bench, "-p", "pomp-train", "--bench", "training_step", "--", "kinematic/128"]
    line = r"^ours ([\d.]+) ms, PyTorch ([\d.]+) ms"
    found, version = rounds("crates/pomp-train/benches/pytorch_kinematic_step.py", turns, command, line, r"PyTorch ([\w.+]+),")
    for ours, theirs in found:
        add(rows, "kinematic module", "ms", float(ours), float(theirs))
    command = [*bench, "-p", "pomp-phase", "--bench", "phase", "--", "training_step"]
    line = r"^ours ([\d.]+) ms, PyTorch by conv1d ([\d.]+) ms, PyTorch by FFT ([\d.]+) ms"
    found, _ = rounds("crates/pomp-phase/benches/pytorch_training_step.py", turns, command, line, r"PyTorch ([\w.+]+),")
    for ours, direct, by_fft in found:
        add(rows, "periodic autoencoder, PyTorch by conv1d", "ms", float(ours), float(direct))
        add(rows, "periodic autoencoder, PyTorch by FFT", "ms", float(ours), float(by_fft))
    return version, "Medians of steps, with all cores.", rows


PEERS = {"mujoco": mujoco, "bvh_anim": bvh_anim, "onnx_runtime": onnx_runtime, "pytorch": pytorch}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("peers", nargs="*", metavar="PEER", help=", ".join(PEERS))
    parser.add_argument("--turns", type=int, default=3, help="how often both programs run; 3 if left out")
    parser.add_argument("--out", type=Path, required=True, help="the file that `pomp bench performance --peers` reads")
    asked = parser.parse_args()
    unknown = [peer for peer in asked.peers if peer not in PEERS]
    if unknown:
        parser.error(f"there is no peer {unknown[0]}; there are {', '.join(PEERS)}")
    kept = json.loads(asked.out.read_text())["peers"] if asked.out.exists() else []
    for peer in asked.peers or PEERS:
        version, how, rows = PEERS[peer](asked.turns)
        kept = [other for other in kept if other["peer"] != peer]
        kept.append({"peer": peer, "version": version, "how": how, "rows": list(rows.values())})
        asked.out.write_text(json.dumps({"peers": kept}, indent=2, ensure_ascii=False) + "\n")
        for row in rows.values():
            ours, theirs = [statistics.median(row[program]) for program in ("pomp", "peer")]
            print(f"{peer}, {row['what']}: {ours:.4g} {row['unit']} beside {theirs:.4g}, ratio {ours / theirs:.2f}", flush=True)


main()
