"""Trains a small motion prior that sees the contact impulses, and measures it on clips that it has not seen.

    pomp preprocess data/clips --out out/data
    python crates/pomp-py/examples/impulse_prior.py out/data [steps]

The prior is a Gaussian over the next frame: a mean and a deviation of every feature of y, given x, phases and impulses included. One
line is printed for it, for the same network with the impulses of other frames, and for holding the pose, which knows nothing.
"""

import sys

import torch
from torch import nn

from pomp.torch import MotionDataset


class Prior(nn.Module):
    def __init__(self, inputs, outputs, width=256):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(inputs, width), nn.SiLU(), nn.Linear(width, width), nn.SiLU())
        self.mean, self.log_deviation = nn.Linear(width, outputs), nn.Linear(width, outputs)

    def forward(self, x):
        hidden = self.body(x)
        return self.mean(hidden), self.log_deviation(hidden).clamp(-5, 2)


def loss(prior, x, y):
    mean, log_deviation = prior(x)
    return (0.5 * ((y - mean) / log_deviation.exp()) ** 2 + log_deviation).mean()


def error_cm(y, guess, figures, joints):
    """Mean distance of joints from the clip's next frame, in the root frame."""
    apart = ((y - guess) * figures["y_deviation"])[:, joints]
    return 100 * apart.unflatten(1, (-1, 3)).norm(dim=2).mean().item()


def main(folder, steps=2000, settings={"held_out_every": 3}):
    torch.manual_seed(0)
    training, held_out = (MotionDataset(folder, split=split, normalised=True, settings=settings) for split in ("training", "held_out"))
    figures, impulses = training.statistics(), training.blocks["x"]["contact_impulses"]
    whole = next(iter(torch.utils.data.DataLoader(held_out, batch_size=len(held_out))))
    prior = Prior(whole["x"].shape[1], whole["y"].shape[1])
    optimiser = torch.optim.AdamW(prior.parameters(), lr=1e-3, weight_decay=1e-2)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimiser, steps)
    order = torch.utils.data.RandomSampler(training, replacement=True, num_samples=128 * steps)
    for batch in torch.utils.data.DataLoader(training, batch_size=128, sampler=order):
        optimiser.zero_grad()
        loss(prior, batch["x"] + 0.05 * torch.randn_like(batch["x"]), batch["y"]).backward()
        optimiser.step()
        schedule.step()
    with torch.no_grad():
        x, y, joints = whole["x"], whole["y"], held_out.blocks["y"]["joint_positions"]
        others = x.clone()
        others[:, impulses] = x.roll(len(x) // 2, 0)[:, impulses]
        held = -figures["y_mean"] / figures["y_deviation"]  # y is what changes: nothing does
        guesses = {"prior": prior(x)[0], "impulses of other frames": prior(others)[0], "holding the pose": held.expand_as(y)}
        errors = {name: error_cm(y, guess, figures, joints) for name, guess in guesses.items()}
    for name, error in errors.items():
        print(f"{name}: {error:.3f} cm per joint, {len(y)} held-out frames")
    return errors


if __name__ == "__main__":
    main(sys.argv[1], *map(int, sys.argv[2:3]))
