"""Trains a policy that tracks a walk, with PPO of stable-baselines3, on one core.

    pip install "pomp-motion[gym]" stable-baselines3 matplotlib
    python crates/pomp-py/examples/track_ppo.py train --out out/track_ppo --minutes 25
    python crates/pomp-py/examples/track_ppo.py evaluate --out out/track_ppo

The ragdoll tracks four seconds of a synthetic walk without external root assist and without balance control: on the plain PD target it
falls. The policy adds a rotation to each joint's target. `train` writes checkpoints and the curve (curve.csv); `evaluate` compares the
policy with zero torques and with the plain PD target on episodes whose seeds have not been trained on, and writes evaluation.json and
curve.png.
"""

import argparse
import csv
import json
import pathlib
import pickle
import time

import numpy as np
import torch
from gymnasium.vector import AutoresetMode
from stable_baselines3 import PPO
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.vec_env import VecEnv, VecMonitor, VecNormalize

from pomp.envs import TrackVectorEnv

# Training draws from the seeds below, evaluation from those from here on.
EVALUATION_SEED = 1_000_000


class Ragdolls(VecEnv):
    """The vector environment as stable-baselines3 wants one."""

    def __init__(self, count, seed, **arguments):
        self.envs = TrackVectorEnv(count, autoreset_mode=AutoresetMode.SAME_STEP, **arguments)
        super().__init__(count, self.envs.single_observation_space, self.envs.single_action_space)
        self.first_seed = seed

    def reset(self):
        observations, _ = self.envs.reset(seed=self.first_seed)
        self.first_seed = None
        return observations

    def step_async(self, actions):
        self.actions = actions

    def step_wait(self):
        observations, rewards, terminated, truncated, info = self.envs.step(self.actions)
        infos = [{} for _ in range(self.num_envs)]
        for index in np.flatnonzero(terminated | truncated):
            infos[index]["terminal_observation"] = info["final_obs"][index]
            infos[index]["TimeLimit.truncated"] = bool(truncated[index])
        return observations, rewards.astype(np.float32), terminated | truncated, infos

    def close(self):
        self.envs.close()

    def get_attr(self, attr_name, indices=None):
        return [getattr(self.envs, attr_name, None)] * self.num_envs

    def set_attr(self, attr_name, value, indices=None):
        raise AttributeError(f"{attr_name} cannot be set")

    def env_method(self, method_name, *method_args, indices=None, **method_kwargs):
        raise AttributeError(f"there is no method {method_name}")

    def env_is_wrapped(self, wrapper_class, indices=None):
        return [False] * self.num_envs


class Curve(BaseCallback):
    """Writes a row per rollout, a checkpoint every minute, and ends after so many minutes of processor time."""

    def __init__(self, out, minutes, checkpoint_s=60.0):
        super().__init__()
        self.out, self.seconds, self.every_s = out, 60 * minutes, checkpoint_s

    def _on_training_start(self):
        self.begun, self.saved = time.process_time(), time.monotonic()
        with open(self.out / "curve.csv", "w", newline="") as file:
            csv.writer(file).writerow(["steps", "cpu_minutes", "episode_return", "episode_steps"])

    def _on_step(self):
        return time.process_time() - self.begun < self.seconds

    def _on_rollout_end(self):
        episodes = self.model.ep_info_buffer
        if not episodes:
            return
        row = [self.num_timesteps, f"{(time.process_time() - self.begun) / 60:.2f}"]
        row += [f"{np.mean([episode[key] for episode in episodes]):.3f}" for key in ("r", "l")]
        with open(self.out / "curve.csv", "a", newline="") as file:
            csv.writer(file).writerow(row)
        print(*row, flush=True)
        if time.monotonic() - self.saved > self.every_s:
            self.saved = time.monotonic()
            save(self.model, self.out)


def save(model, out):
    model.save(out / "policy.zip")
    model.get_vec_normalize_env().save(str(out / "normalisation.pkl"))


def train(out, minutes, count, seed):
    out.mkdir(parents=True, exist_ok=True)
    torch.set_num_threads(1)
    envs = VecNormalize(VecMonitor(Ragdolls(count, seed, threads=1)), norm_reward=False, clip_obs=5.0)
    model = PPO(
        "MlpPolicy",
        envs,
        n_steps=4096 // count,
        batch_size=1024,
        n_epochs=5,
        learning_rate=3e-4,
        gamma=0.95,
        gae_lambda=0.95,
        clip_range=0.2,
        max_grad_norm=0.5,
        target_kl=0.03,
        policy_kwargs={"log_std_init": -2.0, "net_arch": [256, 128], "activation_fn": torch.nn.ReLU},
        seed=seed,
        device="cpu",
    )
    model.learn(total_timesteps=10**9, callback=Curve(out, minutes))
    save(model, out)
    envs.close()


def episodes(count, act, **arguments):
    """Returns and lengths of one episode for each seed."""
    envs = TrackVectorEnv(count, **arguments)
    observations, _ = envs.reset(seed=EVALUATION_SEED)
    returns, lengths, alive = np.zeros(count), np.zeros(count), np.ones(count, dtype=bool)
    fell = np.zeros(count, dtype=bool)
    while alive.any():
        observations, rewards, terminated, truncated, _ = envs.step(act(observations))
        returns += rewards * alive
        lengths += alive
        fell |= terminated & alive
        alive &= ~(terminated | truncated)
    envs.close()
    return returns, lengths * envs.starts.step_s, fell


def interval(values):
    """Mean, and half of the interval that holds it with 95 %."""
    return {"mean": float(np.mean(values)), "plus_minus": float(1.96 * np.std(values, ddof=1) / len(values) ** 0.5)}


def evaluate(out, count):
    torch.set_num_threads(1)
    model = PPO.load(out / "policy.zip", device="cpu")
    with open(out / "normalisation.pkl", "rb") as file:
        normalisation = pickle.load(file)
    zeros = np.zeros((count, model.action_space.shape[0]), dtype=np.float32)

    def policy(observations):
        return model.predict(normalisation.normalize_obs(observations), deterministic=True)[0]

    ways = {
        "zero torque": (lambda _: zeros, {"action": "torques"}),
        "plain PD target": (lambda _: zeros, {}),
        "policy": (policy, {}),
    }
    told = {"episodes": count, "first_seed": EVALUATION_SEED}
    for start, random_start in (("random frame", True), ("first frame", False)):
        for name, (act, arguments) in ways.items():
            returns, seconds, fell = episodes(count, act, random_start=random_start, **arguments)
            row = {"return": interval(returns), "seconds": interval(seconds), "fell": int(fell.sum())}
            told.setdefault(start, {})[name] = row
            print(f"{start}, {name}: {row}", flush=True)
    (out / "evaluation.json").write_text(json.dumps(told, indent=1) + "\n")
    plot(out, told)


def plot(out, told):
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    with open(out / "curve.csv") as file:
        rows = list(csv.DictReader(file))
    figure, axes = plt.subplots(figsize=(7, 4), layout="constrained")
    axes.plot([float(row["steps"]) / 1e6 for row in rows], [float(row["episode_return"]) for row in rows], label="training, last 100 episodes, with noise")
    for (name, row), style in zip(told["random frame"].items(), (":", "--", "-.")):
        axes.axhline(row["return"]["mean"], color="0.3", linestyle=style, linewidth=1, label=f"evaluation: {name}")
    axes.set(xlabel="steps, millions", ylabel="return of an episode", ylim=(0, None))
    figure.legend(loc="outside upper center", ncols=2)
    figure.savefig(out / "curve.png", dpi=110)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("what", choices=["train", "evaluate"])
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("out/track_ppo"))
    parser.add_argument("--minutes", type=float, default=25.0, help="of processor time; all is on one core")
    parser.add_argument("--count", type=int, help="ragdolls; 32 in training, 200 in evaluation")
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    if given.what == "train":
        train(given.out, given.minutes, given.count or 32, given.seed)
    else:
        evaluate(given.out, given.count or 200)


if __name__ == "__main__":
    main()
