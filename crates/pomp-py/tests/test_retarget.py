"""Retargeting from Python gives the files and figures of the command line."""

import json

import pytest
from conftest import ROOT

import pomp

STRANGER = ROOT / "data" / "skeletons" / "stranger.bvh"


@pytest.fixture(scope="module")
def character(tmp_path_factory):
    """A skinned mesh in a GLB file: the bones of a rollout."""
    path = tmp_path_factory.mktemp("character") / "character.glb"
    pomp.generate(seconds=0.5, terrain="flat", seed=3).save(path)
    return path


def parts(glb):
    """The document of a GLB file and its binary chunk."""
    length = int.from_bytes(glb[12:16], "little")
    return json.loads(glb[20 : 20 + length]), glb[28 + length :]


def test_the_files_and_figures_are_those_of_the_command_line(program, walk, character, tmp_path):
    walk.save(tmp_path / "walk.npz")
    for target, kind in [(STRANGER, "bvh"), (STRANGER, "glb"), (character, "glb"), (character, "bvh")]:
        theirs, mine = tmp_path / f"theirs.{kind}", tmp_path / f"mine.{kind}"
        words = ["retarget", tmp_path / "walk.npz", "--to", target, "--out", theirs, "--plant-feet", "--json"]
        told = json.loads(program(*words))
        figures = pomp.retarget(tmp_path / "walk.npz", target, mine, plant_feet=True)
        assert mine.read_bytes() == theirs.read_bytes(), (target, kind)
        assert set(told) - set(figures) == {"path", "to", "out", "schema"}
        assert figures["frames"] == walk.frames == told["frames"]
        assert figures["planted_feet"]["target_m_s"] == pytest.approx(told["planted_feet"]["target_m_s"])
        # A rollout in memory is the same as its file.
        again = tmp_path / f"again.{kind}"
        assert pomp.retarget(walk, target, again, plant_feet=True) == figures
        if kind == "bvh":
            assert again.read_bytes() == mine.read_bytes()


def test_a_character_keeps_its_mesh_and_gets_the_rollout_as_its_first_animation(walk, character, tmp_path):
    out = tmp_path / "walking.glb"
    figures = pomp.retarget(walk, character, out)
    (own, own_bytes), (new, new_bytes) = parts(character.read_bytes()), parts(out.read_bytes())
    assert new["meshes"] == own["meshes"] and new["skins"] == own["skins"]
    assert new_bytes.startswith(own_bytes) and len(new_bytes) > len(own_bytes)
    assert [animation["name"] for animation in new["animations"][1:]] == [own["animations"][0]["name"]]
    # The model's skeleton is that of the rollout, so the motion comes back as it went.
    assert figures["scale"] == pytest.approx(1.0, abs=1e-3) and figures["missing"] == []
    back = pomp.read_bvh(out)
    assert back.frames == walk.frames
    # `read_bvh` places a clip on its own ground, so heights are not compared.
    way = back.positions[-1, 0] - back.positions[0, 0]
    wanted = walk.positions[-1, 0] - walk.positions[0, 0]
    assert way[[0, 2]] == pytest.approx(wanted[[0, 2]], abs=0.02)


def test_without_a_file_to_write_the_figures_alone_come_back(walk, character, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    figures = pomp.retarget(walk, character)
    assert figures["frames"] == walk.frames and list(tmp_path.iterdir()) == []


def test_rejects_what_cannot_be_retargeted(walk, tmp_path):
    garbage = tmp_path / "garbage.glb"
    garbage.write_bytes(b"\x00garbage")
    for call, words in [
        (lambda: pomp.retarget(walk, garbage), ["garbage.glb", "glTF"]),
        (lambda: pomp.retarget(walk, tmp_path / "figure.fbx"), ["figure.fbx", ".bvh, .glb or .gltf"]),
        (lambda: pomp.retarget(walk, STRANGER, tmp_path / "out.fbx"), ["out.fbx", ".bvh and .glb"]),
        (lambda: pomp.retarget(walk, STRANGER, model=tmp_path, plant_feet=True), ["model", "plant_feet"]),
        (lambda: pomp.retarget(STRANGER, STRANGER, simulated=True), ["stranger.bvh", "no simulated motion"]),
    ]:
        with pytest.raises(pomp.InputError) as error:
            call()
        assert all(word in str(error.value) for word in words), error.value
    with pytest.raises(pomp.MissingFileError):
        pomp.retarget(walk, tmp_path / "nowhere.glb")
    with pytest.raises(pomp.MissingFileError):
        pomp.retarget(tmp_path / "nowhere.npz", STRANGER)
