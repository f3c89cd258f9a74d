"""The Gymnasium environments."""

import warnings

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

import pomp
import pomp.envs

NAMES = ["Pomp/Steer-v0", "Pomp/Push-v0"]


def episode(environment, seed, policy, steps=40):
    observation, _ = environment.reset(seed=seed)
    observations, rewards = [observation], []
    for _ in range(steps):
        observation, reward, terminated, truncated, _ = environment.step(policy(observation))
        observations.append(observation)
        rewards.append(reward)
        if terminated or truncated:
            break
    return np.stack(observations), np.array(rewards)


def towards(observation):
    """Goes where the command says."""
    ahead, left = observation[..., 0], observation[..., 1]
    far = np.maximum(np.hypot(ahead, left), 1e-6)
    return np.stack([ahead / far, left / far, np.zeros_like(far)], axis=-1)


@pytest.mark.parametrize("name", NAMES)
def test_the_checker_of_gymnasium_finds_nothing(name):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(gymnasium.make(name).unwrapped, skip_render_check=True)


@pytest.mark.parametrize("name", NAMES)
def test_the_same_seed_gives_the_same_episode_and_another_one_another(name):
    runs = [episode(gymnasium.make(name), seed, towards, 12) for seed in (3, 3, 4)]
    assert runs[0][0].tobytes() == runs[1][0].tobytes() and runs[0][1].tobytes() == runs[1][1].tobytes()
    assert runs[0][0].tobytes() != runs[2][0].tobytes()


@pytest.mark.parametrize("name", NAMES)
def test_an_environment_among_others_does_what_it_does_alone(name):
    vector = gymnasium.make_vec(name, num_envs=3, vectorization_mode="vector_entry_point", max_episode_steps=8)
    alone = [gymnasium.make(name, max_episode_steps=8) for _ in range(3)]
    observations, _ = vector.reset(seed=20)
    for index, environment in enumerate(alone):
        assert environment.reset(seed=20 + index)[0].tobytes() == observations[index].tobytes()
    assert vector.observation_space.contains(observations)
    over = np.zeros(3, dtype=bool)
    # Beyond the end of an episode, where the next one begins by itself.
    for step in range(20):
        actions = towards(observations)
        observations, rewards, terminated, truncated, _ = vector.step(actions)
        for index, environment in enumerate(alone):
            if over[index]:
                own, reward, ended, cut = environment.reset()[0], 0.0, False, False
            else:
                own, reward, ended, cut, _ = environment.step(actions[index])
            assert own.tobytes() == observations[index].tobytes(), (step, index)
            assert (rewards[index], terminated[index], truncated[index]) == (reward, ended, cut), (step, index)
        over = terminated | truncated
    assert step == 19 and vector.metadata["autoreset_mode"] == gymnasium.vector.AutoresetMode.NEXT_STEP


def test_going_to_the_goal_is_worth_more_than_standing():
    environment = gymnasium.make("Pomp/Steer-v0", terrain="flat")
    gone = episode(environment, 1, towards, 60)[1].sum()
    stood = episode(environment, 1, lambda _: np.zeros(3), 60)[1].sum()
    print(f"gone {gone:.2f}, stood {stood:.2f}")
    assert gone > stood + 1.5 and abs(stood) < 0.5


def test_pushes_come_and_a_fall_ends_the_episode():
    environment = gymnasium.make("Pomp/Push-v0").unwrapped
    observations, _ = episode(environment, 2, lambda _: np.zeros(3), 45)
    start = pomp.envs.walkers.BLOCKS["command"] + pomp.envs.walkers.BLOCKS["joints"]
    pelvis = np.hypot(observations[:, start], observations[:, start + 1])
    assert pelvis.max() > 4 * pelvis[:15].max() > 0.0, pelvis
    walkers = environment.walkers
    for _ in range(12):
        for _ in range(3):
            walkers.many.step(pushes=[(0, "Spine2", (400, 0, 0))])
        _, reward, terminated, _, _ = environment.step(np.zeros(3))
        if terminated:
            break
    assert terminated


def test_odd_actions_are_refused_or_clipped():
    environment = gymnasium.make("Pomp/Steer-v0", terrain="flat").unwrapped
    environment.reset(seed=0)
    environment.step(np.array([9.0, -9.0, 5.0]))
    for odd in [np.full(3, np.nan), np.zeros(2), "ahead", None]:
        with pytest.raises((ValueError, TypeError)):
            environment.step(odd)
    environment.close()
    with pytest.raises(pomp.Error, match="closed"):
        environment.step(np.zeros(3))
    with pytest.raises(pomp.InputError, match="render_mode"):
        pomp.envs.WalkerEnv(render_mode="human")
