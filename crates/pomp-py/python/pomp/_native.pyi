"""Types of the native module. help() and docs/python.md describe the functions and classes."""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

_Path: TypeAlias = str | os.PathLike[str]
_Floats: TypeAlias = NDArray[np.float32]
_Settings: TypeAlias = Mapping[str, object] | Sequence[str]
_Body: TypeAlias = str | int
_Push: TypeAlias = tuple[_Body, ArrayLike] | tuple[_Body, ArrayLike, ArrayLike]
_TimedPush: TypeAlias = str | tuple[float, _Body, ArrayLike]
_Gait: TypeAlias = Literal["stand", "walk", "jog", "crouch", "jump"]

__version__: str
FRAME_RATE_HZ: float
GAITS: list[str]
CONTROLS: list[str]
TERRAINS: list[str]

class Model:
    def __new__(cls, folder: _Path | None = None) -> Model: ...
    @property
    def sha256(self) -> str | None: ...
    @property
    def config_name(self) -> str: ...
    @property
    def body_names(self) -> list[str]: ...

class Terrain:
    def __new__(cls, heights: ArrayLike, *, cell: float, origin: ArrayLike | None = None) -> Terrain: ...
    @property
    def heights(self) -> _Floats: ...
    @property
    def origin(self) -> tuple[float, float]: ...
    @property
    def cell(self) -> float: ...
    @property
    def bounds(self) -> tuple[float, float, float, float]: ...
    @property
    def report(self) -> dict[str, Any] | None: ...
    def height(self, x: float, z: float) -> float: ...
    def save(self, path: _Path) -> None: ...

class Recording:
    # Arrays of every recording.
    name: str
    framerate: float
    positions: _Floats
    quaternions: _Floats
    velocities: _Floats
    root: _Floats
    gait: _Floats
    foot_contact: NDArray[np.bool_]
    bone_names: NDArray[np.str_]
    parent_names: NDArray[np.str_]
    bone_offsets: _Floats
    source: str
    license: str
    config_hash: str
    # Arrays of a motion with terrain, physics replay or phases, or of a rollout. Other recordings raise AttributeError.
    terrain_height: _Floats
    terrain_origin: _Floats
    terrain_cell: float
    body_names: NDArray[np.str_]
    body_mass: _Floats
    contact_impulse: _Floats
    impulse_estimator: str
    sim_contact_impulse: _Floats
    sim_positions: _Floats
    sim_quaternions: _Floats
    sim_velocities: _Floats
    assist_force: _Floats
    assist_torque: _Floats
    joint_torque: _Floats
    assist_limit: _Floats
    contact_point: _Floats
    phase: _Floats
    phase_model: str
    target_positions: _Floats
    push: _Floats
    control: _Floats
    frame_time_us: _Floats
    ground_offset: _Floats
    recipe: str
    plan: _Floats
    @classmethod
    def from_bytes(cls, bytes: bytes, name: str = "bytes") -> Recording: ...
    @property
    def frames(self) -> int: ...
    @property
    def seconds(self) -> float: ...
    @property
    def metadata(self) -> dict[str, str | float]: ...
    @property
    def terrain(self) -> Terrain | None: ...
    def keys(self) -> list[str]: ...
    def save(self, path: _Path) -> None: ...
    def render(self, path: _Path, *, side_by_side: bool = False) -> None: ...
    def to_html(self) -> str: ...
    def to_bytes(self) -> bytes: ...
    def __getitem__(self, key: str, /) -> Any: ...
    def __contains__(self, key: str, /) -> bool: ...
    def __iter__(self) -> Iterator[str]: ...
    def __len__(self) -> int: ...

class Clip:
    @property
    def name(self) -> str: ...
    @property
    def frames(self) -> int: ...
    @property
    def framerate(self) -> float: ...
    @property
    def seconds(self) -> float: ...
    @property
    def joint_names(self) -> list[str]: ...
    @property
    def parents(self) -> list[int]: ...
    @property
    def offsets(self) -> _Floats: ...
    @property
    def positions(self) -> _Floats: ...
    @property
    def local_rotations(self) -> _Floats: ...
    @property
    def warnings(self) -> list[str]: ...
    @property
    def rig(self) -> str: ...
    def labelled(self) -> Recording: ...
    def __len__(self) -> int: ...

class Step:
    @property
    def positions(self) -> _Floats: ...
    @property
    def quaternions(self) -> _Floats: ...
    @property
    def velocities(self) -> _Floats: ...
    @property
    def contact_impulse(self) -> _Floats: ...
    @property
    def contact_point(self) -> _Floats: ...
    @property
    def assist_force(self) -> _Floats: ...
    @property
    def assist_torque(self) -> _Floats: ...
    @property
    def joint_torque(self) -> _Floats: ...
    @property
    def target_positions(self) -> _Floats: ...
    @property
    def target_quaternions(self) -> _Floats: ...
    @property
    def gait(self) -> _Floats: ...
    @property
    def phase(self) -> _Floats: ...
    @property
    def control(self) -> tuple[float, float, float, float]: ...
    @property
    def fallen(self) -> bool: ...

class Snapshot:
    @property
    def frames(self) -> int: ...

class Generator:
    def __new__(
        cls,
        model: Model | _Path | None = None,
        *,
        terrain: Terrain | _Path | None = None,
        config: _Path | None = None,
        settings: _Settings | None = None,
        seed: int = 0,
        start: _Gait = "stand",
        style: Mapping[str, float] | None = None,
        support: str | None = None,
    ) -> Generator: ...
    def step(
        self,
        direction: ArrayLike | None = None,
        gait: _Gait = "walk",
        pushes: Iterable[_Push] | None = None,
        *,
        facing: ArrayLike | None = None,
    ) -> Step: ...
    def run(
        self,
        seconds: float,
        control: _Path | ArrayLike | None = None,
        pushes: Iterable[_TimedPush] | None = None,
        *,
        name: str = "rollout",
    ) -> Recording: ...
    def save(self) -> Snapshot: ...
    def restore(self, snapshot: Snapshot) -> None: ...
    def set_style(self, style: Mapping[str, float]) -> None: ...
    def set_terrain(self, terrain: Terrain | _Path, *, seed: int = 0) -> None: ...
    def close(self) -> None: ...
    def __enter__(self) -> Generator: ...
    def __exit__(self, *_raised: object) -> None: ...
    @property
    def body_names(self) -> list[str]: ...
    @property
    def joint_names(self) -> list[str]: ...
    @property
    def body_mass(self) -> list[float]: ...
    @property
    def frames(self) -> int: ...
    @property
    def fallen(self) -> bool: ...
    @property
    def root(self) -> tuple[float, float, float]: ...
    @property
    def style(self) -> dict[str, float]: ...
    @property
    def terrain(self) -> Terrain: ...

class VecStep:
    @property
    def positions(self) -> _Floats: ...
    @property
    def quaternions(self) -> _Floats: ...
    @property
    def velocities(self) -> _Floats: ...
    @property
    def contact_impulse(self) -> _Floats: ...
    @property
    def assist_force(self) -> _Floats: ...
    @property
    def assist_torque(self) -> _Floats: ...
    @property
    def joint_torque(self) -> _Floats: ...
    @property
    def target_positions(self) -> _Floats: ...
    @property
    def gait(self) -> _Floats: ...
    @property
    def phase(self) -> _Floats: ...
    @property
    def control(self) -> _Floats: ...
    @property
    def fallen(self) -> NDArray[np.bool_]: ...

class VecGenerator:
    def __new__(
        cls,
        count: int,
        model: Model | _Path | None = None,
        *,
        terrain: Terrain | _Path | None = None,
        config: _Path | None = None,
        settings: _Settings | None = None,
        seed: int = 0,
        start: _Gait = "stand",
        threads: int | None = None,
        style: Mapping[str, float] | None = None,
        support: str | None = None,
    ) -> VecGenerator: ...
    def step(
        self,
        directions: ArrayLike | None = None,
        gaits: _Gait | ArrayLike | None = None,
        pushes: Iterable[tuple[int, _Body, ArrayLike]] | None = None,
        *,
        facing: ArrayLike | None = None,
    ) -> VecStep: ...
    def reset(
        self,
        indices: Sequence[int] | None = None,
        *,
        seeds: Sequence[int] | None = None,
        terrain: Terrain | _Path | None = None,
        start: _Gait = "stand",
    ) -> None: ...
    def set_style(self, style: Mapping[str, float], indices: Sequence[int] | None = None) -> None: ...
    def ground_heights(self, points: ArrayLike) -> _Floats: ...
    def close(self) -> None: ...
    def __enter__(self) -> VecGenerator: ...
    def __exit__(self, *_raised: object) -> None: ...
    @property
    def body_names(self) -> list[str]: ...
    def __len__(self) -> int: ...

class VecTracker:
    action_size: int
    observation_size: int
    frames_per_step: int
    def __new__(
        cls,
        count: int,
        clip: Clip | Recording | _Path | None = None,
        *,
        terrain: Terrain | _Path | None = None,
        action: Literal["rotations", "torques"] = "rotations",
        assist: bool = False,
        balance: bool = False,
        rotation_scale: float = 0.25,
        config: _Path | None = None,
        settings: _Settings | None = None,
        threads: int | None = None,
    ) -> VecTracker: ...
    def reset(self, indices: Sequence[int] | None = None, frames: Sequence[int] | None = None) -> None: ...
    def step(
        self, actions: ArrayLike, rests: Sequence[bool] | None = None
    ) -> tuple[_Floats, NDArray[np.bool_], NDArray[np.bool_]]: ...
    def observe(self) -> _Floats: ...
    def render(self, index: int = 0, *, width: int = 480, height: int = 360) -> NDArray[np.uint8]: ...
    @staticmethod
    def blocks() -> dict[str, int]: ...
    def close(self) -> None: ...
    def __enter__(self) -> VecTracker: ...
    def __exit__(self, *_raised: object) -> None: ...
    @property
    def positions(self) -> _Floats: ...
    @property
    def frames(self) -> int: ...
    @property
    def starts(self) -> int: ...
    @property
    def terrain(self) -> Terrain: ...
    def __len__(self) -> int: ...

class Windows:
    def __new__(
        cls,
        folder: _Path,
        *,
        split: Literal["training", "held_out"] = "training",
        states: Literal["clean", "replayed"] = "clean",
        normalised: bool = False,
        model: Model | _Path | None = None,
        config: _Path | None = None,
        settings: _Settings | None = None,
    ) -> Windows: ...
    def batch(self, indices: Sequence[int]) -> dict[str, _Floats]: ...
    def place(self, index: int) -> tuple[str, int]: ...
    def statistics(self) -> dict[str, _Floats]: ...
    @property
    def blocks(self) -> dict[str, dict[str, slice]]: ...
    @property
    def body_names(self) -> list[str]: ...
    @property
    def data_hash(self) -> str: ...
    def __len__(self) -> int: ...

def load(path: _Path) -> Recording: ...
def read_bvh(
    path: _Path,
    *,
    config: _Path | None = None,
    settings: _Settings | None = None,
    rigs: Sequence[_Path] = ...,
) -> Clip: ...
def preprocess(
    inputs: _Path | Sequence[_Path],
    out: _Path,
    *,
    config: _Path | None = None,
    settings: _Settings | None = None,
    rigs: Sequence[_Path] = ...,
    strict: bool = False,
    rank: int | None = None,
    ranks: int | None = None,
    progress: Callable[[int, int, str, str | None], object] | None = None,
) -> dict[str, Any]: ...
def rank_of(name: str, ranks: int) -> int: ...
def generate_many(
    count: int,
    out: _Path,
    *,
    seconds: float = 10.0,
    control: _Path | None = None,
    terrain: _Path | None = None,
    random: bool | _Path | None = None,
    seed: int = 0,
    pushes: Iterable[str] | None = None,
    model: Model | _Path | None = None,
    support: str | None = None,
    config: _Path | None = None,
    settings: _Settings | None = None,
    stature: float | None = None,
    mass: float | None = None,
    style: Mapping[str, float] | None = None,
    rank: int | None = None,
    ranks: int | None = None,
    threads: int | None = None,
    dry_run: bool = False,
    progress: Callable[[int, int, str, str | None], object] | None = None,
) -> dict[str, Any]: ...
def export(data: _Path, out: _Path, *, format: str = "parquet") -> dict[str, Any]: ...
def fit_terrain(clip: Clip) -> Terrain: ...
def contact_impulses(clip: Clip) -> Recording: ...
def generate(
    seconds: float = 10.0,
    control: _Path | None = None,
    terrain: _Path | None = None,
    *,
    seed: int = 0,
    pushes: Iterable[_TimedPush] | None = None,
    model: Model | _Path | None = None,
    support: str | None = None,
    config: _Path | None = None,
    settings: _Settings | None = None,
    stature: float | None = None,
    mass: float | None = None,
    style: Mapping[str, float] | None = None,
) -> Recording: ...
def evaluate(
    motions: Recording | _Path | Sequence[Recording | _Path],
    *,
    terrain: Terrain | _Path | None = None,
    simulated: bool = False,
    rigs: Sequence[_Path] = ...,
) -> dict[str, Any]: ...
def metrics() -> list[dict[str, str]]: ...
def render(motion: Recording | _Path, path: _Path, *, side_by_side: bool = False) -> None: ...
def retarget(
    motion: Recording | _Path,
    to: _Path,
    out: _Path | None = None,
    *,
    plant_feet: bool = False,
    simulated: bool = False,
    model: _Path | None = None,
    config: _Path | None = None,
    settings: _Settings | None = None,
    rigs: Sequence[_Path] = ...,
) -> dict[str, Any]: ...
def terrain(name: _Path, *, seed: int = 0, reach: float = 0.0) -> Terrain: ...
