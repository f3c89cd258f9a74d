"""Functions of the package that accept URLs as well as paths. They pass paths to the native module unchanged."""

import functools
import os

from . import _native
from ._errors import InputError
from ._url import is_url

# Libraries for URLs are imported only if a URL is given, so that the package imports in milliseconds.


def _like(native):
    """Copies documentation and signature of the native function to its wrapper."""

    def decorate(function):
        function = functools.wraps(native, updated=())(function)
        function.__module__ = "pomp"
        return function

    return decorate


@_like(_native.load)
def load(path):
    if not is_url(path):
        return _native.load(path)
    from ._places import split

    folder, name = split(path)
    return _native.Recording.from_bytes(folder.read(name), path)


def save(recording, path):
    """Writes a recording to a path or URL: .npz with all arrays, .bvh or .glb with the motion only.

    The file appears only when it is complete.
    """
    if not isinstance(recording, _native.Recording):
        raise TypeError(f"save: give a Recording, not a {type(recording).__name__}")
    if not is_url(path):
        return recording.save(path)
    from ._places import scratch, split

    folder, name = split(path)
    with scratch() as here:
        recording.save(here / name)
        folder.publish(here / name, name)


@_like(_native.preprocess)
def preprocess(inputs, out, *, rank=None, ranks=None, progress=None, **options):
    places = [inputs, out] if isinstance(inputs, (str, os.PathLike)) else [*_listed(inputs), out]
    if not any(map(is_url, places)):
        return _native.preprocess(inputs, out, rank=rank, ranks=ranks, progress=progress, **options)
    from ._parts import Preprocessing, run

    return run(Preprocessing.of(inputs, out, **options), rank, ranks, progress)


@_like(_native.generate_many)
def generate_many(count, out, *, rank=None, ranks=None, progress=None, dry_run=False, **options):
    if dry_run or not is_url(out):
        options |= {"rank": rank, "ranks": ranks, "progress": progress, "dry_run": dry_run}
        return _native.generate_many(count, out, **options)
    from ._parts import Generation, run

    return run(Generation.of(count, out, **options), rank, ranks, progress)


@_like(_native.export)
def export(data, out, *, format="parquet"):
    if not is_url(data) and not is_url(out):
        return _native.export(data, out, format=format)
    from ._places import Folder, scratch

    source, target = Folder(data), Folder(out)
    with scratch() as here:
        if source.path is None:
            for name in source.names():
                if "/" not in name and name.endswith((".npz", ".json")):
                    source.fetch(name, here / "data" / name)
        made = target.path or here / "out"
        if target.path is None:
            made.mkdir()
            for name in target.names():
                if "/" not in name:
                    target.fetch(name, made / name)
        before = {path.name: path.read_bytes() for path in made.glob("*.jsonl")} if target.path is None else {}
        told = _native.export(source.path or here / "data", made, format=format)
        if target.path is None:
            # The journal is published last, so the files that it names exist.
            for path in sorted(made.iterdir(), key=lambda path: (path.suffix == ".jsonl", path.name)):
                if before.get(path.name) != path.read_bytes():
                    target.publish(path, path.name)
        return told


def _listed(inputs):
    try:
        return list(inputs)
    except TypeError:
        raise InputError("inputs: give a path or URL, or a list of them") from None
