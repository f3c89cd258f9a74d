"""Numbers from Python are the command line's, bit for bit."""

import json
import math
import subprocess

import numpy as np
import pytest

import pomp


@pytest.fixture(scope="module")
def rollout(program, tmp_path_factory):
    """A rollout in the words of the command line: the folder of its files."""
    folder = tmp_path_factory.mktemp("rollout")
    program(
        *("generate", "--seconds", "2", "--terrain", "hills", "--control", "slalom", "--seed", "7"),
        *("--push", "1,Spine2,50..90,random", "--set", "layers.root_following.share=0.04"),
        *("--no-pictures", "--out", folder),
    )
    return folder


def test_a_rollout_is_the_file_of_the_command_line(rollout, tmp_path):
    made = pomp.generate(
        seconds=2,
        terrain="hills",
        control="slalom",
        seed=7,
        pushes=["1,Spine2,50..90,random"],
        settings={"layers.root_following.share": 0.04},
    )
    assert made.to_bytes() == (rollout / "rollout.npz").read_bytes()
    for kind, theirs in [("npz", "rollout.npz"), ("bvh", "motion.bvh"), ("glb", "motion.glb")]:
        made.save(tmp_path / f"made.{kind}")
        assert (tmp_path / f"made.{kind}").read_bytes() == (rollout / theirs).read_bytes(), kind


def test_a_push_as_numbers_is_the_push_as_text():
    text = pomp.generate(seconds=0.5, terrain="flat", pushes=["0.2,Spine2,40,0,-7.5"])
    numbers = pomp.generate(seconds=0.5, terrain="flat", pushes=[(0.2, "Spine2", [40, 0, -7.5])])
    other = pomp.generate(seconds=0.5, terrain="flat", pushes=[(0.2, "Spine2", [41, 0, -7.5])])
    assert text.to_bytes() == numbers.to_bytes()
    assert text.to_bytes() != other.to_bytes()


def test_every_array_of_a_file_is_there_with_the_numbers_that_numpy_reads(walk, tmp_path):
    walk.save(tmp_path / "walk.npz")
    read = pomp.load(tmp_path / "walk.npz")
    with np.load(tmp_path / "walk.npz") as arrays:
        assert list(read) == list(arrays.keys())
        for name in arrays:
            mine = np.asarray(read[name], dtype=arrays[name].dtype)
            assert mine.shape == arrays[name].shape, name
            assert mine.tobytes() == arrays[name].tobytes(), name
            assert np.array_equal(np.asarray(getattr(read, name)), np.asarray(read[name]), equal_nan=mine.dtype.kind == "f")


def test_metrics_are_those_of_the_command_line(program, rollout):
    theirs = json.loads((rollout / "metrics.json").read_text())
    mine = pomp.evaluate(rollout / "rollout.npz")
    assert list(mine) == [info["name"] for info in pomp.metrics()] == list(theirs)
    assert len(mine) > 20 and sum(math.isfinite(value) for value in mine.values()) > 10
    # The command measures before it leaves the times of the frames out.
    names = [name for name in mine if not name.startswith("frame_time")]
    assert len(names) > len(mine) - 5
    for name in names:
        assert mine[name] == theirs[name] or (math.isnan(mine[name]) and theirs[name] is None), name
    assert str(pomp.evaluate(pomp.load(rollout / "rollout.npz"))) == str(mine)
    # What the command prints has gone through a parser that may lose the last bit.
    told = json.loads(program("evaluate", rollout / "rollout.npz", "--json"))["columns"][0]["motions"][0]
    for name, value in told["metrics"].items():
        assert value is None and math.isnan(mine[name]) or value == pytest.approx(mine[name], rel=4e-16), name


def test_preprocessing_gives_the_files_of_the_command_line(program, bvh, tmp_path):
    program("preprocess", bvh, "--set", "mirror=false", "--out", tmp_path / "theirs")
    told = []
    manifest = pomp.preprocess(
        bvh, tmp_path / "mine", settings={"mirror": False}, progress=lambda *event: told.append(event)
    )
    assert told == [(1, 1, str(bvh), None)]
    assert len(manifest["clips"]) == 1 and manifest["failures"] == []
    name = manifest["clips"][0]["file"]
    theirs = (tmp_path / "theirs" / name).read_bytes()
    assert (tmp_path / "mine" / name).read_bytes() == theirs
    whole = pomp.load(tmp_path / "mine" / name)
    clip = pomp.read_bvh(bvh)
    estimated = pomp.contact_impulses(clip)
    assert estimated.contact_impulse.tobytes() == whole.contact_impulse.tobytes()
    assert np.abs(estimated.contact_impulse).sum() > 1.0
    ground = pomp.fit_terrain(clip)
    assert ground.heights.tobytes() == whole.terrain_height.tobytes()
    assert ground.report["stances"] > 0
    assert clip.labelled().positions.tobytes() == clip.positions.tobytes() == whole.positions.tobytes()


def test_pictures_are_those_of_the_command_line(program, walk, tmp_path):
    walk.save(tmp_path / "walk.npz")
    for kind in ["gif", "png", "html"]:
        program("render", tmp_path / "walk.npz", "--out", tmp_path / f"theirs.{kind}")
        pomp.render(walk, tmp_path / f"mine.{kind}")
        assert (tmp_path / f"mine.{kind}").read_bytes() == (tmp_path / f"theirs.{kind}").read_bytes(), kind


def test_a_terrain_is_the_map_of_the_command_line(program, tmp_path):
    program("terrain", "make", "hills", "--seed", "3", "--out", tmp_path / "theirs.npz")
    ground = pomp.terrain("hills", seed=3)
    ground.save(tmp_path / "mine.npz")
    assert (tmp_path / "mine.npz").read_bytes() == (tmp_path / "theirs.npz").read_bytes()
    again = pomp.Terrain(ground.heights, cell=ground.cell, origin=ground.origin)
    assert again.heights.tobytes() == ground.heights.tobytes() and again.bounds == ground.bounds


@pytest.mark.parametrize(
    ("arguments", "call"),
    [
        (["generate", "--terrain", "hlils"], lambda: pomp.generate(terrain="hlils")),
        (["generate", "--control", "wlak"], lambda: pomp.generate(control="wlak")),
        (["generate", "--push", "1,Spine9,5,left"], lambda: pomp.generate(pushes=["1,Spine9,5,left"])),
        (["generate", "--push", "99,Hips,5,left"], lambda: pomp.generate(pushes=["99,Hips,5,left"])),
        (["generate", "--set", "position_bias=-1"], lambda: pomp.generate(settings=["position_bias=-1"])),
        (["generate", "--set", "nothing=1"], lambda: pomp.generate(settings={"nothing": 1})),
        (["generate", "--model", "nowhere"], lambda: pomp.generate(model="nowhere")),
        (["evaluate", "nowhere.npz"], lambda: pomp.evaluate("nowhere.npz")),
        (["preprocess", "nowhere.bvh", "--out", "nothing"], lambda: pomp.preprocess("nowhere.bvh", "nothing")),
        (["render", "x.npz", "--out", "x.jpg"], lambda: pomp.render("x.npz", "x.jpg")),
    ],
)
def test_errors_have_the_sentences_of_the_command_line(program, arguments, call):
    with pytest.raises(subprocess.CalledProcessError) as theirs:
        program(*arguments)
    with pytest.raises(pomp.Error) as mine:
        call()
    assert theirs.value.stderr.strip().endswith(f"error: {mine.value}")
