"""A real local Ray cluster of two workers: the bytes of one process, whatever is lost."""

import json
import os
import pathlib
import signal
import threading
import time

import pytest
from conftest import contents

import pomp

ray = pytest.importorskip("ray", reason="Ray is not installed: it has no release for this Python")
import pomp.ray  # noqa: E402

TESTS = str(pathlib.Path(__file__).parent)


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    """Two workers of a core each. Their sockets need a short path."""
    paths = os.pathsep.join([TESTS, os.environ.get("PYTHONPATH", "")])
    ray.init(
        num_cpus=2,
        include_dashboard=False,
        log_to_driver=False,
        configure_logging=False,
        object_store_memory=100_000_000,
        runtime_env={"env_vars": {"PYTHONPATH": paths}},
    )
    yield
    ray.shutdown()


SETTINGS = {"mirror": True}


@pytest.fixture(scope="module")
def alone(clips, tmp_path_factory):
    """The clips, preprocessed by one process."""
    folder = tmp_path_factory.mktemp("alone")
    pomp.preprocess(clips, folder, settings=SETTINGS)
    return folder


def test_two_workers_preprocess_to_the_bytes_of_one_process(cluster, clips, alone, tmp_path):
    told = []
    manifest = pomp.ray.preprocess(
        clips, tmp_path / "out", settings=SETTINGS, parts=4, progress=lambda *event: told.append(event)
    )
    assert contents(tmp_path / "out") == contents(alone)
    assert manifest == json.loads((alone / "manifest.json").read_bytes())
    paths = sorted(map(str, clips.glob("*.bvh")))
    assert sorted(path for _, _, path, _ in told) == paths
    assert [event[:2] for event in told] == [(index + 1, len(paths)) for index in range(len(paths))]
    # The same call again makes nothing.
    before = {path: path.stat().st_mtime_ns for path in (tmp_path / "out").glob("*.npz")}
    assert pomp.ray.preprocess(clips, tmp_path / "out", settings=SETTINGS, parts=3) == manifest
    assert {path: path.stat().st_mtime_ns for path in (tmp_path / "out").glob("*.npz")} == before


def worker_pids():
    """Processes of tasks under way, and not of actors or idle ones."""
    pids = []
    for folder in pathlib.Path("/proc").iterdir():
        try:
            command = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode()
        except OSError:
            continue
        if command.startswith("ray::") and "pomp part" in command:
            pids.append(int(folder.name))
    return pids


def test_a_worker_that_is_killed_in_the_middle_loses_nothing(cluster, clips, alone, tmp_path):
    out, killed = tmp_path / "out", []

    def kill():
        until = time.monotonic() + 120
        while not killed and time.monotonic() < until:
            made = len(list(out.glob("*.npz")))
            if made >= 2:
                pids = worker_pids()
                if pids:
                    os.kill(pids[0], signal.SIGKILL)
                    killed.append((pids[0], made))
            time.sleep(0.01)

    thread = threading.Thread(target=kill)
    thread.start()
    manifest = pomp.ray.preprocess(clips, out, settings=SETTINGS, parts=2)
    thread.join()
    total = len(list(alone.glob("*.npz")))
    assert killed and killed[0][1] < total, f"nothing was killed in the middle: {killed} of {total}"
    assert contents(out) == contents(alone)
    assert manifest == json.loads((alone / "manifest.json").read_bytes())


def test_a_worker_that_dies_each_time_is_told_and_the_rest_is_kept(cluster, clips, tmp_path, monkeypatch):
    from dying import Dying

    job = Dying.of(clips, tmp_path / "out", settings=SETTINGS)
    with pytest.raises(pomp.Error, match=r"part 1 of 2: its worker was lost 2 times .* the same call continues"):
        pomp.ray._run(job, 2, 1, 1, None, None)
    assert list((tmp_path / "out").glob("*.npz"))


def test_two_workers_make_rollouts_to_the_bytes_of_one_process(cluster, tmp_path):
    wanted = {"seconds": 0.3, "random": True, "seed": 11}
    pomp.generate_many(7, tmp_path / "one", **wanted)
    told = []
    manifest = pomp.ray.generate(7, tmp_path / "out", parts=3, progress=lambda *event: told.append(event[3]), **wanted)
    assert told == [None] * 7
    assert contents(tmp_path / "out") == contents(tmp_path / "one")
    assert manifest == json.loads((tmp_path / "one" / "manifest.json").read_bytes())
    # A larger number adds to it.
    pomp.ray.generate(9, tmp_path / "out", **wanted)
    pomp.generate_many(9, tmp_path / "one", **wanted)
    assert contents(tmp_path / "out") == contents(tmp_path / "one")


def test_workers_without_a_common_disk_give_the_same_by_url(cluster, clips, alone, tmp_path):
    store = (tmp_path / "store").as_uri()
    pytest.importorskip("fsspec")
    pomp.ray.preprocess(clips, store, settings=SETTINGS, parts=3)
    assert contents(tmp_path / "store") == contents(alone)


def test_ray_data_pandas_and_webdataset_read_what_was_made(cluster, clips, alone, tmp_path):
    pytest.importorskip("pandas", reason="pandas is not installed")
    places = {kind: tmp_path / kind for kind in ("parquet", "shards")}
    pomp.ray.preprocess(clips, alone, settings=SETTINGS, parts=1, export=places)
    frames = sum(clip["frames"] for clip in json.loads((alone / "manifest.json").read_bytes())["clips"])
    table = ray.data.read_parquet(str(places["parquet"]))
    assert table.count() == frames
    import pandas

    rows = [len(pandas.read_parquet(path)) for path in places["parquet"].glob("*.parquet")]
    assert sum(rows) == frames and len(rows) == len(list(alone.glob("*.npz")))
    webdataset = pytest.importorskip("webdataset", reason="webdataset is not installed")
    samples = list(webdataset.WebDataset([str(path) for path in places["shards"].glob("*.tar")], shardshuffle=False))
    assert sorted(sample["__key__"] for sample in samples) == sorted(path.stem for path in alone.glob("*.npz"))
    assert samples[0]["npz"][:2] == b"PK"


def test_errors_of_workers_are_those_of_the_package(cluster, clips, tmp_path):
    with pytest.raises(pomp.InputError, match="nothing"):
        pomp.ray.preprocess(clips, tmp_path / "out", settings={"nothing": 1})
    with pytest.raises(pomp.InputError, match="hlils"):
        pomp.ray.generate(2, tmp_path / "out", terrain="hlils", seconds=0.1)
    with pytest.raises(LookupError, match="enough"):

        def progress(*event):
            raise LookupError("enough")

        pomp.ray.preprocess(clips, tmp_path / "out", settings=SETTINGS, progress=progress)


@pytest.mark.parametrize(
    "odd", [{"parts": 0}, {"parts": "2"}, {"cores": -1}, {"retries": -1}, {"retries": 0.5}, {"rank": 0, "ranks": 2}, {"model": pomp.Model()}]
)
def test_odd_arguments_are_refused(cluster, odd, tmp_path):
    with pytest.raises(pomp.InputError):
        pomp.ray.generate(2, tmp_path, seconds=0.1, **odd)
