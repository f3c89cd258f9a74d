"""The periodic autoencoder once more, in PyTorch and double precision, from the formulas alone.

Writes periodic_autoencoder.safetensors beside itself: initial weights, one batch, and what PyTorch makes of them.
`reference.rs` holds the Rust network to these values. Run it again only when the network itself is meant to change:

    pip install torch safetensors && python periodic_autoencoder.py
"""

import math
from pathlib import Path

import torch
import torch.nn.functional as F
from safetensors.torch import save_file

torch.set_default_dtype(torch.float64)
torch.manual_seed(20)

JOINTS, HIDDEN, CHANNELS, TAPS, FRAMES, RATE_HZ, WINDOWS = 2, 3, 2, 31, 121, 60.0, 5
LEARNING_RATE, DECAY, STEPS = 1e-3, 1e-2, 3
TIME_S = (torch.arange(FRAMES) - FRAMES // 2) / RATE_HZ


def initial_weights():
    """Weights by the names of the Rust module; norms away from the identity, so that a swapped one shows."""

    def convolution(name, outputs, inputs):
        bound = 1 / math.sqrt(inputs * TAPS)
        return {
            f"{name}.weight": bound * (2 * torch.rand(outputs, inputs, TAPS) - 1),
            f"{name}.bias": bound * (2 * torch.rand(outputs) - 1),
        }

    def norm(name, size):
        return {
            f"{name}.gamma": 1 + 0.3 * torch.randn(size),
            f"{name}.beta": 0.2 * torch.randn(size),
            f"{name}.running_mean": 0.1 * torch.randn(size),
            f"{name}.running_var": 0.5 + torch.rand(size),
        }

    bound = 1 / math.sqrt(FRAMES)
    weights = {
        **convolution("encoder.first", HIDDEN, 3 * JOINTS),
        **norm("encoder.first_norm", HIDDEN),
        **convolution("encoder.second", CHANNELS, HIDDEN),
        **norm("encoder.second_norm", CHANNELS),
        "encoder.phase.shift_weight": bound * (2 * torch.rand(CHANNELS, FRAMES, 2) - 1),
        "encoder.phase.shift_bias": 0.5 + 0.2 * torch.rand(CHANNELS, 2),
        **convolution("decoder.first", HIDDEN, CHANNELS),
        **norm("decoder.first_norm", HIDDEN),
        **convolution("decoder.second", 3 * JOINTS, HIDDEN),
    }
    # What single precision can hold, so that both sides start from the same numbers.
    return {name: value.float().double() for name, value in weights.items()}


def batch():
    """Noisy sums of two sinusoids, each row less its mean over the window."""
    turns = torch.rand(WINDOWS, 3 * JOINTS, 2, 1)
    hertz = 0.6 + 3.0 * torch.rand(WINDOWS, 1, 2, 1)
    loudness = torch.rand(WINDOWS, 3 * JOINTS, 2, 1)
    waves = (loudness * torch.sin(2 * math.pi * (hertz * TIME_S + turns))).sum(2)
    windows = waves + 0.1 * torch.randn(WINDOWS, 3 * JOINTS, FRAMES)
    return (windows - windows.mean(2, keepdim=True)).float().double()


def convolve(w, name, signal):
    return F.conv1d(signal, w[f"{name}.weight"], w[f"{name}.bias"], padding=TAPS // 2)


def normalise(w, name, signal, statistics):
    """Batch norm over windows and frames; `statistics` are the running ones to move, or None to use them as they are."""
    mean, variance = w[f"{name}.running_mean"], w[f"{name}.running_var"]
    if statistics is not None:
        mean, variance = statistics[f"{name}.running_mean"], statistics[f"{name}.running_var"]
    return F.batch_norm(
        signal, mean, variance, w[f"{name}.gamma"], w[f"{name}.beta"], training=statistics is not None, eps=1e-5
    )


def spectrum(latent, tapered):
    """Amplitude and frequency of curves [N, C, T] (DeepPhase eq. 2-3), with or without a Hann taper before the FFT."""
    if tapered:
        taper = 0.5 - 0.5 * torch.cos(2 * math.pi * (torch.arange(FRAMES) + 0.5) / FRAMES)
        level = (latent * taper).sum(2, keepdim=True) / taper.sum()
        latent = (latent - level) * taper * torch.sqrt(FRAMES / (taper**2).sum())
    power = (2 / FRAMES) * torch.fft.rfft(latent).abs()[..., 1:] ** 2
    hertz = torch.fft.rfftfreq(FRAMES, 1 / RATE_HZ)[1:]
    return torch.sqrt(2 / FRAMES * power.sum(2)), (power * hertz).sum(2) / power.sum(2)


def forward(w, windows, tapered=True, statistics=None):
    hidden = torch.tanh(normalise(w, "encoder.first_norm", convolve(w, "encoder.first", windows), statistics))
    latent = torch.tanh(normalise(w, "encoder.second_norm", convolve(w, "encoder.second", hidden), statistics))
    amplitude, frequency = spectrum(latent, tapered)
    offset = latent.mean(2)
    vector = torch.einsum("nct,ctk->nck", latent, w["encoder.phase.shift_weight"]) + w["encoder.phase.shift_bias"]
    shift = torch.atan2(vector[..., 1], vector[..., 0]) / (2 * math.pi)
    angle = 2 * math.pi * (frequency[..., None] * TIME_S + shift[..., None])
    curves = amplitude[..., None] * torch.sin(angle) + offset[..., None]
    hidden = torch.tanh(normalise(w, "decoder.first_norm", convolve(w, "decoder.first", curves), statistics))
    return {
        "latent": latent,
        "amplitude": amplitude,
        "frequency_hz": frequency,
        "offset": offset,
        "shift_turns": shift,
        "reconstruction": convolve(w, "decoder.second", hidden),
    }


weights, windows = initial_weights(), batch()
out = {f"initial.{name}": value for name, value in weights.items()} | {"windows": windows}

# As a trained network runs: running statistics, both ways of reading the spectrum.
for name, tapered in [("tapered", True), ("plain", False)]:
    out |= {f"{name}.{key}": value for key, value in forward(weights, windows, tapered).items()}
    if not tapered:
        del out["plain.latent"]

# As it trains: statistics of the batch, gradients, three steps of AdamW.
trained = {name: value.clone().requires_grad_(".running_" not in name) for name, value in weights.items()}
statistics = {name: value.clone() for name, value in weights.items() if ".running_" in name}
optimizer = torch.optim.AdamW(
    [value for value in trained.values() if value.requires_grad], lr=LEARNING_RATE, weight_decay=DECAY, eps=1e-8
)
losses = []
for step in range(STEPS):
    optimizer.zero_grad()
    loss = ((forward(trained, windows, statistics=statistics)["reconstruction"] - windows) ** 2).mean()
    loss.backward()
    losses.append(loss.item())
    if step == 0:
        out |= {f"gradient.{name}": value.grad.clone() for name, value in trained.items() if value.requires_grad}
        out |= {f"statistics.{name}": value.clone() for name, value in statistics.items()}
    optimizer.step()
out |= {f"trained.{name}": value.detach() for name, value in trained.items() if value.requires_grad}
out["losses"] = torch.tensor(losses)

settings = {"learning_rate": LEARNING_RATE, "weight_decay": DECAY, "made_with": f"PyTorch {torch.__version__}"}
target = Path(__file__).with_suffix(".safetensors")
save_file(
    {name: value.float().contiguous() for name, value in out.items()},
    target,
    {key: str(value) for key, value in settings.items()},
)
print(target.name, target.stat().st_size, "bytes; losses", losses)
