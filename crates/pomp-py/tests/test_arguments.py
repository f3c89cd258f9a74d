"""Whatever is given, an exception comes back and never a crash."""

import itertools
import os
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
from conftest import ROOT

import pomp

STRANGER = ROOT / "data" / "skeletons" / "stranger.bvh"

# Values that are wrong somewhere.
ODD = [
    None, True, -1, 0, 3, 2**63, 2**70, -0.5, float("nan"), float("inf"), 1e30, "", "walk", "\0", "ä" * 300, b"walk",
    (), (1,), (0, 1), (1, 2, 3), [[1, 2]], {"a": 1}, {1: 2}, {"seed": object()}, object(), np.zeros((0, 2)), np.zeros((2, 2)),
    np.full(2, np.nan), np.array(["a", "b"]), np.zeros(2, dtype=complex), [("Hips", (1, 2))], [("Hips", (1, 2, np.inf))],
    [("Tail", (1, 2, 3))], [(99, (1, 2, 3))], [(0, 0, 0, 0)], ["1,Hips,5,left"], [None], lambda: None, os.devnull, "/", "nowhere.npz",
]  # fmt: skip

CALLS = {
    "step.direction": lambda odd, of: of["one"].step(direction=odd),
    "step.gait": lambda odd, of: of["one"].step(gait=odd),
    "step.pushes": lambda odd, of: of["one"].step(pushes=odd),
    "run.seconds": lambda odd, of: of["one"].run(odd if not isinstance(odd, (int, float)) or odd != 3 else 0.1),
    "run.control": lambda odd, of: of["one"].run(0.05, odd),
    "run.pushes": lambda odd, of: of["one"].run(0.05, None, odd),
    "restore": lambda odd, of: of["one"].restore(odd),
    "set_terrain": lambda odd, of: of["one"].set_terrain(odd),
    "set_style": lambda odd, of: of["one"].set_style(odd),
    "generator.style": lambda odd, of: pomp.Generator(style=odd),
    "vec.set_style": lambda odd, of: of["many"].set_style(odd),
    "vec.set_style.indices": lambda odd, of: of["many"].set_style({}, odd),
    "generator.model": lambda odd, of: pomp.Generator(odd),
    "generator.terrain": lambda odd, of: pomp.Generator(terrain=odd),
    "generator.config": lambda odd, of: pomp.Generator(config=odd),
    "generator.settings": lambda odd, of: pomp.Generator(settings=odd),
    "generator.seed": lambda odd, of: pomp.Generator(seed=odd),
    "generator.start": lambda odd, of: pomp.Generator(start=odd),
    "generator.support": lambda odd, of: pomp.Generator(support=odd),
    "vec.support": lambda odd, of: pomp.VecGenerator(2, support=odd),
    "vec.count": lambda odd, of: pomp.VecGenerator(odd),
    "vec.threads": lambda odd, of: pomp.VecGenerator(2, threads=odd),
    "vec.directions": lambda odd, of: of["many"].step(odd),
    "vec.gaits": lambda odd, of: of["many"].step(None, odd),
    "vec.pushes": lambda odd, of: of["many"].step(pushes=odd),
    "vec.ground_heights": lambda odd, of: of["many"].ground_heights(odd),
    "vec.reset": lambda odd, of: of["many"].reset(odd),
    "vec.reset.seeds": lambda odd, of: of["many"].reset(seeds=odd),
    "vec.reset.terrain": lambda odd, of: of["many"].reset([0], terrain=odd),
    "load": lambda odd, of: pomp.load(odd),
    "from_bytes": lambda odd, of: pomp.Recording.from_bytes(odd),
    "getitem": lambda odd, of: of["walk"][odd],
    "save": lambda odd, of: of["walk"].save(odd),
    "render": lambda odd, of: pomp.render(odd, "x.gif"),
    "read_bvh": lambda odd, of: pomp.read_bvh(odd),
    "fit_terrain": lambda odd, of: pomp.fit_terrain(odd),
    "contact_impulses": lambda odd, of: pomp.contact_impulses(odd),
    "preprocess.inputs": lambda odd, of: pomp.preprocess(odd, "nothing"),
    "preprocess.settings": lambda odd, of: pomp.preprocess([], "nothing", settings=odd),
    "evaluate": lambda odd, of: pomp.evaluate(odd),
    "retarget.motion": lambda odd, of: pomp.retarget(odd, STRANGER),
    "retarget.to": lambda odd, of: pomp.retarget(of["walk"], odd),
    "retarget.out": lambda odd, of: pomp.retarget(of["walk"], STRANGER, odd),
    "retarget.model": lambda odd, of: pomp.retarget(of["walk"], STRANGER, model=odd),
    "retarget.settings": lambda odd, of: pomp.retarget(of["walk"], STRANGER, settings=odd),
    "terrain": lambda odd, of: pomp.terrain(odd),
    "terrain.reach": lambda odd, of: pomp.terrain("flat", reach=odd),
    "terrain.heights": lambda odd, of: pomp.Terrain(odd, cell=0.5),
    "terrain.cell": lambda odd, of: pomp.Terrain(np.zeros((3, 3)), cell=odd),
    "terrain.height": lambda odd, of: pomp.terrain("flat").height(odd, 0),
}

# What Python itself says of an argument.
OWN = (pomp.Error, TypeError, OverflowError, ValueError, KeyError, OSError)


@pytest.fixture(scope="module")
def of(walk):
    return {"one": pomp.Generator(seed=1), "many": pomp.VecGenerator(2, seed=1), "walk": walk}


@pytest.mark.parametrize("call", CALLS)
def test_odd_arguments_are_taken_or_refused(call, of, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    # A folder, and a listing of all that is below it, is no odd argument but a long one.
    is_walked = call in ("evaluate", "preprocess.inputs", "render")
    odds = [odd for odd in ODD if not (is_walked and isinstance(odd, (str, tuple)) and odd in ("/", ()))]
    refused = 0
    for odd in odds:
        try:
            CALLS[call](odd, of)
        except OWN as error:
            refused += 1
            assert str(error), f"{call}({odd!r}) says nothing"
    assert refused > 3, f"{call} refused {refused} of {len(odds)}"


def test_random_combinations_never_crash(of):
    rng = np.random.default_rng(0)
    for _ in range(400):
        picks = [ODD[index] for index in rng.integers(0, len(ODD), 3)]
        for call in (of["one"].step, of["many"].step):
            try:
                call(*picks)
            except OWN:
                pass
    assert of["one"].step().positions.shape == (22, 3)


def test_every_kind_of_error_is_also_python_s_own():
    for call, kinds in [
        (lambda: pomp.load("nowhere.npz"), (pomp.MissingFileError, FileNotFoundError, OSError)),
        (lambda: pomp.evaluate("nowhere.npz"), (pomp.MissingFileError, FileNotFoundError)),
        (lambda: pomp.generate(0.1).save(os.path.join(__file__, "x.npz")), (pomp.FileError, OSError)),
        (lambda: pomp.Generator(start="fly"), (pomp.InputError, ValueError)),
        (lambda: pomp.Generator().step(direction=(np.nan, 0)), (pomp.InputError, ValueError)),
    ]:
        for kind in kinds:
            with pytest.raises(kind):
                call()


def test_a_closed_generator_says_so():
    for character in [pomp.Generator(), pomp.VecGenerator(2)]:
        with character:
            character.step()
        for call in [character.step, character.close]:
            if call == character.close:
                call()
            else:
                with pytest.raises(pomp.Error, match="closed"):
                    call()


def test_threads_share_one_character_without_a_crash():
    character, many = pomp.Generator(seed=1), pomp.VecGenerator(3, seed=1)
    errors = []

    def work():
        try:
            for _ in range(15):
                character.step(direction=(0, 1))
                many.step()
                character.restore(character.save())
        except BaseException as error:  # noqa: BLE001
            errors.append(error)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert not errors and not any(thread.is_alive() for thread in threads)


def test_other_threads_run_while_a_call_works():
    ticks = itertools.count()
    stop = threading.Event()

    def tick():
        while not stop.is_set():
            next(ticks)
            time.sleep(0.001)

    thread = threading.Thread(target=tick)
    thread.start()
    begun = time.perf_counter()
    pomp.generate(seconds=2.0, terrain="flat")
    took = time.perf_counter() - begun
    stop.set()
    thread.join()
    assert next(ticks) > 100 * took, f"{took} s"


INTERRUPTED = """
import pomp, signal, sys, threading, os, time
# Where the tests run in the background, the shell has switched it off.
signal.signal(signal.SIGINT, signal.default_int_handler)
threading.Timer(1.0, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
begun = time.perf_counter()
try:
    CALL
except KeyboardInterrupt:
    print(time.perf_counter() - begun)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="os.kill sends no Ctrl-C there")
@pytest.mark.parametrize(
    ("call", "longest_s"),
    [
        ("pomp.generate(3000, 'circle', 'flat')", 2.0),
        ("pomp.Generator().run(3000)", 2.0),
        ("[pomp.Generator().step() for _ in range(10**9)]", 3.0),
        ("pomp.preprocess(sys.argv[1], sys.argv[2], settings={'warp.variants': 6, 'bumps.variants': 3})", 30.0),
    ],
)
def test_ctrl_c_ends_a_long_call(call, longest_s, clips, tmp_path):
    words = [sys.executable, "-c", INTERRUPTED.replace("CALL", call), str(clips), str(tmp_path / "out")]
    ended = subprocess.run(words, capture_output=True, text=True, timeout=120)
    assert ended.returncode == 0, ended.stderr
    assert 0.9 < float(ended.stdout) < longest_s


def test_an_exception_in_the_progress_stops_the_run(clips, tmp_path):
    def progress(done, total, path, error):
        raise LookupError(f"{done} of {total}")

    with pytest.raises(LookupError, match="1 of "):
        pomp.preprocess(clips, tmp_path, settings={"mirror": False}, progress=progress)
    made = len(list(tmp_path.glob("*.npz")))
    assert 1 <= made < len(list(clips.glob("*.bvh")))


@pytest.mark.skipif(sys.platform == "win32", reason="os.kill ends the process there")
def test_signals_reach_their_handlers_during_a_call():
    heard = []

    class Enough(Exception):
        pass

    def handler(*_):
        heard.append(time.perf_counter())
        if len(heard) == 2:
            raise Enough

    before = signal.signal(signal.SIGTERM, handler)
    timers = [threading.Timer(after_s, lambda: os.kill(os.getpid(), signal.SIGTERM)) for after_s in (0.2, 0.6)]
    try:
        for timer in timers:
            timer.start()
        # Much longer than both timers on any machine; after the first signal it goes on, the second ends it.
        with pytest.raises(Enough):
            pomp.generate(seconds=3000.0, terrain="flat", control="circle")
    finally:
        for timer in timers:
            timer.join()
        signal.signal(signal.SIGTERM, before)
    assert len(heard) == 2
    assert heard[1] - heard[0] > 0.2
