"""Steps per second of the vector environment beside MuJoCo's Humanoid with as many degrees of freedom, in one run.

    cargo run --release -p pomp-physics --example mjcf > out/humanoid69.xml
    pip install "gymnasium[mujoco]" "mujoco>=3.3"
    python crates/pomp-py/benches/track_throughput.py out/humanoid69.xml [environments] [threads] [seconds] [turns]

Ours is Pomp/Track-v0 as a vector environment. The peers: gymnasium's Humanoid-v5 with the model that `mjcf` prints in place of its own
(69 degrees of freedom, 6 of them the root's, 63 actuators), as an AsyncVectorEnv with a process per thread; the same without observation and
reward, by `mujoco.rollout` with as many threads; and Humanoid-v5 as it comes (23 degrees of freedom). Each environment step is a
thirtieth of a second of motion. Ours takes one step of the simulator a frame; MuJoCo's gains need a step of about a millisecond, and it
is also measured at our sixtieth, at which its states have to be reset. They are measured in turns, for that other work on the
machine slows all; beside steps per second stands the processor time of a step, of all threads and processes, which it slows less. Linux
alone tells that of other processes.
"""

import multiprocessing
import os
import statistics
import sys
import tempfile
import time

import gymnasium
import mujoco
import mujoco.rollout
import numpy as np
from gymnasium.vector import AsyncVectorEnv

from pomp.envs import TrackVectorEnv

STEP_S = 1 / 30


def processor_s():
    """Processor time of this process and of its children, seconds."""
    ticks = 0
    for child in multiprocessing.active_children():
        with open(f"/proc/{child.pid}/stat") as file:
            ticks += sum(int(word) for word in file.read().rsplit(")", 1)[1].split()[11:13])
    return time.process_time() + ticks / os.sysconf("SC_CLK_TCK")


class Clock:
    """Steps, wall time and processor time of a loop of so many seconds."""

    def __init__(self, seconds):
        self.seconds = seconds
        self.begun, self.spent = time.perf_counter(), processor_s()

    def goes_on(self):
        return time.perf_counter() - self.begun < self.seconds

    def rates(self, steps):
        """Steps per second of wall time, and microseconds of processor time per step."""
        wall, spent = time.perf_counter() - self.begun, processor_s() - self.spent
        return steps / wall, 1e6 * spent / steps


def rate_of_vector(make, seconds):
    envs = make()
    envs.reset(seed=1)
    rng = np.random.default_rng(1)
    shape = envs.action_space.shape
    actions = [rng.uniform(-0.1, 0.1, shape).astype(np.float32) for _ in range(16)]
    for action in actions[:3]:
        envs.step(action)
    clock, steps = Clock(seconds), 0
    while clock.goes_on():
        envs.step(actions[steps % len(actions)])
        steps += 1
    rates = clock.rates(steps * envs.num_envs)
    envs.close()
    return rates


def humanoid(path, timestep):
    """Gymnasium's Humanoid with the model of `path`, at this step of its simulator."""
    skip = round(STEP_S / timestep)
    return gymnasium.make("Humanoid-v5", xml_file=path, healthy_z_range=(0.5, 3.0), frame_skip=skip)


def with_timestep(path, timestep, folder):
    model = mujoco.MjSpec.from_file(path)
    model.option.timestep = timestep
    told = os.path.join(folder, f"humanoid_{round(timestep * 1e6)}.xml")
    for actuator in model.actuators:
        actuator.ctrllimited, actuator.ctrlrange = True, [-1.0, 1.0]
    model.compile()
    with open(told, "w") as file:
        file.write(model.to_xml())
    return told


def rate_of_rollout(path, count, threads, seconds):
    model = mujoco.MjModel.from_xml_path(path)
    data = [mujoco.MjData(model) for _ in range(threads)]
    mujoco.mj_forward(model, data[0])
    size = mujoco.mj_stateSize(model, mujoco.mjtState.mjSTATE_FULLPHYSICS)
    state = np.zeros(size)
    mujoco.mj_getState(model, data[0], state, mujoco.mjtState.mjSTATE_FULLPHYSICS)
    states = np.tile(state, (count, 1))
    substeps = round(STEP_S / model.opt.timestep)
    rng = np.random.default_rng(1)
    with mujoco.rollout.Rollout(nthread=threads) as pool:
        clock, steps = Clock(seconds), 0
        while clock.goes_on():
            control = np.repeat(rng.uniform(-0.1, 0.1, (count, 1, model.nu)), substeps, axis=1)
            states_after, _ = pool.rollout(model, data, states, control)
            states = states_after[:, -1]
            steps += 1
        return clock.rates(steps * count)


def main():
    path = os.path.abspath(sys.argv[1])
    given = [int(word) for word in sys.argv[2:]]
    count, threads, seconds, turns = given + [16, 2, 4, 5][len(given) :]
    model = mujoco.MjModel.from_xml_path(path)
    print(f"MuJoCo {mujoco.__version__}, gymnasium {gymnasium.__version__}; {model.nv} degrees of freedom, {model.nu} actuators")
    print(f"{count} environments, {threads} threads or processes, {turns} turns of {seconds} s; steps of 1/30 s per second:")
    with tempfile.TemporaryDirectory() as folder:
        # MuJoCo writes its warnings to the working directory.
        os.chdir(folder)
        fine, coarse = (with_timestep(path, step, folder) for step in (1 / 960, 1 / 60))
        ways = {
            "Pomp/Track-v0, rotations": lambda: rate_of_vector(lambda: TrackVectorEnv(count, threads=threads), seconds),
            "Pomp/Track-v0, torques": lambda: rate_of_vector(
                lambda: TrackVectorEnv(count, threads=threads, action="torques"), seconds
            ),
            "mujoco.rollout, 16 steps a frame": lambda: rate_of_rollout(fine, count, threads, seconds),
            "mujoco.rollout, 1 step a frame": lambda: rate_of_rollout(coarse, count, threads, seconds),
            "Humanoid-v5 with this body, 16 steps a frame": lambda: rate_of_vector(
                lambda: AsyncVectorEnv([lambda: humanoid(fine, 1 / 960)] * threads), seconds
            ),
            "Humanoid-v5 with this body, 1 step a frame": lambda: rate_of_vector(
                lambda: AsyncVectorEnv([lambda: humanoid(coarse, 1 / 60)] * threads), seconds
            ),
            "Humanoid-v5 as it comes (23 degrees of freedom, 0.015 s)": lambda: rate_of_vector(
                lambda: AsyncVectorEnv([lambda: gymnasium.make("Humanoid-v5")] * threads), seconds
            ),
        }
        rates = {name: [] for name in ways}
        for _ in range(turns):
            for name, measure in ways.items():
                rates[name].append(measure())
        medians = {name: [statistics.median(column) for column in zip(*found)] for name, found in rates.items()}
        ours = medians["Pomp/Track-v0, rotations"]
        for name, (per_s, micros) in medians.items():
            walls = [wall for wall, _ in rates[name]]
            print(
                f"{name}: median {per_s:.0f}/s, from {min(walls):.0f} to {max(walls):.0f}, {micros:.0f} us of processor time a step; "
                f"ours {ours[0] / per_s:.2f} times as many, {micros / ours[1]:.2f} times by processor time"
            )
        os.chdir("/")


if __name__ == "__main__":
    main()
