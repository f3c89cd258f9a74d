"""The dataset for PyTorch. These tests need PyTorch: POMP_TORCH=1 .ci/run installs it, several GB."""

import multiprocessing
import pathlib
import pickle
import runpy
import shutil

import numpy as np
import pytest

import pomp

torch = pytest.importorskip("torch", reason="PyTorch is not installed (POMP_TORCH=1 .ci/run installs it)")
from pomp.torch import MotionDataset  # noqa: E402

THIRD = {"held_out_every": 3}
EXAMPLE = pathlib.Path(__file__).resolve().parents[1] / "examples" / "impulse_prior.py"


@pytest.fixture(scope="module")
def dataset(recordings):
    return MotionDataset(recordings, settings=THIRD)


def loaded(dataset, workers, context=None, **options):
    loader = torch.utils.data.DataLoader(
        dataset, batch_size=64, num_workers=workers, multiprocessing_context=context, **options
    )
    batches = list(loader)
    return {name: torch.cat([batch[name] for batch in batches]) for name in batches[0]}


def test_items_are_the_windows_that_training_reads(dataset, recordings):
    windows = pomp.Windows(recordings, settings=THIRD)
    assert len(dataset) == len(windows)
    for index in [0, 7, -1]:
        theirs = windows.batch([index % len(windows)])
        for name, values in dataset[index].items():
            assert values.dtype == torch.float32 and values.numpy().tobytes() == theirs[name][0].tobytes(), name
    assert dataset.place(-1) == windows.place(len(windows) - 1)
    assert dataset.blocks == windows.blocks and dataset.body_names == windows.body_names
    for name, values in dataset.statistics().items():
        assert values.numpy().tobytes() == windows.statistics()[name].tobytes()


@pytest.mark.parametrize("context", ["fork", "spawn"])
def test_workers_give_each_item_once_and_the_same_as_none(dataset, context):
    if context not in multiprocessing.get_all_start_methods():
        pytest.skip(f"{context}: not on this system")
    alone, shared = loaded(dataset, 0), loaded(dataset, 2, context)
    assert alone["x"].shape[0] == len(dataset)
    for name in alone:
        assert torch.equal(alone[name], shared[name]), name
    shuffled = [
        loaded(dataset, workers, context if workers else None, shuffle=True, generator=torch.Generator().manual_seed(1))
        for workers in (0, 2)
    ]
    assert torch.equal(shuffled[0]["y"], shuffled[1]["y"]) and not torch.equal(shuffled[0]["y"], alone["y"])
    rows = [{row.numpy().tobytes() for row in batch["x"]} for batch in (alone, shuffled[1])]
    assert rows[0] == rows[1]


def fill(dataset, results):
    results.put(dataset.statistics()["x_mean"].sum().item())


def test_figures_are_also_computed_in_a_forked_process(dataset):
    context = multiprocessing.get_context("fork")
    fresh = pickle.loads(pickle.dumps(dataset))
    len(fresh)
    results = context.Queue()
    process = context.Process(target=fill, args=(fresh, results))
    process.start()
    assert results.get(timeout=60) == dataset.statistics()["x_mean"].sum().item()
    process.join(10)


def test_a_pickled_dataset_is_the_same_and_notices_changed_recordings(recordings, tmp_path):
    folder = tmp_path / "copy"
    shutil.copytree(recordings, folder)
    dataset = MotionDataset(folder, settings=THIRD, normalised=True)
    packed = pickle.dumps(dataset)
    assert len(packed) < 10_000
    again = pickle.loads(packed)
    assert torch.equal(again[5]["x"], dataset[5]["x"]) and again.data_hash == dataset.data_hash
    sorted(folder.glob("*.npz"))[0].unlink()
    with pytest.raises(pomp.InputError, match="have changed"):
        pickle.loads(packed)[0]


@pytest.mark.parametrize(
    "odd", [{"split": "all"}, {"states": "odd"}, {"settings": {"nothing": 1}}, {"model": pomp.Model()}, {"config": "nowhere.toml"}]
)
def test_odd_arguments_are_refused(recordings, odd):
    with pytest.raises(pomp.Error):
        MotionDataset(recordings, **odd)


def test_odd_indices_are_refused(dataset):
    for index in [len(dataset), -len(dataset) - 1, 2**70]:
        with pytest.raises(IndexError):
            dataset[index]
    for index in [1.5, "0", None, slice(3)]:
        with pytest.raises(TypeError):
            dataset[index]
    assert dataset[np.int64(3)]["x"].shape == dataset[torch.tensor(3)]["x"].shape


def test_the_example_learns_a_prior_that_needs_its_impulses_and_beats_holding_the_pose(recordings):
    example = runpy.run_path(str(EXAMPLE))
    errors = example["main"](recordings, steps=300)
    assert errors["prior"] < 0.6 * errors["holding the pose"], errors
    assert errors["prior"] < errors["impulses of other frames"], errors
