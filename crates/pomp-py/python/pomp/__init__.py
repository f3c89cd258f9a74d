"""Physics-constrained human motion: recordings, preprocessing, retargeting and the closed loop, with numpy arrays.

In world space Y is up. A character at yaw 0 faces +Z, and +X is to its left. Units are metres, seconds, kilograms, newtons and radians.
Quaternions have the order x y z w. Arrays are float32. Arrays of a recording or a step are read-only.

>>> import pomp
>>> walk = pomp.generate(seconds=1.0, terrain="flat", seed=7, pushes=["0.5,Spine2,40,left"])
>>> walk.positions.shape  # frames, joints, x y z
(60, 22, 3)
>>> walk.metadata["framerate"]
60.0

A `Generator` simulates one character frame by frame, a `VecGenerator` many at once.

>>> character = pomp.Generator(terrain="hills", seed=7)
>>> step = character.step(direction=(0, 1), gait="walk")
>>> step.contact_impulse.shape  # bodies, x y z, N·s
(22, 3)
"""

from ._errors import Error, FileError, InputError, MissingFileError
from ._front import export, generate_many, load, preprocess, save
from ._native import (
    CONTROLS,
    FRAME_RATE_HZ,
    GAITS,
    TERRAINS,
    Clip,
    Generator,
    Model,
    Recording,
    Snapshot,
    Step,
    Terrain,
    VecGenerator,
    VecStep,
    VecTracker,
    Windows,
    __version__,
    contact_impulses,
    evaluate,
    fit_terrain,
    generate,
    metrics,
    rank_of,
    read_bvh,
    render,
    retarget,
    terrain,
)

__all__ = [
    "CONTROLS",
    "FRAME_RATE_HZ",
    "GAITS",
    "TERRAINS",
    "Clip",
    "Error",
    "FileError",
    "Generator",
    "InputError",
    "MissingFileError",
    "Model",
    "Recording",
    "Snapshot",
    "Step",
    "Terrain",
    "VecGenerator",
    "VecStep",
    "VecTracker",
    "Windows",
    "__version__",
    "contact_impulses",
    "evaluate",
    "export",
    "fit_terrain",
    "generate",
    "generate_many",
    "load",
    "metrics",
    "preprocess",
    "rank_of",
    "read_bvh",
    "render",
    "retarget",
    "save",
    "terrain",
]
