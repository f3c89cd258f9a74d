"""Gymnasium environments: `Pomp/Track-v0`, `Pomp/Steer-v0` and `Pomp/Push-v0`.

They need the package gymnasium, 1.0 or newer (`pip install "pomp-motion[gym]"`).

>>> import gymnasium
>>> import pomp.envs
>>> environment = gymnasium.make("Pomp/Steer-v0")
>>> observation, _ = environment.reset(seed=1)
>>> observation.shape
(156,)

`gymnasium.make_vec("Pomp/Steer-v0", num_envs=64, vectorization_mode="vector_entry_point")` simulates 64 characters on all cores. The
same seed gives the same episode, in a single environment or in a vector. docs/python.md describes observations, actions and rewards.
"""

import gymnasium

from .tasks import PUSH, STEER, Task
from .trackers import STEPS, TRACK, TrackEnv, TrackVectorEnv
from .walkers import WalkerEnv, WalkerVectorEnv

__all__ = [
    "PUSH",
    "STEER",
    "TRACK",
    "Task",
    "TrackEnv",
    "TrackVectorEnv",
    "WalkerEnv",
    "WalkerVectorEnv",
    "register",
]


def register():
    """Registers the environments in gymnasium. `import pomp.envs` calls it."""
    for task in (STEER, PUSH):
        if task.name not in gymnasium.registry:
            gymnasium.register(
                task.name,
                entry_point="pomp.envs:WalkerEnv",
                vector_entry_point="pomp.envs:WalkerVectorEnv",
                max_episode_steps=task.steps,
                kwargs={"task": task.name},
            )
    if TRACK not in gymnasium.registry:
        gymnasium.register(
            TRACK,
            entry_point="pomp.envs:TrackEnv",
            vector_entry_point="pomp.envs:TrackVectorEnv",
            max_episode_steps=STEPS,
        )


register()
