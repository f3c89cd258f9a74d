"""Paths and URLs: the same bytes, and nothing half written."""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import threading
import time
import uuid

import pytest
from conftest import contents

import pomp
from pomp._places import Folder, is_url

fsspec = pytest.importorskip("fsspec", reason="fsspec is not installed")

PLAIN = {"mirror": False}


@pytest.fixture(scope="module")
def store():
    """A local server of S3, with a bucket: its URL."""
    pytest.importorskip("s3fs", reason="s3fs is not installed")
    server = pytest.importorskip("moto.server", reason="moto is not installed").ThreadedMotoServer(port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    keys = {"AWS_ACCESS_KEY_ID": "key", "AWS_SECRET_ACCESS_KEY": "secret", "AWS_DEFAULT_REGION": "us-east-1"}
    keys["FSSPEC_S3_ENDPOINT_URL"] = f"http://127.0.0.1:{port}"
    before = dict(os.environ)
    os.environ.update(keys)
    fsspec.config.set_conf_env(fsspec.config.conf)
    files = fsspec.filesystem("s3")
    files.mkdir("motion")
    yield "s3://motion"
    os.environ.clear()
    os.environ.update(before)
    fsspec.config.conf.pop("s3", None)
    server.stop()


@pytest.fixture(params=["file", "memory", "s3"])
def url(request, tmp_path):
    """A folder that is not there yet."""
    if request.param == "file":
        return (tmp_path / "store").as_uri()
    if request.param == "memory":
        return f"memory://{uuid.uuid4()}"
    return f"{request.getfixturevalue('store')}/{uuid.uuid4()}"


def fetched(url, into):
    """The files of a URL, by name."""
    folder = Folder(url)
    for name in folder.names():
        folder.fetch(name, into / name)
    return contents(into)


def test_paths_are_not_taken_for_urls():
    assert all(map(is_url, ["s3://bucket/a.npz", "memory://x", "file:///tmp/x", "simplecache::s3://bucket/x"]))
    assert not any(map(is_url, ["a.npz", "/tmp/x", "C:\\data", "c:/data", "a:b", pathlib.Path("s3://x"), None, 7, "://x"]))


def test_a_recording_goes_to_a_url_and_comes_back(walk, url):
    pomp.save(walk, f"{url}/walks/walk.npz")
    assert pomp.load(f"{url}/walks/walk.npz").to_bytes() == walk.to_bytes()
    pomp.save(walk, f"{url}/walk.bvh")
    assert Folder(url).names() == ["walk.bvh", "walks/walk.npz"]
    with pytest.raises(pomp.MissingFileError, match="nowhere.npz"):
        pomp.load(f"{url}/nowhere.npz")


def test_preprocessing_from_and_to_a_url_gives_the_bytes_of_one_on_disk(clips, url, tmp_path):
    mocap = Folder(f"{url}/mocap")
    names = sorted(path.name for path in clips.glob("*.bvh"))[:3]
    for name in [*names, "manifest.csv"]:
        mocap.publish(clips / name, f"day one/{name}")
    here = tmp_path / "mocap" / "day one"
    here.mkdir(parents=True)
    for name in [*names, "manifest.csv"]:
        shutil.copy(clips / name, here / name)
    theirs = pomp.preprocess(tmp_path / "mocap", tmp_path / "one", settings=PLAIN)
    told = []
    mine = pomp.preprocess(f"{url}/mocap", f"{url}/data", settings=PLAIN, progress=lambda *event: told.append(event))
    places = [mocap.where(f"day one/{name}") for name in names]
    assert sorted(told) == [(index + 1, 3, place, None) for index, place in enumerate(place for *_, place, _ in told)]
    assert sorted(place for *_, place, _ in told) == sorted(places)
    expected = contents(tmp_path / "one")
    there = fetched(f"{url}/data", tmp_path / "two")
    for name, place in zip(names, places):
        for manifest in ["manifest.json"]:
            expected[manifest] = expected[manifest].replace(str(here / name).encode(), place.encode())
    assert there == expected
    assert mine == json.loads(expected["manifest.json"]) and len(theirs["clips"]) == 3

    # Again: nothing is made. A clip that has changed: it alone.
    was = pomp._native.preprocess
    made = []
    try:
        pomp._native.preprocess = lambda inputs, *rest, **named: made.append(len(inputs)) or was(inputs, *rest, **named)
        assert pomp.preprocess(f"{url}/mocap", f"{url}/data", settings=PLAIN) == mine and made == []
        changed = (clips / names[0]).read_bytes() + b"\n"
        mocap.write(f"day one/{names[0]}", changed)
        (here / names[0]).write_bytes(changed)
        again = pomp.preprocess(f"{url}/mocap", f"{url}/data", settings=PLAIN)
        assert made == [1]
    finally:
        pomp._native.preprocess = was
    assert [a == b for a, b in zip(again["clips"], mine["clips"])].count(False) == 1

    # Parts that others have done are put together by a call without rank.
    for rank in range(2):
        part = pomp.preprocess(f"{url}/mocap", f"{url}/parts", settings=PLAIN, rank=rank, ranks=2)
        assert len(part["clips"]) == sum(pomp.rank_of(name[:-4], 2) == rank for name in names)
    assert pomp.preprocess(f"{url}/mocap", f"{url}/parts", settings=PLAIN)["clips"] == again["clips"]


def test_rollouts_to_a_url_are_the_bytes_of_those_on_disk(url, tmp_path):
    wanted = {"seconds": 0.2, "terrain": "flat", "seed": 3, "pushes": ["0.1,Spine2,20..60,random"]}
    pomp.generate_many(5, tmp_path / "one", **wanted)
    expected = contents(tmp_path / "one")
    for rank in (1, 0):
        pomp.generate_many(5, url, rank=rank, ranks=2, **wanted)
    part = Folder(url).read("manifest_1_of_2.json")
    # Half of a part is lost, as by a machine that went away.
    lost = next(clip["file"] for clip in json.loads(part)["clips"])
    store = Folder(url)
    if store.path is None:
        store._files.rm(store._of(lost))
    else:
        (store.path / lost).unlink()
    told = []
    pomp.generate_many(5, url, rank=1, ranks=2, progress=lambda *event: told.append(event[2]), **wanted)
    assert len(told) == len(json.loads(part)["clips"])
    manifest = pomp.generate_many(5, url, **wanted)
    assert fetched(url, tmp_path / "two") == expected
    assert manifest == json.loads(expected["manifest.json"])
    with pytest.raises(pomp.InputError, match="config_hash"):
        pomp.generate_many(5, url, **(wanted | {"seed": 4}))


def test_exports_to_a_url_are_the_bytes_of_those_on_disk(recordings, url, tmp_path):
    pomp.export(recordings, tmp_path / "one", format="parquet")
    told = pomp.export(recordings, f"{url}/frames", format="parquet")
    assert len(told["files"]) == told["written"] == 6
    assert fetched(f"{url}/frames", tmp_path / "two") == contents(tmp_path / "one")
    assert pomp.export(recordings, f"{url}/frames", format="parquet")["written"] == 0


def test_an_upload_that_breaks_leaves_no_name(walk, url, monkeypatch):
    folder = Folder(url)
    folder.write("there.npz", b"before")

    class Broken(Exception):
        pass

    for name in ["new.npz", "there.npz"]:
        with pytest.raises(pomp.FileError, match="Broken"):
            with pytest.MonkeyPatch.context() as patch:

                def copy(source, target, length):
                    target.write(source.read(1000))
                    raise Broken("the line is cut")

                patch.setattr(shutil, "copyfileobj", copy)
                pomp.save(walk, f"{url}/{name}")
    assert folder.names() == ["there.npz"] and folder.read("there.npz") == b"before"


SLOW = """
import shutil, sys, time
import pomp
def copy(source, target, length):
    target.write(source.read(6_000_000))
    print("half", flush=True)
    time.sleep(60)
shutil.copyfileobj = copy
from pomp._places import Folder
Folder(sys.argv[1]).publish(sys.argv[2], "large.bin")
"""


@pytest.mark.parametrize("kind", ["file", "s3"])
def test_a_process_that_is_killed_while_it_uploads_leaves_no_name(kind, request, tmp_path):
    url = (tmp_path / "store").as_uri() if kind == "file" else f"{request.getfixturevalue('store')}/killed"
    (tmp_path / "large.bin").write_bytes(os.urandom(12_000_000))
    words = [sys.executable, "-c", SLOW, url, str(tmp_path / "large.bin")]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "half\n"
        process.kill()
    assert Folder(url).names() == []
    Folder(url).publish(tmp_path / "large.bin", "large.bin")
    assert Folder(url).read("large.bin") == (tmp_path / "large.bin").read_bytes()


def test_stores_that_are_not_there_are_told():
    with pytest.raises(pomp.FileError, match="nostore://x"):
        pomp.load("nostore://x/y.npz")
    with pytest.raises(pomp.InputError, match="names no file"):
        pomp.load("memory://")
    with pytest.raises(pomp.InputError, match="no motion file"):
        pomp.preprocess(f"memory://{uuid.uuid4()}", "memory://out")


def test_threads_upload_side_by_side(url):
    errors = []

    def work(number):
        try:
            for index in range(3):
                Folder(url).write(f"{number}-{index}.bin", bytes([number]) * 1000)
        except BaseException as error:  # noqa: BLE001
            errors.append(error)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert not errors, errors
    assert len(Folder(url).names()) == 12
    assert Folder(url).read("3-2.bin") == b"\x03" * 1000


ODD = [None, -1, 0, 2**70, float("nan"), "", "://", "s3:/x", "memory://", "nostore://x", b"x", (), [None], {"a": 1}, object(), "\0", lambda: None]


@pytest.mark.parametrize(
    "call",
    [
        lambda odd: pomp.load(odd),
        lambda odd: pomp.save(odd, "memory://x/y.npz"),
        lambda odd: pomp.save(pomp.generate(0.1), odd),
        lambda odd: pomp.preprocess(odd, "memory://out"),
        lambda odd: pomp.preprocess("memory://nothing-here", odd),
        lambda odd: pomp.generate_many(odd, "memory://out"),
        lambda odd: pomp.generate_many(1, "memory://out", seconds=odd),
        lambda odd: pomp.generate_many(1, "memory://out", rank=odd, ranks=2),
        lambda odd: pomp.generate_many(1, "memory://out", nothing=odd),
        lambda odd: pomp.export(odd, "memory://out"),
        lambda odd: pomp.export("nowhere", "memory://out", format=odd),
        lambda odd: pomp.rank_of("a", odd),
        lambda odd: pomp.rank_of(odd, 2),
        lambda odd: pomp.Windows(odd),
        lambda odd: pomp.Windows("nowhere", split=odd),
    ],
)
def test_odd_arguments_are_refused(call, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    refused = 0
    for odd in ODD:
        try:
            call(odd)
        except (pomp.Error, TypeError, ValueError, OverflowError, OSError) as error:
            refused += 1
            assert str(error), repr(odd)
    assert refused > 3


def test_a_missing_library_is_named_with_its_extra():
    code = "import sys; sys.modules['fsspec'] = None\nimport pomp\npomp.load('s3://bucket/walk.npz')"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert 'pip install "pomp-motion[cloud]"' in ran.stderr and "ImportError" in ran.stderr
    for module, extra in [("torch", "torch"), ("ray", "ray")]:
        code = f"import sys; sys.modules['{module}'] = None\nimport pomp.{module}"
        ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
        assert f'pip install "pomp-motion[{extra}]"' in ran.stderr and "ImportError" in ran.stderr, ran.stderr


def test_importing_the_package_imports_none_of_them():
    code = "import pomp, sys; print(sorted({'fsspec', 'torch', 'ray', 's3fs'} & set(sys.modules)))"
    began = time.perf_counter()
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout == "[]\n" and time.perf_counter() - began < 30
