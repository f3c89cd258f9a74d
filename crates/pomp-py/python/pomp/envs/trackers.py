"""`Pomp/Track-v0`: one or many ragdolls of a `VecTracker` that track a clip."""

import gymnasium
import numpy as np
from gymnasium import spaces
from gymnasium.utils import seeding
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

import pomp

TRACK = "Pomp/Track-v0"
# Most steps of an episode; most clips end earlier.
STEPS = 300
# Shortest time from the beginning of an episode to the end of the clip, if the clip is long enough, seconds.
LEAST_S = 1.0
# Blocks of an observation in order, with their lengths; docs/python.md describes them.
BLOCKS = pomp.VecTracker.blocks()
OBSERVATION = spaces.Box(-100.0, 100.0, (pomp.VecTracker.observation_size,), np.float32)
ACTION = spaces.Box(-1.0, 1.0, (pomp.VecTracker.action_size,), np.float32)
PICTURES = ("rgb_array",)


def check_render_mode(render_mode):
    if render_mode is not None and render_mode not in PICTURES:
        raise pomp.InputError(f'render_mode "{render_mode}": give "rgb_array", or leave it out')


class Starts:
    """Draws the frame of the clip at which an episode begins."""

    def __init__(self, many, random_start):
        step = pomp.VecTracker.frames_per_step
        last = many.frames - 1 - round(LEAST_S * pomp.FRAME_RATE_HZ)
        self.among = max(min(last + 1, many.starts), 1) if random_start else 1
        self.most = many.starts - 1
        self.step_s = step / pomp.FRAME_RATE_HZ

    def draw(self, rng, options):
        if options is None or "frame" not in options:
            return int(rng.integers(self.among))
        frame = options["frame"]
        if not isinstance(frame, (int, np.integer)) or not 0 <= frame <= self.most:
            raise pomp.InputError(f"options: frame = {frame!r}: give a frame of the clip from 0 to {self.most}")
        return int(frame)


class TrackEnv(gymnasium.Env):
    """A ragdoll that tracks a clip.

    Args:
        random_start: Whether an episode begins at a frame drawn by the seed; otherwise at the first frame.
        clip, terrain, action, assist, balance, rotation_scale, config, settings: As in `pomp.VecTracker`.

    `reset(options={"frame": 30})` begins at that frame.
    """

    metadata = {"render_modes": list(PICTURES), "render_fps": 30}

    def __init__(self, *, render_mode=None, random_start=True, **arguments):
        check_render_mode(render_mode)
        self.render_mode = render_mode
        self.many = pomp.VecTracker(1, threads=1, **arguments)
        self.starts = Starts(self.many, random_start)
        self.observation_space = OBSERVATION
        self.action_space = ACTION

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        frame = self.starts.draw(self.np_random, options)
        self.many.reset([0], [frame])
        return self.many.observe()[0], {"frame": frame}

    def step(self, action):
        actions = np.asarray(action, dtype=np.float32).reshape(1, ACTION.shape[0])
        rewards, fallen, ended = self.many.step(actions)
        cut = bool(ended[0] and not fallen[0])
        return self.many.observe()[0], float(rewards[0]), bool(fallen[0]), cut, {}

    def render(self):
        return self.many.render(0) if self.render_mode == "rgb_array" else None

    def close(self):
        self.many.close()


class TrackVectorEnv(VectorEnv):
    """A vector of ragdolls that track a clip, simulated on all cores. Environment i has the seed `seed` + i.

    Args:
        num_envs: Number of ragdolls.
        threads: Number of threads; if left out, one per core.
        max_episode_steps: Number of steps after which an episode is truncated; if left out, 300.
        autoreset_mode: With `AutoresetMode.NEXT_STEP`, the step after the end of an episode begins the next episode. With
            `AutoresetMode.SAME_STEP`, the step that ends an episode begins the next one, and `info["final_obs"]` contains the last
            observation.
        random_start, clip, terrain, action, assist, balance, rotation_scale, config, settings: As in `TrackEnv`.
    """

    metadata = {"render_modes": list(PICTURES), "render_fps": 30, "autoreset_mode": AutoresetMode.NEXT_STEP}
    # Gymnasium closes an environment when it is freed, even if its constructor has failed.
    many = None

    def __init__(
        self,
        num_envs=1,
        *,
        max_episode_steps=None,
        render_mode=None,
        random_start=True,
        autoreset_mode=AutoresetMode.NEXT_STEP,
        **arguments,
    ):
        check_render_mode(render_mode)
        self.mode = AutoresetMode(autoreset_mode)
        if self.mode is AutoresetMode.DISABLED:
            raise pomp.InputError("autoreset_mode: give AutoresetMode.NEXT_STEP or AutoresetMode.SAME_STEP")
        self.metadata = {**self.metadata, "autoreset_mode": self.mode}
        self.render_mode = render_mode
        self.num_envs = num_envs
        self.many = pomp.VecTracker(num_envs, **arguments)
        self.starts = Starts(self.many, random_start)
        self.most_steps = STEPS if max_episode_steps is None else max_episode_steps
        self.single_observation_space, self.single_action_space = OBSERVATION, ACTION
        self.observation_space = batch_space(OBSERVATION, num_envs)
        self.action_space = batch_space(ACTION, num_envs)
        self.begins = np.ones(num_envs, dtype=bool)
        self.done_steps = np.zeros(num_envs, dtype=np.int64)
        self.own_rngs = [None] * num_envs

    def reset(self, *, seed=None, options=None):
        if seed is not None or self.own_rngs[0] is None:
            if seed is None or isinstance(seed, (int, np.integer)):
                seeds = [None if seed is None else int(seed) + index for index in range(self.num_envs)]
            else:
                seeds = list(seed)
            if len(seeds) != self.num_envs:
                raise pomp.InputError(f"seed: {len(seeds)} seeds for {self.num_envs} environments; give one for each")
            self.own_rngs = [seeding.np_random(own)[0] for own in seeds]
        self._begin(np.arange(self.num_envs), options)
        self.begins[:] = False
        return self.many.observe(), {}

    def _begin(self, indices, options=None):
        frames = [self.starts.draw(self.own_rngs[index], options) for index in indices]
        self.many.reset([int(index) for index in indices], frames)
        self.done_steps[indices] = 0

    def step(self, actions):
        actions = np.asarray(actions, dtype=np.float32).reshape(self.num_envs, ACTION.shape[0])
        rests = self.begins
        if rests.any():
            self._begin(np.flatnonzero(rests))
        rewards, terminated, ended = self.many.step(actions, rests.tolist())
        self.done_steps += ~rests
        truncated = (ended | (self.done_steps >= self.most_steps)) & ~terminated & ~rests
        over = terminated | truncated
        observations, info = self.many.observe(), {}
        if self.mode is AutoresetMode.NEXT_STEP:
            self.begins = over
        elif over.any():
            final = np.full(self.num_envs, None, dtype=object)
            for index in np.flatnonzero(over):
                final[index] = observations[index]
            info = {"final_obs": final, "_final_obs": over}
            self._begin(np.flatnonzero(over))
            observations = self.many.observe()
        return observations, rewards.astype(np.float64), terminated, truncated, info

    def render(self):
        if self.render_mode != "rgb_array":
            return None
        return tuple(self.many.render(index) for index in range(self.num_envs))

    def close_extras(self, **_arguments):
        if self.many is not None:
            self.many.close()
