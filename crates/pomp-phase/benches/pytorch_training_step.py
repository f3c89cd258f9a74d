"""A training step of the periodic autoencoder in PyTorch beside `phase/training_step/64` of phase.rs: the same network and batch,
to the same result; each as it multiplies best.

PyTorch's own `conv1d` is timed, and the same convolutions as products of real FFTs; the faster counts. The spectrum is read from
a Hann taper, as ours is. Each round runs one after the other, so that a machine that grows slower slows both:

    pip install numpy torch && python pytorch_training_step.py 5 cargo bench -p pomp-phase --bench phase -- training_step
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

ROWS, HIDDEN, CHANNELS, TAPS, FRAMES, RATE_HZ, WINDOWS = 66, 22, 5, 121, 121, 60.0, 64
WARM_UP, MEASURED = 3, 15
ESTIMATES = Path("criterion/phase/training_step_64/new/estimates.json")


def direct(signal, layer):
    return F.conv1d(signal, layer.weight, layer.bias, padding=TAPS // 2)


def by_fft(signal, layer):
    size = 256
    spectrum = torch.fft.rfft(signal, size)
    kernel = torch.fft.rfft(layer.weight.flip(2), size)
    product = torch.einsum("nif,oif->nof", spectrum, kernel)
    return torch.fft.irfft(product, size)[..., TAPS // 2 : TAPS // 2 + FRAMES] + layer.bias[:, None]


class Autoencoder(torch.nn.Module):
    def __init__(self, convolve):
        super().__init__()
        self.convolve = convolve
        layer = lambda a, b: torch.nn.Conv1d(a, b, TAPS, padding=TAPS // 2)
        norm = torch.nn.BatchNorm1d
        self.first, self.first_norm = layer(ROWS, HIDDEN), norm(HIDDEN)
        self.second, self.second_norm = layer(HIDDEN, CHANNELS), norm(CHANNELS)
        self.third, self.third_norm = layer(CHANNELS, HIDDEN), norm(HIDDEN)
        self.fourth = layer(HIDDEN, ROWS)
        self.shift = torch.nn.Parameter(torch.randn(CHANNELS, FRAMES, 2) / math.sqrt(FRAMES))
        self.shift_bias = torch.nn.Parameter(torch.full((CHANNELS, 2), 0.5))
        taper = 0.5 - 0.5 * torch.cos(2 * math.pi * (torch.arange(FRAMES) + 0.5) / FRAMES)
        self.register_buffer("taper", taper)
        self.register_buffer("hertz", torch.fft.rfftfreq(FRAMES, 1 / RATE_HZ)[1:])
        self.register_buffer("seconds", (torch.arange(FRAMES) - FRAMES // 2) / RATE_HZ)

    def forward(self, windows):
        hidden = torch.tanh(self.first_norm(self.convolve(windows, self.first)))
        latent = torch.tanh(self.second_norm(self.convolve(hidden, self.second)))
        level = (latent * self.taper).sum(2, keepdim=True) / self.taper.sum()
        tapered = (latent - level) * self.taper * torch.sqrt(FRAMES / self.taper.square().sum())
        transform = torch.fft.rfft(tapered)[..., 1:]
        power = (2 / FRAMES) * (transform.real.square() + transform.imag.square())
        amplitude = torch.sqrt(2 / FRAMES * power.sum(2))
        frequency = (power * self.hertz).sum(2) / power.sum(2)
        vector = torch.einsum("nct,ctk->nck", latent, self.shift) + self.shift_bias
        shift = torch.atan2(vector[..., 1], vector[..., 0]) / (2 * math.pi)
        angle = 2 * math.pi * (frequency[..., None] * self.seconds + shift[..., None])
        curves = amplitude[..., None] * torch.sin(angle) + latent.mean(2, keepdim=True)
        return self.convolve(torch.tanh(self.third_norm(self.convolve(curves, self.third))), self.fourth)


def pytorch_ms(convolve):
    torch.manual_seed(1)
    model = Autoencoder(convolve)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, fused=True)
    windows = torch.randn(WINDOWS, ROWS, FRAMES)
    times = []
    for _ in range(WARM_UP + MEASURED):
        begun = time.perf_counter()
        optimizer.zero_grad()
        (model(windows) - windows).square().mean().backward()
        optimizer.step()
        times.append(1e3 * (time.perf_counter() - begun))
    times = sorted(times[WARM_UP:])
    return times[len(times) // 2]


def check():
    """Both convolutions are the same one."""
    layer, signal = torch.nn.Conv1d(ROWS, HIDDEN, TAPS, padding=TAPS // 2), torch.randn(2, ROWS, FRAMES)
    assert torch.allclose(direct(signal, layer), by_fft(signal, layer), atol=1e-4)


def main():
    rounds, command = int(sys.argv[1]), sys.argv[2:]
    check()
    count = sum(p.numel() for p in Autoencoder(direct).parameters())
    print(f"PyTorch {torch.__version__}, {torch.get_num_threads()} threads, {count} weights", flush=True)
    ratios = []
    for _ in range(rounds):
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        estimates = Path(os.environ.get("CARGO_TARGET_DIR", "target")) / ESTIMATES
        ours = json.loads(estimates.read_text())["median"]["point_estimate"] / 1e6
        times = {"conv1d": pytorch_ms(direct), "FFT": pytorch_ms(by_fft)}
        ratios.append(min(times.values()) / ours)
        theirs = ", ".join(f"PyTorch by {name} {value:.1f} ms" for name, value in times.items())
        print(f"ours {ours:.1f} ms, {theirs}, throughput {ratios[-1]:.2f} of the faster's", flush=True)
    print(f"median {sorted(ratios)[len(ratios) // 2]:.2f} of PyTorch's")


main()
