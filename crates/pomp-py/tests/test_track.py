"""Pomp/Track-v0 and the ragdolls behind it."""

import warnings

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import AutoresetMode

import pomp
import pomp.envs
from pomp.envs.trackers import ACTION, BLOCKS, OBSERVATION

NAME = "Pomp/Track-v0"
ZERO = np.zeros(ACTION.shape, dtype=np.float32)


def episode(environment, policy, steps=200, **arguments):
    observation, _ = environment.reset(**arguments)
    observations, rewards = [observation], []
    for step in range(steps):
        observation, reward, terminated, truncated, _ = environment.step(policy(step))
        observations.append(observation)
        rewards.append(reward)
        if terminated or truncated:
            break
    return np.stack(observations), np.array(rewards), terminated


def noise(seed, size=0.3):
    rng = np.random.default_rng(seed)
    actions = rng.uniform(-size, size, (200, *ACTION.shape)).astype(np.float32)
    return lambda step: actions[step]


@pytest.mark.parametrize("action", ["rotations", "torques"])
def test_the_checker_of_gymnasium_finds_nothing(action):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(gymnasium.make(NAME, action=action, render_mode="rgb_array").unwrapped)


@pytest.mark.parametrize("action", ["rotations", "torques"])
def test_the_same_seed_gives_the_same_episode_and_another_one_another(action):
    runs = [episode(gymnasium.make(NAME, action=action), noise(5), seed=seed) for seed in (3, 3, 4)]
    assert runs[0][0].tobytes() == runs[1][0].tobytes() and runs[0][1].tobytes() == runs[1][1].tobytes()
    assert runs[0][0][0].tobytes() != runs[2][0][0].tobytes()


def test_an_environment_among_others_does_what_it_does_alone():
    vector = gymnasium.make_vec(NAME, num_envs=3, vectorization_mode="vector_entry_point", max_episode_steps=20)
    alone = [gymnasium.make(NAME, max_episode_steps=20) for _ in range(3)]
    observations, _ = vector.reset(seed=20)
    for index, environment in enumerate(alone):
        assert environment.reset(seed=20 + index)[0].tobytes() == observations[index].tobytes()
    over, ended = np.zeros(3, dtype=bool), 0
    for step in range(50):
        actions = np.stack([noise(index)(step) for index in range(3)])
        observations, rewards, terminated, truncated, _ = vector.step(actions)
        for index, environment in enumerate(alone):
            if over[index]:
                own, reward, fell, cut = environment.reset()[0], 0.0, False, False
            else:
                own, reward, fell, cut, _ = environment.step(actions[index])
            assert own.tobytes() == observations[index].tobytes(), (step, index)
            assert (rewards[index], terminated[index], truncated[index]) == (reward, fell, cut), (step, index)
        over = terminated | truncated
        ended += over.sum()
    assert ended >= 3, "no episode ended"


def test_the_same_step_mode_tells_the_last_observation_of_an_episode():
    arguments = {"num_envs": 2, "max_episode_steps": 5}
    same = pomp.envs.TrackVectorEnv(autoreset_mode=AutoresetMode.SAME_STEP, **arguments)
    after = pomp.envs.TrackVectorEnv(**arguments)
    same.reset(seed=1), after.reset(seed=1)
    actions = np.zeros((2, *ACTION.shape), dtype=np.float32)
    for _ in range(5):
        first, _, _, cut, info = same.step(actions)
        last, *_ = after.step(actions)
    assert cut.all() and info["_final_obs"].all()
    assert np.stack(list(info["final_obs"])).tobytes() == last.tobytes()
    begun, *_ = after.step(actions)
    assert first.tobytes() == begun.tobytes() and first.tobytes() != last.tobytes()


def test_the_number_of_threads_changes_no_byte():
    actions = np.random.default_rng(0).uniform(-1, 1, (10, 5, *ACTION.shape)).astype(np.float32)
    seen = []
    for threads in (1, 3):
        with pomp.VecTracker(5, threads=threads) as many:
            rewards = [many.step(action)[0].tobytes() for action in actions]
            seen.append((rewards, many.observe().tobytes()))
    assert seen[0] == seen[1]


def test_a_body_on_the_clip_sees_that_it_is_there():
    environment = gymnasium.make(NAME).unwrapped
    observation, info = environment.reset(options={"frame": 30})
    assert info == {"frame": 30} and OBSERVATION.contains(observation)
    at = np.cumsum([0, *BLOCKS.values()])
    blocks = {name: observation[begin:end] for name, begin, end in zip(BLOCKS, at, at[1:])}
    assert at[-1] == observation.size
    joints = blocks["joints"].reshape(-1, 3)
    # The pelvis is at the origin of its frame, near a metre above the ground; the head is above it.
    assert np.abs(joints[0, [0, 2]]).max() < 1e-5 and 0.8 < joints[0, 1] < 1.1 and joints[13, 1] > 1.4
    assert blocks["velocities"][2] > 1.0, "it walks ahead"
    steps = blocks["clip"].reshape(2, 2, -1, 3)
    # In a thirtieth of a second and in a quarter of one, at 1.3 m/s.
    assert 0.02 < steps[0, 0, 0, 2] < 0.07 and 0.25 < steps[1, 0, 0, 2] < 0.45
    assert blocks["phase"][0] == pytest.approx(30 / 240, abs=0.01)


def test_assist_and_balance_hold_the_body_up_longer_than_nothing():
    def seconds(**arguments):
        _, rewards, fell = episode(gymnasium.make(NAME, **arguments), lambda _: ZERO, options={"frame": 0})
        return len(rewards) / 30, rewards.sum(), fell

    slippery = {"dynamic.friction": 0.3}
    limp, plain = seconds(action="torques"), seconds()
    helped, balanced = seconds(assist=True, settings=slippery), seconds(balance=True)
    print(f"seconds, return, fell: torques {limp}, plain {plain}, assist {helped}, balance {balanced}")
    assert limp[2] and limp[0] < 1.0
    assert plain[2] and plain[1] > 2 * limp[1]
    for held in (helped, balanced):
        assert held[0] > 3.8 and not held[2] and held[1] > 3 * plain[1]


def test_a_torque_turns_its_joint_the_way_it_points():
    # Both elbows; all else is limp, and falls alike.
    found = []
    for sign in (-1.0, 1.0):
        with pomp.VecTracker(1, action="torques") as many:
            names = pomp.Generator().joint_names
            joint = names.index("LeftForeArm")
            action = np.zeros((1, *ACTION.shape), dtype=np.float32)
            action[0, 3 * (joint - 1) + 1] = 0.2 * sign
            for _ in range(3):
                many.step(action)
            at = many.observe()[0]
            begin = BLOCKS["joints"] + BLOCKS["rotations"] + BLOCKS["velocities"]
            found.append(at[begin : begin + BLOCKS["rates"]].reshape(-1, 3)[joint, 1])
    assert found[1] > found[0] + 1.0, found


def test_a_clip_of_ones_own_is_tracked_on_its_ground(bvh, walk):
    clip = pomp.read_bvh(bvh)
    for given in (clip, str(bvh), walk):
        environment = gymnasium.make(NAME, clip=given, assist=True)
        observations, rewards, _ = episode(environment, lambda _: ZERO, steps=15, options={"frame": 0})
        assert rewards.min() > 0.5, (given, rewards)
    with pomp.VecTracker(1, walk) as many:
        assert many.terrain.heights.max() > many.terrain.heights.min(), "the recording's hills"
    with pomp.VecTracker(1, walk, terrain="flat") as many:
        assert many.terrain.heights.max() == many.terrain.heights.min()


def test_a_picture_shows_the_body():
    environment = gymnasium.make(NAME, render_mode="rgb_array")
    environment.reset(seed=1)
    before = environment.render()
    for _ in range(10):
        environment.step(ZERO)
    after = environment.render()
    assert before.shape == (360, 480, 3) and before.dtype == np.uint8 and before.std() > 10
    assert (before != after).mean() > 0.01
    assert gymnasium.make(NAME).unwrapped.render() is None


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ({"action": "wings"}, "rotations"),
        ({"assist": True, "balance": True}, "give one"),
        ({"rotation_scale": 0.0}, "rotation_scale"),
        ({"rotation_scale": float("nan")}, "rotation_scale"),
        ({"count": 0}, "count"),
        ({"threads": 0}, "threads"),
        ({"clip": "nothing.bvh"}, "nothing.bvh"),
        ({"settings": {"dynamic.mass_kg": -1}}, "mass_kg"),
    ],
)
def test_rejects_odd_arguments(arguments, told):
    with pytest.raises((ValueError, OSError), match=told):
        pomp.VecTracker(**{"count": 1, **arguments})


def test_odd_actions_frames_and_modes_are_refused_or_clipped():
    environment = gymnasium.make(NAME).unwrapped
    environment.reset(seed=0)
    far = [gymnasium.make(NAME).unwrapped for _ in range(2)]
    for one, size in zip(far, (1.0, 50.0)):
        one.reset(options={"frame": 0})
        one.step(ZERO + size)
    assert far[0].many.observe().tobytes() == far[1].many.observe().tobytes(), "clipped to 1"
    for odd in [np.full(ACTION.shape, np.nan), np.full(ACTION.shape, np.inf), np.zeros(3), "ahead", None]:
        with pytest.raises((ValueError, TypeError)):
            environment.step(odd)
    for frame in (-1, 10**6, 1.5, "first"):
        with pytest.raises(pomp.InputError, match="frame"):
            environment.reset(options={"frame": frame})
    with pytest.raises(pomp.InputError, match="no step is left"):
        environment.many.reset([0], [10**6])
    with pytest.raises(pomp.InputError, match="no ragdoll 1"):
        environment.many.reset([1])
    with pytest.raises(pomp.InputError, match="seeds for 2"):
        pomp.envs.TrackVectorEnv(2).reset(seed=[1, 2, 3])
    with pytest.raises(pomp.InputError, match="autoreset_mode"):
        pomp.envs.TrackVectorEnv(2, autoreset_mode=AutoresetMode.DISABLED)
    with pytest.raises(pomp.InputError, match="render_mode"):
        pomp.envs.TrackEnv(render_mode="human")
    environment.close()
    with pytest.raises(pomp.Error, match="the tracker is closed"):
        environment.step(ZERO)


def test_after_the_clip_an_episode_is_cut_off():
    environment = gymnasium.make(NAME, assist=True).unwrapped
    environment.reset(options={"frame": environment.starts.most})
    _, _, terminated, truncated, _ = environment.step(ZERO)
    assert truncated and not terminated
