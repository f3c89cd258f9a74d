"""A training step of the kinematic module in PyTorch beside `training_step/kinematic/128` of training_step.rs:
the same network, the same work.

Both draw noise and diffusion steps, run eight experts, Gram-Schmidt, the shared decoder (the first layer split into its shares,
the blend before the last layer), the backward pass and AdamW, in single precision with as many threads. Each round runs one
after the other, so that a machine that grows slower slows both:

    pip install numpy torch && python pytorch_kinematic_step.py 5 cargo bench -p pomp-train --bench training_step -- kinematic/128
"""

import json
import math
import os
import subprocess
import sys
import time
from pathlib import Path

import torch
import torch.nn.functional as F

X, Y, GATE, EXPERTS, SIZE, STEPS, CODE, BATCH = 660, 480, 130, 8, 192, 50, 32, 128
WARM_UP, MEASURED = 5, 40
ESTIMATES = Path("criterion/training_step_kinematic/128/new/estimates.json")


class Module(torch.nn.Module):
    def __init__(self):
        super().__init__()
        linear = torch.nn.Linear
        self.gate = torch.nn.Sequential(linear(GATE, 64), torch.nn.SiLU(), linear(64, EXPERTS))
        weight = lambda a, b: torch.nn.Parameter(torch.randn(EXPERTS, a, b) / math.sqrt(a))
        bias = lambda b: torch.nn.Parameter(torch.zeros(EXPERTS, 1, b))
        self.first, self.first_bias = weight(X, 192), bias(192)
        self.second, self.second_bias = weight(192, SIZE), bias(SIZE)
        self.noisy, self.condition = linear(Y, 512), linear(SIZE, 512, bias=False)
        self.time, self.hidden, self.output = linear(CODE, 512, bias=False), linear(512, 512), linear(512, Y)
        ideal = lambda n: math.cos((n / STEPS + 0.008) / 1.008 * math.pi / 2) ** 2
        kept = [1 - min(1 - ideal(n) / ideal(n - 1), 0.999) for n in range(1, STEPS + 1)]
        self.register_buffer("alpha_bar", torch.cumprod(torch.tensor(kept), 0))
        angles = torch.tensor([10_000 ** (-i / (CODE // 2)) for i in range(CODE // 2)])
        angles = torch.arange(1, STEPS + 1)[:, None] * 1000.0 / STEPS * angles
        self.register_buffer("codes", torch.cat([angles.sin(), angles.cos()], 1).float())

    def conditions(self, x):
        hidden = F.silu(torch.baddbmm(self.first_bias, x.expand(EXPERTS, -1, -1), self.first))
        rest = torch.baddbmm(self.second_bias, hidden, self.second)
        rest = rest / (rest.square().mean(2, keepdim=True) + 1e-6).sqrt() / math.sqrt(SIZE)
        rows = []
        for k in range(EXPERTS):
            row = rest[:1] / rest[:1].square().sum(2, keepdim=True).clamp_min(1e-4).sqrt()
            rows.append(row)
            if k + 1 < EXPERTS:
                later = rest[1:]
                rest = later - (later * row).sum(2, keepdim=True) * row
        return torch.cat(rows) * math.sqrt(SIZE)

    def loss(self, x, y, weights):
        n = torch.randint(0, STEPS, (x.shape[0],))
        a = self.alpha_bar[n][:, None]
        noisy = a.sqrt() * y + (1 - a).sqrt() * torch.randn_like(y)
        alpha = torch.softmax(self.gate(x[:, :GATE]), 1).T[..., None]
        common = self.noisy(noisy) + self.time(self.codes[n])
        hidden = F.silu(self.condition(self.conditions(x)) + common)
        hidden = hidden + F.silu(self.hidden(hidden))
        clean = self.output((hidden * alpha).sum(0))
        return ((y - clean) * weights).square().mean()


def pytorch_ms():
    torch.manual_seed(1)
    model = Module()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, fused=True)
    x, y, weights = torch.randn(BATCH, X), torch.randn(BATCH, Y), torch.ones(Y)
    times = []
    for _ in range(WARM_UP + MEASURED):
        begun = time.perf_counter()
        optimizer.zero_grad()
        model.loss(x, y, weights).backward()
        optimizer.step()
        times.append(1e3 * (time.perf_counter() - begun))
    times = sorted(times[WARM_UP:])
    return times[len(times) // 2]


def main():
    rounds, command = int(sys.argv[1]), sys.argv[2:]
    count = sum(p.numel() for p in Module().parameters())
    print(f"PyTorch {torch.__version__}, {torch.get_num_threads()} threads, {count} weights", flush=True)
    ratios = []
    for _ in range(rounds):
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        estimates = Path(os.environ.get("CARGO_TARGET_DIR", "target")) / ESTIMATES
        ours = json.loads(estimates.read_text())["median"]["point_estimate"] / 1e6
        theirs = pytorch_ms()
        ratios.append(theirs / ours)
        print(f"ours {ours:.1f} ms, PyTorch {theirs:.1f} ms, throughput {ratios[-1]:.2f} of PyTorch's", flush=True)
    print(f"median {sorted(ratios)[len(ratios) // 2]:.2f} of PyTorch's")


main()
