"""What the tests share: a short rollout, clips of mocap made by the program, and the program itself."""

import os
import pathlib
import subprocess

import pytest

import pomp

ROOT = pathlib.Path(__file__).resolve().parents[3]


@pytest.fixture(scope="session")
def program():
    """The command line: POMP names it, else the one of the target folder."""
    target = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    path = pathlib.Path(os.environ.get("POMP", target / "release" / "pomp"))
    if not path.is_file():
        pytest.skip(f"{path} is not there; build it with `cargo build --release`, or name it in POMP")

    def run(*arguments):
        words = [str(path), *map(str, arguments)]
        return subprocess.run(words, check=True, capture_output=True, text=True, cwd=ROOT).stdout

    return run


@pytest.fixture(scope="session")
def walk():
    """Two seconds over hills with one push."""
    return pomp.generate(seconds=2.0, terrain="hills", seed=7, pushes=["1,Spine2,50,left"], support="assist")


@pytest.fixture(scope="session")
def clips(program, tmp_path_factory):
    """Short procedural clips, a BVH file each."""
    folder = tmp_path_factory.mktemp("clips")
    program("synthesize", "--sample", "--out", folder)
    return folder


@pytest.fixture(scope="session")
def bvh(clips):
    """The first of them."""
    return sorted(clips.glob("*.bvh"))[0]


@pytest.fixture(scope="session")
def recordings(tmp_path_factory):
    """The clips of the repository, preprocessed without mirror images: 24 s of motion in six recordings."""
    folder = tmp_path_factory.mktemp("recordings")
    manifest = pomp.preprocess(ROOT / "data" / "clips", folder, settings={"mirror": False})
    assert len(manifest["clips"]) == 6 and manifest["failures"] == []
    return folder


def contents(folder):
    """The bytes of the files of a folder but journals and what is named after a rank, by name."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.suffix != ".jsonl" and "_of_" not in path.name
    }
