"""Work on many files in parts, in one process or in many processes on many machines.

A part is one rank of a number of ranks. A hash of the names (`pomp.rank_of`) assigns files to parts, as for `--rank` and `--ranks` of the
command line. Parts may run in any order, on any machine, again after a crash, or twice at once: a file gets its final name only when it
is complete, and it has the same bytes in every case. A job is plain data, so it can be sent to other processes.
"""

import dataclasses
import hashlib
import json
import math
import os
import pathlib

from . import _native
from ._errors import InputError
from ._places import Folder, is_url, scratch, split

# Clips or rollouts per part if the results go to a URL. A part is published when it is done.
_TOGETHER = 16


@dataclasses.dataclass(frozen=True)
class Preprocessing:
    """`pomp.preprocess` of inputs into a folder."""

    inputs: tuple
    out: str
    options: dict

    @classmethod
    def of(cls, inputs, out, **options):
        inputs = [inputs] if isinstance(inputs, (str, os.PathLike)) else list(inputs)
        return cls(tuple(map(os.fspath, inputs)), os.fspath(out), options)

    @property
    def is_local(self):
        """Whether all places are paths, which the native module reads and writes. Otherwise files are fetched and published."""
        return not any(map(is_url, (*self.inputs, self.out)))

    def found(self):
        """The clips, each with its place, its folder and its name in the folder."""
        clips = []
        for place in self.inputs:
            if is_url(place):
                folder = Folder(place)
                names = [name for name in folder.names() if _is_clip(name)]
                if not names and _is_clip(place):
                    folder, name = split(place)
                    names = [name]
            else:
                path = pathlib.Path(place)
                folder = Folder(path if path.is_dir() else path.parent)
                names = [name for name in folder.names() if _is_clip(name)] if path.is_dir() else [path.name]
            if not names:
                raise InputError(f"{place}: no motion file (.bvh) here")
            clips += [(folder.where(name), folder, name) for name in names]
        stems = {}
        for where, _, name in clips:
            first = stems.setdefault(_stem(name), where)
            if first != where:
                raise InputError(f"{first} and {where}: two clips of one name; results are named after clips, so rename one")
        return sorted(clips, key=lambda clip: clip[0])

    def count(self):
        """Number of clips."""
        return len(self.found())

    def together(self):
        """Most clips per part if one process runs all parts."""
        return _TOGETHER

    def part(self, rank, ranks, progress=None):
        """Runs a part."""
        if self.is_local:
            _native.preprocess(list(self.inputs), self.out, rank=rank, ranks=ranks, progress=progress, **self.options)
            return
        clips = [clip for clip in self.found() if _native.rank_of(_stem(clip[2]), ranks) == rank]
        if not clips:
            return
        out, told = Folder(self.out), _Told(progress, len(clips))
        known, texts = self._known(out)
        with scratch() as here:
            sources = {}
            for index, (where, folder, name) in enumerate(clips):
                source = _fetch_clip(folder, name, here / "in" / str(index))
                if _is_done(known.get(where), source):
                    told(where, None)
                else:
                    sources[str(source)] = where
            if sources:
                made = here / "out"

                def tell(_done, _total, path, error):
                    told(sources[path], error)

                _native.preprocess(list(sources), made, progress=tell, **self.options)
                for path in sorted(made.glob("*.npz")):
                    out.publish(path, path.name)
                texts.append(_renamed((made / "manifest.json").read_text(), sources))
            # The manifest is written last, so the files that it names exist.
            text = _native._merged_manifest(texts, False, [where for where, *_ in clips])
            out.write(_manifest(rank, ranks), text.encode())

    def whole(self, ranks):
        """The manifest of all parts, after they are done."""
        if self.is_local:
            return _native.preprocess(list(self.inputs), self.out, **self.options)
        out, clips = Folder(self.out), self.found()
        parts = sorted({_native.rank_of(_stem(name), ranks) for *_, name in clips})
        texts = [out.read(_manifest(rank, ranks)).decode() for rank in parts]
        text = _native._merged_manifest(texts, False, [where for where, *_ in clips])
        out.write("manifest.json", text.encode())
        return json.loads(text)

    def _known(self, out):
        """Existing results by clip, and the texts of the manifests with this configuration."""
        names = set(out.names())
        made_by = f"pomp {_native.__version__}"
        config_hash = _native._preprocessing_hash(self.options.get("config"), self.options.get("settings"))
        known, texts = {}, []
        for name in sorted(names):
            if not (name.startswith("manifest") and name.endswith(".json")):
                continue
            text = out.read(name).decode()
            manifest = json.loads(text)
            if (manifest.get("made_by"), manifest.get("config_hash")) != (made_by, config_hash):
                continue
            texts.append(text)
            of_this = {}
            for clip in manifest["clips"]:
                of_this.setdefault(clip["input"], []).append(clip)
            for where, entries in of_this.items():
                if all(entry["file"] in names for entry in entries):
                    known[where] = entries
        return known, texts


@dataclasses.dataclass(frozen=True)
class Generation:
    """`pomp.generate_many` into a folder."""

    n: int
    out: str
    options: dict

    @classmethod
    def of(cls, count, out, **options):
        if isinstance(options.get("model"), _native.Model):
            raise InputError("model: give its folder; a Model in memory cannot be sent to other processes")
        return cls(count, os.fspath(out), options)

    @property
    def is_local(self):
        return not is_url(self.out)

    def count(self):
        return self.planned()["count"]

    def together(self):
        return _TOGETHER

    def planned(self):
        """The manifest before the first rollout. This call raises the errors of invalid arguments."""
        return _native.generate_many(self.n, "", dry_run=True, **self.options)

    def part(self, rank, ranks, progress=None):
        if self.is_local:
            _native.generate_many(self.n, self.out, rank=rank, ranks=ranks, progress=progress, **self.options)
            return
        planned, out, own = self.planned(), Folder(self.out), _manifest(rank, ranks)
        there = set(out.names())
        for name in sorted(there):
            if name.startswith("manifest") and name.endswith(".json"):
                _check_same(out.where(name), json.loads(out.read(name)), planned)
        names = [f"rollout_{index:04}" for index in range(self.n)]
        files = [f"{name}.npz" for name in names if _native.rank_of(name, ranks) == rank]
        told = _Told(progress, len(files))
        if own in there:
            finished = json.loads(out.read(own))
            is_done = {clip["file"] for clip in finished["clips"]} == set(files) and finished["count"] == self.n
            if is_done and there.issuperset(files):
                for file in files:
                    told(out.where(file), None)
                return
        elif not there.isdisjoint(files) and not any(name.startswith("manifest") for name in there):
            raise InputError(f"{self.out} holds rollouts but no manifest of a batch; give an empty or new folder")
        with scratch() as folder:
            (folder / own).write_text(json.dumps(planned))
            # From now on the folder belongs to this batch.
            out.write(own, (folder / own).read_bytes())
            kept = there.intersection(files)
            for file in sorted(kept):
                out.fetch(file, folder / file)

            def tell(_done, _total, path, error):
                file = pathlib.Path(path).name
                if error is None and file not in kept:
                    out.publish(path, file)
                told(out.where(file), error)

            _native.generate_many(self.n, folder, rank=rank, ranks=ranks, progress=tell, **self.options)
            out.publish(folder / own, own)

    def whole(self, ranks):
        if self.is_local:
            return _native.generate_many(self.n, self.out, **self.options)
        out = Folder(self.out)
        texts = [out.read(_manifest(rank, ranks)).decode() for rank in range(ranks)]
        text = _native._merged_manifest(texts, True, None)
        out.write("manifest.json", text.encode())
        return json.loads(text)


def run(job, rank=None, ranks=None, progress=None):
    """Runs a job, or one part of it, in this process."""
    if (rank is None) != (ranks is None):
        raise InputError("rank and ranks: give both or none")
    if rank is not None:
        if not 0 <= rank < ranks:
            raise InputError(f"rank {rank} of {ranks} ranks does not exist; ranks count from 0")
        job.part(rank, ranks, progress)
        name = _manifest(rank, ranks)
        out = Folder(job.out)
        return json.loads(out.read(name)) if name in out.names() else {"clips": [], "failures": []}
    total = job.count()
    ranks = max(1, math.ceil(total / job.together()))
    told = _Told(progress, total)
    for rank in range(ranks):
        job.part(rank, ranks, lambda _done, _total, path, error: told(path, error))
    return job.whole(ranks)


class _Told:
    """Counts finished files and reports each file once."""

    def __init__(self, progress, total):
        self.progress, self.total, self.paths = progress, total, set()

    def __call__(self, path, error):
        if path not in self.paths:
            self.paths.add(path)
            if self.progress is not None:
                self.progress(len(self.paths), self.total, path, error)


def _manifest(rank, ranks):
    """Name of the manifest of a part."""
    return "manifest.json" if ranks == 1 else f"manifest_{rank}_of_{ranks}.json"


def _is_clip(name):
    return name.lower().endswith(".bvh")


def _stem(name):
    return pathlib.PurePosixPath(name).stem


def _fetch_clip(folder, name, into):
    """Copies a clip and the manifest.csv files that state its source. Returns the path of the copy. The folder structure is kept."""
    folder.fetch(name, into / name)
    above = [str(parent) for parent in pathlib.PurePosixPath(name).parents]
    names = set(folder.names())
    for parent in above:
        listed = "manifest.csv" if parent == "." else f"{parent}/manifest.csv"
        if listed in names:
            folder.fetch(listed, into / listed)
    return into / name


def _is_done(entries, path):
    """Whether the results in a manifest were made from the bytes at `path`."""
    if not entries:
        return False
    digest = hashlib.sha256(pathlib.Path(path).read_bytes()).hexdigest()
    return all(entry["input_sha256"] == digest for entry in entries)


def _renamed(text, renamed):
    """The manifest with the original places of fetched clips."""
    for path, where in renamed.items():
        text = text.replace(json.dumps(path)[1:-1], json.dumps(where)[1:-1])
    return text


def _check_same(where, there, planned):
    for key in ("made_by", "config_hash"):
        if there.get(key) != planned[key]:
            told = f"{where} is of a batch with another {key} ({there.get(key)} there, {planned[key]} asked for)"
            raise InputError(f"{told}; give another folder, or remove that one")
    if there["count"] > planned["count"]:
        raise InputError(f"{where} is of a batch of {there['count']} rollouts, and {planned['count']} were asked for")
