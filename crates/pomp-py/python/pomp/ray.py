"""Preprocessing and rollouts on a Ray cluster. The files are identical to those of one process, byte by byte.

The hash of `--rank` and `--ranks` divides the work into parts. A part is a Ray task of one core. If its worker or machine is lost, the
task runs again and finds the finished files. The same call after an interruption continues the work. For machines without a shared
disk, `out` is a URL (docs/cluster.md).

>>> import pomp.ray  # doctest: +SKIP
>>> manifest = pomp.ray.preprocess("s3://lab/mocap", "s3://lab/data")  # doctest: +SKIP
>>> rollouts = pomp.ray.generate(100_000, "s3://lab/rollouts", random=True)  # doctest: +SKIP
"""

import os

from ._errors import Error, InputError
from ._extras import need
from ._parts import Generation, Preprocessing, _Told

ray = need("ray", "ray", "pomp.ray")

__all__ = ["generate", "preprocess"]

# Parts per core of the cluster. More parts divide the work more evenly; the start of a part takes some tenths of a second.
_PARTS_PER_CORE = 4
# Time between two queries of the progress, seconds.
_PATIENCE_S = 0.5


def preprocess(
    inputs,
    out,
    *,
    config=None,
    settings=None,
    rigs=(),
    strict=False,
    parts=None,
    cores=1,
    retries=3,
    export=None,
    progress=None,
):
    """Preprocesses motion files on the cluster, as `pomp.preprocess` does on one machine.

    Args:
        inputs: A BVH file or a folder of them, by path or URL, or a list of both.
        out: Folder of the recordings: a path that all machines share, or a URL.
        config, settings, rigs, strict: As in `pomp.preprocess`.
        parts: Number of parts; if left out, four per core of the cluster. A lost part runs again from the beginning if `out` is a URL,
            and from its last finished clip if it is a path.
        cores: Cores per part.
        retries: Number of restarts of a part whose worker was lost.
        export: A dict of formats to folders (paths or URLs), as in `pomp.export`: {"parquet": "s3://lab/frames"}.
        progress: Called after each clip as progress(done, total, path, error). An exception in it stops the run.

    Returns:
        The manifest, which is also in OUT/manifest.json.
    """
    job = Preprocessing.of(inputs, out, config=config, settings=settings, rigs=list(rigs), strict=strict)
    return _run(job, parts, cores, retries, export, progress)


def generate(n, out, *, parts=None, cores=1, retries=3, export=None, progress=None, **options):
    """Generates n rollouts on the cluster, as `pomp.generate_many` does on one machine.

    Args:
        n: Number of rollouts.
        out: Folder of the rollouts: a path that all machines share, or a URL.
        parts, cores, retries, export, progress: As in `preprocess`.
        options: Further arguments of `pomp.generate_many`: seconds, control, terrain, random, seed, pushes, model (a folder), support, config, settings, stature, mass.

    Returns:
        The manifest, which is also in OUT/manifest.json.
    """
    refused = {"rank", "ranks", "threads", "dry_run"} & options.keys()
    if refused:
        raise InputError(f"{', '.join(sorted(refused))}: the cluster decides that; leave it out")
    return _run(Generation.of(n, out, threads=cores, **options), parts, cores, retries, export, progress)


def _run(job, parts, cores, retries, export, progress):
    for name, value, least in [("parts", parts, 1), ("cores", cores, 1), ("retries", retries, 0)]:
        if value is not None and (not isinstance(value, int) or value < least):
            raise InputError(f"{name} = {value}: give a whole number, {least} or more")
    total = job.count()
    if not ray.is_initialized():
        ray.init(include_dashboard=False, log_to_driver=False)
    if parts is None:
        parts = int(_PARTS_PER_CORE * ray.cluster_resources().get("CPU", 1) / cores)
    parts = max(1, min(parts, total))
    told = _Told(progress, total)
    heard = None if progress is None else ray.remote(num_cpus=0)(_Heard).remote()
    folder = os.getcwd()

    def task(work, name):
        options = {"num_cpus": cores, "max_retries": retries, "name": name}
        return ray.remote(_in_worker).options(**options).remote(work, job, cores, folder, heard)

    waiting = {task(("part", rank, parts), f"pomp part {rank} of {parts}"): rank for rank in range(parts)}
    try:
        while waiting:
            done, _ = ray.wait(list(waiting), num_returns=1, timeout=_PATIENCE_S)
            for one in done:
                _result(one, f"part {waiting.pop(one)} of {parts}", retries)
            if heard is not None:
                for path, error in ray.get(heard.taken.remote()):
                    told(path, error)
    except BaseException:
        for one in waiting:
            ray.cancel(one, force=True)
        raise
    manifest = _result(task(("whole", parts), "pomp manifest"), "the manifest", retries)
    for format, place in (export or {}).items():
        _result(task(("export", format, os.fspath(place)), f"pomp export {format}"), f"the export {format}", retries)
    return manifest


class _Heard:
    """An actor that collects finished files until the driver queries them."""

    def __init__(self):
        self.events = []

    def hear(self, path, error):
        self.events.append((path, error))

    def taken(self):
        events, self.events = self.events, []
        return events


def _in_worker(work, job, cores, folder, heard):
    """A task. The native module starts its threads at the first call in a process."""
    os.environ["RAYON_NUM_THREADS"] = str(cores)
    if os.path.isdir(folder):
        # Relative paths are relative to the folder of the driver.
        os.chdir(folder)
    kind, *arguments = work
    if kind == "part":
        progress = None
        if heard is not None:

            def progress(_done, _total, path, error):
                # A restarted part may report a file twice; it counts once.
                ray.get(heard.hear.remote(path, error))

        return job.part(*arguments, progress)
    if kind == "whole":
        return job.whole(*arguments)
    from . import export

    format, place = arguments
    return export(job.out, place, format=format)


def _result(task, what, retries):
    try:
        return ray.get(task)
    except ray.exceptions.RayTaskError as error:
        # Raise the exception of the worker itself.
        if isinstance(error.cause, (Error, OSError, ValueError, TypeError)):
            raise error.cause from None
        raise
    except (ray.exceptions.WorkerCrashedError, ray.exceptions.NodeDiedError, ray.exceptions.OutOfMemoryError) as error:
        told = f"{what}: its worker was lost {retries + 1} times ({type(error).__name__})"
        raise Error(f"{told}; finished files are kept, and the same call continues") from error
