"""What the package costs beside Rust: import, a step, and many characters beside `pomp generate --count`.

    POMP=target/release/pomp python crates/pomp-py/benches/cost.py [characters] [seconds] [threads] [pairs]

The two ways to make many are measured in pairs, the first of a pair in turns, so that other work on the machine slows both. The time of
the command is its own `wall_s`: grounds, characters and rollouts, recorded and written as npz files, but neither its start, the
reading of the model nor the metrics, which come after. That of the package is the loop over `step` with its arrays, without the making of
grounds and characters.
"""

import json
import math
import os
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np

import pomp


def least_us(work, times=3000, repeats=8):
    """Processor time of a call, microseconds, the least of several means."""
    best = float("inf")
    for _ in range(repeats):
        begun = time.thread_time_ns()
        for _ in range(times):
            work()
        best = min(best, (time.thread_time_ns() - begun) / times / 1e3)
    return best


def import_s():
    code = "import time; begun = time.perf_counter(); import pomp; print(time.perf_counter() - begun)"
    words = [sys.executable, "-c", code]
    return min(float(subprocess.run(words, capture_output=True, check=True).stdout) for _ in range(5))


def refused_step_us():
    """A step whose last argument is refused: direction, gait and a push are read, and an exception is made and caught. A step that is
    not refused spends less around the simulator."""
    character = pomp.Generator(seed=1)
    direction = np.array([0.0, 1.0], dtype=np.float32)

    def step():
        try:
            character.step(direction, "walk", [(77, (1.0, 2.0, 3.0))])
        except pomp.InputError:
            pass

    return least_us(step)


def frames_per_s_of_the_program(characters, seconds, threads):
    with tempfile.TemporaryDirectory() as folder:
        words = [os.environ["POMP"], "generate", "--count", characters, "--terrain", "flat", "--seconds", seconds]
        words += ["--threads", threads, "--push", "none", "--seed", "1", "--support", "assist", "--out", folder, "--json"]
        told = subprocess.run([str(word) for word in words], capture_output=True, check=True).stdout
        batch = json.loads(told)["batch"]
        return batch["motion_s"] * pomp.FRAME_RATE_HZ / batch["wall_s"]


def frames_per_s_of_the_package(characters, seconds, threads):
    directions = np.tile((0.0, 1.0), (characters, 1))
    frames = round(seconds * pomp.FRAME_RATE_HZ)
    with pomp.VecGenerator(characters, terrain="flat", seed=1, start="walk", threads=threads, support="assist") as many:
        begun = time.perf_counter()
        for _ in range(frames):
            many.step(directions, "walk")
        return characters * frames / (time.perf_counter() - begun)


def main():
    given = [int(word) for word in sys.argv[1:]]
    characters, seconds, threads, pairs = given + [64, 5, os.cpu_count(), 5][len(given) :]
    print(f"import pomp: {1e3 * import_s():.0f} ms; step, refused: {refused_step_us():.1f} us")
    ways = [("generate --count", frames_per_s_of_the_program), ("VecGenerator", frames_per_s_of_the_package)]
    ratios = []
    for pair in range(pairs):
        rates = {}
        for name, measure in ways if pair % 2 == 0 else reversed(ways):
            rates[name] = measure(characters, seconds, threads)
        ratios.append(rates["VecGenerator"] / rates["generate --count"])
        told = ", ".join(f"{name} {rates[name]:.0f} frames/s" for name, _ in ways)
        print(f"{told}: {ratios[-1]:.2f}", flush=True)
    low, high = interval_of_median(ratios)
    print(
        f"median of {pairs} ratios {statistics.median(ratios):.3f} (95 %: {low:.2f} to {high:.2f}), {characters} characters of {seconds} s, "
        f"{threads} threads"
    )


def interval_of_median(values):
    """Bounds that hold the median of what the values are drawn from with 95 % or, of fewer than six, with less: the range."""
    ordered, count = sorted(values), len(values)
    inside = 0
    # The median lies outside of the k-th least and largest with twice the probability of at most k heads.
    while 2 * sum(math.comb(count, heads) for heads in range(inside + 2)) / 2**count <= 0.05:
        inside += 1
    return ordered[inside], ordered[-1 - inside]


if __name__ == "__main__":
    main()
