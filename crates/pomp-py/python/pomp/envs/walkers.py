"""Environments of one or many characters of a `VecGenerator` that do a task."""

import functools

import gymnasium
import numpy as np
from gymnasium import spaces
from gymnasium.utils import seeding
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

import pomp

from .tasks import KINDS, TASKS

# Frames per step of an environment: ten steps per second.
FRAMES = 6
STEP_S = FRAMES / pomp.FRAME_RATE_HZ
# Points of the ground in the observation, metres ahead and left of the character.
PROBES_M = np.array([(ahead, left) for ahead in (0.0, 0.5, 1.0) for left in (-0.4, 0.0, 0.4)])
FEET = ("LeftFoot", "LeftToe", "RightFoot", "RightToe")
JOINTS = 22
# Number of terrains per preset, one of which is drawn for an episode, and their reach from the start, metres.
GROUNDS = 16
REACH_M = 50.0
# Blocks of an observation in order, with their lengths; docs/python.md describes them.
BLOCKS = {
    "command": 2,
    "joints": 3 * JOINTS,
    "velocities": 3 * JOINTS,
    "ground": len(PROBES_M),
    "gait": len(pomp.GAITS),
    "feet": len(FEET),
    "fallen": 1,
}
# Limit of observations, in metres, metres per second and newton-seconds.
MOST = 100.0
OBSERVATION = spaces.Box(-MOST, MOST, (sum(BLOCKS.values()),), np.float32)
ACTION = spaces.Box(-1.0, 1.0, (3,), np.float32)
WALK, JOG, CROUCH = (pomp.GAITS.index(gait) for gait in ("walk", "jog", "crouch"))


@functools.lru_cache(maxsize=None)
def ground_of(preset, kind):
    """One of the terrains of a preset. They are cached, because making one takes as long as tens of steps."""
    return pomp.terrain(preset, seed=kind, reach=REACH_M)


class Walkers:
    """n characters that do a task, as arrays with a row per character."""

    def __init__(self, task, count, *, terrain=None, model=None, config=None, settings=None, threads=None, support="assist"):
        task = TASKS[task]
        self.count = count
        self.steps = task.steps
        self.task = KINDS[task.name](count)
        # With a preset, each episode draws one of its terrains. A terrain or file stays the same.
        terrain = task.terrain if terrain is None else terrain
        self.preset = terrain if isinstance(terrain, str) and terrain in pomp.TERRAINS else None
        if self.preset is None and not isinstance(terrain, pomp.Terrain):
            terrain = pomp.terrain(terrain)
        self.ground = terrain if self.preset is None else ground_of(self.preset, 0)
        self.task.stay_on(self.ground.bounds)
        self.many = pomp.VecGenerator(
            count,
            model,
            terrain=self.ground,
            config=config,
            settings=settings,
            threads=threads,
            support=support if config is None else None,
        )
        self.feet = [self.many.body_names.index(name) for name in FEET]
        self.rngs = [None] * count
        self.times_s = np.zeros(count)

    def reset(self, indices, rngs):
        """Resets characters to the start, each with its own random numbers. They stand during the next step."""
        for index, rng in zip(indices, rngs):
            self.rngs[index] = rng
        for index, rng in zip(indices, rngs):
            seed, kind = int(rng.integers(2**31)), int(rng.integers(GROUNDS))
            ground = self.ground if self.preset is None else ground_of(self.preset, kind)
            self.many.reset([int(index)], seeds=[seed], terrain=ground)
            self.task.reset(index, rng, np.zeros(2))
        self.times_s[indices] = 0.0

    def step(self, actions, stands):
        """Advances all characters by one step. Characters marked in `stands` stand and have a reward of 0."""
        actions = np.where(stands[:, None], 0.0, np.clip(actions, -1.0, 1.0))
        directions, gaits = self._commands(actions)
        pushes = []
        for index in np.flatnonzero(~stands):
            pushes += self.task.pushes(index, self.rngs[index], self.times_s[index])
        for frame in range(FRAMES):
            step = self.many.step(directions, gaits, pushes if frame == 0 else None)
        self._look(step)
        self.times_s[~stands] += STEP_S
        velocities = self._local(step.velocities[:, 0, [0, 2]])
        rewards = self.task.rewards(self.roots, velocities, self.rngs, ~stands)
        return rewards, step.fallen & ~stands

    def _commands(self, actions):
        lengths = np.maximum(np.linalg.norm(actions[:, :2], axis=1, keepdims=True), 1.0)
        ahead, left = (actions[:, :2] / lengths).T
        yaws = self.yaws if hasattr(self, "yaws") else np.zeros(self.count)
        sin, cos = np.sin(yaws), np.cos(yaws)
        directions = np.stack([ahead * sin + left * cos, ahead * cos - left * sin], axis=1)
        gaits = np.select([actions[:, 2] > 1 / 3, actions[:, 2] < -1 / 3], [JOG, CROUCH], WALK)
        return directions, gaits

    def _look(self, step):
        self.last = step
        self.roots = step.positions[:, 0, [0, 2]].astype(np.float64)
        x, y, z, w = step.quaternions[:, 0].astype(np.float64).T
        # Yaw of the pelvis.
        self.yaws = np.arctan2(2 * (x * z + w * y), 1 - 2 * (x * x + y * y))

    def _local(self, ways):
        """Converts world x and z to ahead and left of each character."""
        sin, cos = np.sin(self.yaws), np.cos(self.yaws)
        x, z = ways[..., 0].T, ways[..., 1].T
        return np.stack([(x * sin + z * cos).T, (x * cos - z * sin).T], axis=-1)

    def observe(self):
        """The observation of each character, of the shape (n, 156)."""
        step, count = self.last, self.count
        ahead, left = PROBES_M.T
        sin, cos = np.sin(self.yaws)[:, None], np.cos(self.yaws)[:, None]
        probes = self.roots[:, None] + np.stack([ahead * sin + left * cos, ahead * cos - left * sin], axis=-1)
        heights = self.many.ground_heights(np.concatenate([self.roots[:, None], probes], axis=1))
        under, around = heights[:, :1], heights[:, 1:]
        joints = step.positions - np.stack([self.roots[:, 0], under[:, 0], self.roots[:, 1]], axis=1)[:, None]

        def turned(vectors):
            flat = self._local(vectors[..., [0, 2]])
            return np.stack([flat[..., 0], flat[..., 1], vectors[..., 1]], axis=-1).reshape(count, -1)

        blocks = [
            self.task.command(self.roots, self._local),
            turned(joints),
            turned(step.velocities),
            around - under,
            step.gait,
            step.contact_impulse[:, self.feet, 1],
            step.fallen[:, None],
        ]
        return np.clip(np.concatenate(blocks, axis=1), -MOST, MOST).astype(np.float32)


class WalkerEnv(gymnasium.Env):
    """One character that does a task.

    Args:
        task: Name of the task, "Pomp/Steer-v0" or "Pomp/Push-v0".
        terrain: A preset, of which every episode draws a terrain, or a `pomp.Terrain` or file, which stays the same; if left out, the
            preset of the task.
        model, config, settings: As in `pomp.Generator`.
        support: What holds the character up where no config says so: "assist" or "own-feet", whose search for corrections is slow.
    """

    metadata = {"render_modes": []}

    def __init__(self, task="Pomp/Steer-v0", *, render_mode=None, **arguments):
        if render_mode is not None:
            raise pomp.InputError(f'render_mode "{render_mode}": the environments draw nothing; leave it out')
        self.render_mode = None
        self.walkers = Walkers(task, 1, threads=1, **arguments)
        self.observation_space = OBSERVATION
        self.action_space = ACTION

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.walkers.reset([0], [self.np_random])
        self.walkers.step(np.zeros((1, 3)), np.array([True]))
        return self.walkers.observe()[0], {}

    def step(self, action):
        actions = np.asarray(action, dtype=np.float64).reshape(1, 3)
        rewards, fallen = self.walkers.step(actions, np.array([False]))
        return self.walkers.observe()[0], float(rewards[0]), bool(fallen[0]), False, {}

    def close(self):
        self.walkers.many.close()


class WalkerVectorEnv(VectorEnv):
    """A vector of characters that do a task, simulated on all cores. Environment i has the seed `seed` + i.

    The step after the end of an episode begins the next episode (`AutoresetMode.NEXT_STEP`).

    Args:
        num_envs: Number of characters.
        threads: Number of threads; if left out, one per core.
        task, terrain, model, config, settings: As in `WalkerEnv`.
        max_episode_steps: Number of steps after which an episode is truncated; if left out, that of the task.
    """

    metadata = {"render_modes": [], "autoreset_mode": AutoresetMode.NEXT_STEP}

    def __init__(self, num_envs=1, task="Pomp/Steer-v0", *, max_episode_steps=None, render_mode=None, **arguments):
        if render_mode is not None:
            raise pomp.InputError(f'render_mode "{render_mode}": the environments draw nothing; leave it out')
        self.render_mode = None
        self.num_envs = num_envs
        self.walkers = Walkers(task, num_envs, **arguments)
        self.most_steps = self.walkers.steps if max_episode_steps is None else max_episode_steps
        self.single_observation_space, self.single_action_space = OBSERVATION, ACTION
        self.observation_space = batch_space(OBSERVATION, num_envs)
        self.action_space = batch_space(ACTION, num_envs)
        self.begins = np.ones(num_envs, dtype=bool)
        self.done_steps = np.zeros(num_envs, dtype=np.int64)
        self.own_rngs = [None] * num_envs

    def reset(self, *, seed=None, options=None):
        if seed is None and self.own_rngs[0] is None:
            seeds = [None] * self.num_envs
        elif seed is None:
            seeds = []
        else:
            seeds = [seed + index for index in range(self.num_envs)] if isinstance(seed, int) else list(seed)
            if len(seeds) != self.num_envs:
                raise pomp.InputError(f"seed: {len(seeds)} seeds for {self.num_envs} environments; give one for each")
        for index, own in enumerate(seeds):
            self.own_rngs[index] = seeding.np_random(own)[0]
        everyone = np.arange(self.num_envs)
        self.walkers.reset(everyone, self.own_rngs)
        self.walkers.step(np.zeros((self.num_envs, 3)), np.ones(self.num_envs, dtype=bool))
        self.begins[:] = False
        self.done_steps[:] = 0
        return self.walkers.observe(), {}

    def step(self, actions):
        actions = np.asarray(actions, dtype=np.float64).reshape(self.num_envs, 3)
        begins = np.flatnonzero(self.begins)
        if begins.size:
            self.walkers.reset(begins, [self.own_rngs[index] for index in begins])
        rewards, terminated = self.walkers.step(actions, self.begins)
        self.done_steps = np.where(self.begins, 0, self.done_steps + 1)
        truncated = (self.done_steps >= self.most_steps) & ~terminated
        self.begins = terminated | truncated
        return self.walkers.observe(), rewards, terminated, truncated, {}

    def close_extras(self, **_arguments):
        self.walkers.many.close()
