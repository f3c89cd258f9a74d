"""What training reads, as numpy arrays."""

import numpy as np
import pytest

import pomp

THIRD = {"held_out_every": 3}


@pytest.fixture(scope="module")
def windows(recordings):
    return pomp.Windows(recordings, settings=THIRD)


def test_windows_have_the_shapes_that_their_blocks_name(windows):
    batch = windows.batch([0, len(windows) - 1, 5])
    joints, bodies, keys, channels = 22, 22, 13, 5
    for side in "xy":
        blocks = list(windows.blocks[side].values())
        assert blocks[0].start == 0 and batch[side].shape == (3, blocks[-1].stop)
        assert all(a.stop == b.start for a, b in zip(blocks, blocks[1:]))
        assert np.isfinite(batch[side]).all()
    assert batch["phases"].shape == (3, keys, 2 * channels)
    assert batch["impulses"].shape == (3, bodies, 3)
    assert windows.blocks["y"]["joint_positions"] == slice(0, 3 * joints)
    assert batch["phases"].tobytes() == batch["x"][:, windows.blocks["x"]["phase_codes"]].tobytes()
    assert batch["impulses"].tobytes() == batch["x"][:, windows.blocks["x"]["contact_impulses"]].tobytes()


def test_impulses_are_those_of_the_recording_in_body_weights(windows, recordings):
    for index in range(0, len(windows), 97):
        name, frame = windows.place(index)
        recording = pomp.load(recordings / f"{name}.npz")
        weight = recording.body_mass.sum() * 9.81 / recording.framerate
        mine = np.linalg.norm(windows.batch([index])["impulses"][0], axis=1)
        theirs = np.linalg.norm(recording.sim_contact_impulse[frame], axis=1) / weight
        assert np.allclose(mine, theirs, atol=1e-4)
        assert windows.body_names == list(recording.body_names)


def test_y_of_a_frame_is_in_x_of_the_next(windows):
    batch = windows.batch([10, 11])
    assert [windows.place(index)[1] for index in (10, 11)] == [windows.place(10)[1], windows.place(10)[1] + 1]
    for name in ["joint_positions", "joint_rotations", "joint_velocities"]:
        y, x = batch["y"][0, windows.blocks["y"][name]], batch["x"][1, windows.blocks["x"][name]]
        assert np.allclose(y, x, atol=1e-5), name


def test_normalised_windows_are_less_their_mean_over_their_deviation(windows, recordings):
    seen = pomp.Windows(recordings, settings=THIRD, normalised=True)
    figures = seen.statistics()
    raw, normalised = windows.batch([3, 400]), seen.batch([3, 400])
    expected = (raw["x"] - figures["x_mean"]) / figures["x_deviation"]
    assert normalised["x"].tobytes() == expected.tobytes()
    assert normalised["impulses"].tobytes() == raw["impulses"].tobytes()
    for name, values in windows.statistics().items():
        assert values.tobytes() == figures[name].tobytes()
    absolute = pomp.Windows(
        recordings, settings=THIRD | {"kinematic.layout.output": "absolute"}, normalised=True
    )
    figures = absolute.statistics()
    expected = (raw["y"] - figures["y_mean"]) / figures["y_deviation"]
    assert absolute.batch([3, 400])["y"].tobytes() == expected.tobytes()


def test_held_out_clips_are_others_and_both_halves_are_in_order(windows, recordings):
    held_out = pomp.Windows(recordings, split="held_out", settings=THIRD)
    places = [[half.place(index) for index in range(len(half))] for half in (windows, held_out)]
    clips = [{name for name, _ in half} for half in places]
    assert clips[0] and clips[1] and not clips[0] & clips[1]
    assert clips[0] | clips[1] == {path.stem for path in recordings.glob("*.npz")}
    assert all(half == sorted(half) for half in places)
    assert windows.data_hash == held_out.data_hash and len(windows.data_hash) > 7


def test_replayed_windows_are_of_the_ragdoll_and_lead_to_the_clip(windows, recordings):
    replayed = pomp.Windows(recordings, states="replayed", settings=THIRD)
    assert len(replayed) == len(windows)
    clean, other = windows.batch([200]), replayed.batch([200])
    assert clean["x"].tobytes() != other["x"].tobytes()
    assert clean["impulses"].shape == other["impulses"].shape


def test_a_folder_without_recordings_and_halves_that_are_empty_are_told(recordings, tmp_path):
    with pytest.raises(pomp.InputError, match="pomp preprocess"):
        pomp.Windows(tmp_path)
    with pytest.raises(pomp.MissingFileError):
        pomp.Windows(tmp_path / "nowhere")
    with pytest.raises(pomp.InputError, match="held_out_every"):
        pomp.Windows(recordings, split="held_out", settings={"held_out_every": 0})
    with pytest.raises(pomp.InputError, match="resident_recordings"):
        pomp.Windows(recordings, settings={"resident_recordings": 64})
    with pytest.raises(IndexError, match="there is no window 1000000"):
        pomp.Windows(recordings).batch([10**6])
    with pytest.raises(IndexError):
        pomp.Windows(recordings).place(10**6)
