"""Tasks of the environments and their rewards.

A task computes all characters at once, as numpy arrays with a row per character, so a single environment and a vector use the same code.
"""

import dataclasses

import numpy as np

# A goal counts as reached at this distance, metres.
REACHED_M = 0.5
# Reward for reaching a goal, in addition to the reward for the distance.
GOAL_BONUS = 2.0
# Distance of a new goal from the character, metres.
GOAL_M = (3.0, 8.0)
# Distance of a goal from the edge of the ground, metres.
EDGE_M = 4.0
# Magnitude of a push, N·s, and time between two pushes, seconds.
PUSH_NS = (40.0, 120.0)
PUSH_S = (2.0, 4.0)
# Commanded speeds of Push, m/s.
SPEED_MPS = (0.0, 1.2)


@dataclasses.dataclass(frozen=True)
class Task:
    """A task with its name, its terrain and the length of an episode in steps of a tenth of a second."""

    name: str
    terrain: str
    steps: int


STEER = Task("Pomp/Steer-v0", terrain="hills", steps=300)
PUSH = Task("Pomp/Push-v0", terrain="flat", steps=300)
TASKS = {task.name: task for task in (STEER, PUSH)}


class Steer:
    """Walk over hills from goal to goal.

    The command is the vector to the goal, ahead and left of the character, metres. The reward of a step is the decrease of the distance
    to the goal, metres, plus 2 for reaching it. Then a new goal is drawn.
    """

    def __init__(self, count):
        self.goals = np.zeros((count, 2))
        self.distances = np.zeros(count)
        self.low = self.high = np.zeros(2)

    def stay_on(self, bounds):
        min_x, max_x, min_z, max_z = bounds
        middle = np.array([min_x + max_x, min_z + max_z]) / 2
        self.low = np.minimum(np.array([min_x, min_z]) + EDGE_M, middle)
        self.high = np.maximum(np.array([max_x, max_z]) - EDGE_M, middle)

    def reset(self, index, rng, root):
        self._draw(index, rng, root)

    def _draw(self, index, rng, root):
        distance, angle = rng.uniform(*GOAL_M), rng.uniform(-np.pi, np.pi)
        goal = root + distance * np.array([np.sin(angle), np.cos(angle)])
        self.goals[index] = np.clip(goal, self.low, self.high)
        self.distances[index] = np.linalg.norm(self.goals[index] - root)

    def pushes(self, index, rng, time_s):
        return []

    def command(self, roots, local):
        return local(self.goals - roots)

    def rewards(self, roots, velocities, rngs, active):
        distances = np.linalg.norm(self.goals - roots, axis=1)
        rewards = np.where(active, self.distances - distances, 0.0)
        self.distances = distances
        for index in np.flatnonzero(active & (distances < REACHED_M)):
            rewards[index] += GOAL_BONUS
            self._draw(index, rngs[index], roots[index])
        return rewards


class Push:
    """Keep a commanded velocity on level ground, against pushes of 40 to 120 N·s every two to four seconds.

    The command is the velocity ahead and left of the character, m/s. The reward of a step is 0.1 − 0.1 · velocity error in m/s.
    """

    def __init__(self, count):
        self.wanted = np.zeros((count, 2))
        self.next_s = np.zeros(count)

    def stay_on(self, bounds):
        """The task does not depend on the place."""

    def reset(self, index, rng, root):
        speed, angle = rng.uniform(*SPEED_MPS), rng.uniform(-np.pi, np.pi)
        self.wanted[index] = speed * np.array([np.sin(angle), np.cos(angle)])
        self.next_s[index] = rng.uniform(*PUSH_S)

    def pushes(self, index, rng, time_s):
        if time_s < self.next_s[index]:
            return []
        self.next_s[index] = time_s + rng.uniform(*PUSH_S)
        size, angle = rng.uniform(*PUSH_NS), rng.uniform(-np.pi, np.pi)
        return [(index, "Spine2", (size * np.sin(angle), 0.0, size * np.cos(angle)))]

    def command(self, roots, local):
        return self.wanted

    def rewards(self, roots, velocities, rngs, active):
        return np.where(active, 0.1 - 0.1 * np.linalg.norm(velocities - self.wanted, axis=1), 0.0)


KINDS = {STEER.name: Steer, PUSH.name: Push}
