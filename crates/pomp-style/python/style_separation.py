"""Tells styles apart in half-second windows of poses: which mocap style a generated walk is nearest to.

    python style_separation.py mocap.json GROUP=FOLDER ...

mocap.json names the recordings of each class: {"zombie": {"training": [...], "held_out": [...]}, ...}; paths are npz files of
`pomp preprocess`. Each GROUP=FOLDER is a folder of rollouts of `pomp generate --count`. Needs numpy.

A window is 30 frames. Its features are mean and standard deviation, over the window, of the positions of all joints relative to the
pelvis in the frame of the hips' heading. Features are divided by their deviation within the classes. The nearest centroid of the
training windows is the class of a window. The way is how far the mean of a group is from the centroid of the first class (0) to that of
another one (1), along the line between them. The Frechet distance (squared) is of Gaussians in the first ten principal components of the
training windows of all classes.
"""

import json
import sys
from pathlib import Path

import numpy as np

FRAMES = 30
COMPONENTS = 10
# The first two seconds of a rollout lead from the model's neutral start into the style.
START = 120


def windows(path, positions_key="positions", start=0):
    data = np.load(path)
    positions = data[positions_key].astype(np.float64)[start:]
    names = [str(name) for name in data["bone_names"]]
    left, right = names.index("LeftUpLeg"), names.index("RightUpLeg")
    across = positions[:, left] - positions[:, right]
    across[:, 1] = 0.0
    across /= np.linalg.norm(across, axis=1, keepdims=True)
    up = np.broadcast_to([0.0, 1.0, 0.0], across.shape)
    ahead = np.cross(across, up)
    local = positions - positions[:, :1]
    axes = np.stack([across, up, ahead], axis=1)
    local = np.einsum("fac,fjc->fja", axes, local).reshape(len(local), -1)
    # The height of the pelvis says how low a style walks.
    local = np.concatenate([local, positions[:, 0, 1:2]], axis=1)
    rows = [local[at : at + FRAMES] for at in range(0, len(local) - FRAMES + 1, FRAMES)]
    return np.array([np.concatenate([row.mean(0), row.std(0)]) for row in rows])


def moving(path, start=0):
    """Whether each window walks, faster than 0.15 m/s: standing has no style."""
    root = np.load(path)["positions"].astype(np.float64)[start:, 0]
    ways = [root[at + FRAMES - 1] - root[at] for at in range(0, len(root) - FRAMES + 1, FRAMES)]
    return np.array([np.hypot(way[0], way[2]) * 60.0 / FRAMES > 0.15 for way in ways], dtype=bool)


def walks(paths, start=0):
    found = []
    for path in paths:
        rows = windows(path, start=start)
        if len(rows):
            found.append(rows[moving(path, start)])
    return np.concatenate(found)


def gaussian(rows):
    return rows.mean(0), np.cov(rows.T)


def frechet(a, b):
    (mean_a, cov_a), (mean_b, cov_b) = a, b
    values, vectors = np.linalg.eigh(cov_a)
    root = vectors @ np.diag(np.sqrt(np.maximum(values, 0.0))) @ vectors.T
    cross = np.sqrt(np.maximum(np.linalg.eigvalsh(root @ cov_b @ root), 0.0)).sum()
    return float(((mean_a - mean_b) ** 2).sum() + np.trace(cov_a) + np.trace(cov_b) - 2.0 * cross)


def main(mocap, groups):
    classes = json.loads(Path(mocap).read_text())
    training = {name: walks(of["training"]) for name, of in classes.items()}
    held_out = {name: walks(of["held_out"]) for name, of in classes.items() if of["held_out"]}
    within = np.concatenate([rows - rows.mean(0) for rows in training.values()])
    scale = np.maximum(within.std(0), 0.01)
    training = {name: rows / scale for name, rows in training.items()}
    held_out = {name: rows / scale for name, rows in held_out.items()}
    centroids = {name: rows.mean(0) for name, rows in training.items()}
    pooled = np.concatenate(list(training.values()))
    components = np.linalg.svd(pooled - pooled.mean(0), full_matrices=False)[2][:COMPONENTS].T
    gaussians = {name: gaussian(rows @ components) for name, rows in training.items()}
    names = list(centroids)

    def tell(title, rows):
        distances = np.array([[np.linalg.norm(row - centroids[name]) for name in names] for row in rows])
        nearest = distances.argmin(1)
        shares = {name: float((nearest == at).mean()) for at, name in enumerate(names)}
        own = gaussian(rows @ components) if len(rows) > COMPONENTS else None
        apart = {name: frechet(own, gaussians[name]) if own else float("nan") for name in names}
        first = centroids[names[0]]
        ways = []
        for name in names[1:]:
            line = centroids[name] - first
            ways.append(float((rows.mean(0) - first) @ line / (line @ line)))
        cells = [f"{100 * shares[name]:3.0f} %" for name in names]
        cells += [f"{way:5.2f}" for way in ways] + [f"{apart[name]:7.1f}" for name in names]
        print(f"{title:28} {len(rows):5} | " + " | ".join(cells))

    print(
        f"{'':28} {'':5} | nearest to {', '.join(names)} | way to {', '.join(names[1:])} | "
        f"Frechet distance to {', '.join(names)}"
    )
    for name, rows in training.items():
        tell(f"mocap, training: {name}", rows)
    for name, rows in held_out.items():
        tell(f"mocap, held out: {name}", rows)
    for group in groups:
        title, folder = group.split("=", 1)
        files = sorted(Path(folder).glob("rollout*.npz"))
        tell(title, walks(files, START) / scale)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
