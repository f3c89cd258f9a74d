"""A POMP model folder in numpy: its weights by name, and what its networks compute.

Needs numpy and nothing else. Names and shapes are those of docs/weights.md; `Model(folder)` reads a folder that `pomp train` has
written, or data/models/compact. Written to be read, not to be fast.
"""

import json
import struct
from pathlib import Path

import numpy as np

# As `AMPLITUDE_FLOOR_SQUARED`, `SHIFT_FLOOR_SQUARED` and `LENGTH_FLOOR` of the Rust crates.
AMPLITUDE_FLOOR_SQUARED, SHIFT_FLOOR_SQUARED, LENGTH_FLOOR, NORM_FLOOR = 1e-8, 1e-6, 1e-3, 1e-5


def tensors(path):
    """Every tensor of a safetensors file by name, as float32."""
    data = Path(path).read_bytes()
    (length,) = struct.unpack_from("<Q", data)
    header = json.loads(data[8 : 8 + length])
    header.pop("__metadata__", None)
    kinds = {"F16": np.float16, "F32": np.float32}
    found = {}
    for name, entry in header.items():
        begin, end = (8 + length + offset for offset in entry["data_offsets"])
        values = np.frombuffer(data[begin:end], kinds[entry["dtype"]])
        found[name] = values.reshape(entry["shape"]).astype(np.float32)
    return found


def below(weights, prefix):
    """The tensors whose names begin with `prefix`, without it."""
    return {name[len(prefix) :]: value for name, value in weights.items() if name.startswith(prefix)}


def convolve(w, name, signal):
    """conv1d of [N, in, T] with "same" padding."""
    weight, bias = w[f"{name}.weight"], w[f"{name}.bias"]
    margin = weight.shape[2] // 2
    padded = np.pad(signal, ((0, 0), (0, 0), (margin, margin)))
    windows = np.lib.stride_tricks.sliding_window_view(padded, weight.shape[2], axis=2)
    return np.einsum("nitk,oik->not", windows, weight, optimize=True) + bias[:, None]


def normalise(w, name, signal):
    """Batch norm with the statistics of training."""
    scale = w[f"{name}.gamma"] / np.sqrt(w[f"{name}.running_var"] + NORM_FLOOR)
    return (signal - w[f"{name}.running_mean"][:, None]) * scale[:, None] + w[f"{name}.beta"][:, None]


class PhaseEncoder:
    """Windows of joint velocities -> phase parameters; the clean and the aligned encoder have this one shape."""

    def __init__(self, weights, config):
        self.w, self.config = weights, config

    def __call__(self, windows):
        """windows [N, 3J, T], m/s in the root frame less their mean -> amplitude, frequency_hz, offset [N, C], shift_xy [N, C, 2]."""
        w = self.w
        hidden = np.tanh(normalise(w, "first_norm", convolve(w, "first", windows)))
        latent = np.tanh(normalise(w, "second_norm", convolve(w, "second", hidden)))
        frames = latent.shape[2]
        taper = np.ones(frames)
        if self.config["spectrum"] == "hann":
            taper = 0.5 - 0.5 * np.cos(2 * np.pi * (np.arange(frames) + 0.5) / frames)
        level = (latent * taper).sum(2, keepdims=True) / taper.sum()
        tapered = (latent - level) * taper * np.sqrt(frames / (taper**2).sum())
        power = np.abs(np.fft.rfft(tapered)[..., 1:]) ** 2 * (2 / frames) ** 2
        hertz = np.fft.rfftfreq(frames, 1 / self.config["window"]["frame_rate_hz"])[1:]
        squared = power.sum(2) + AMPLITUDE_FLOOR_SQUARED
        vector = np.einsum("nct,ctk->nck", latent, w["phase.shift_weight"]) + w["phase.shift_bias"]
        return {
            "amplitude": np.sqrt(squared),
            "frequency_hz": (power * hertz).sum(2) / squared,
            "offset": latent.mean(2),
            "shift_xy": vector / np.sqrt((vector**2).sum(2, keepdims=True) + SHIFT_FLOOR_SQUARED),
        }


class PhaseDecoder:
    """Phase parameters -> velocities over the window."""

    def __init__(self, weights, config):
        self.w, self.config = weights, config

    def __call__(self, parameters):
        """What an encoder gives -> [N, 3J, T], m/s."""
        w, window = self.w, self.config["window"]
        seconds = np.arange(-window["radius_frames"], window["radius_frames"] + 1) / window["frame_rate_hz"]
        shift = np.arctan2(parameters["shift_xy"][..., 1], parameters["shift_xy"][..., 0])
        length = np.linalg.norm(parameters["shift_xy"], axis=2)
        angle = 2 * np.pi * parameters["frequency_hz"][..., None] * seconds + shift[..., None]
        curves = (parameters["amplitude"] * length)[..., None] * np.sin(angle) + parameters["offset"][..., None]
        return convolve(w, "second", np.tanh(normalise(w, "first_norm", convolve(w, "first", curves))))


class KinematicModule:
    """OrthoMoE encoder and diffusion decoder, both on normalised x and y."""

    def __init__(self, weights, config):
        self.w, self.config = weights, config
        steps = config["diffusion_steps"]
        ideal = lambda n: np.cos((n / steps + 0.008) / 1.008 * np.pi / 2) ** 2
        kept = [1 - min(1 - ideal(n) / ideal(n - 1), 0.999) for n in range(1, steps + 1)]
        self.alpha_bar = np.concatenate([[1.0], np.cumprod(kept)])

    def activate(self, value):
        if self.config["activation"] == "elu":
            return np.where(value > 0, value, np.expm1(np.minimum(value, 0)))
        return value / (1 + np.exp(-value))

    def dense(self, name, value):
        return value @ self.w[f"{name}.weight"] + self.w.get(f"{name}.bias", 0)

    def encode(self, x):
        """x [B, X] -> conditions w_k [K, B, D] and shares alpha [B, K]."""
        config, place = self.config, self.config["gate_input"]
        gate = x[:, place["start"] : place["start"] + place["len"]]
        for index in range(len(config["gate_hidden"]) + 1):
            gate = self.dense(f"encoder.gate.{index}", self.activate(gate) if index else gate)
        gate = np.exp(gate - gate.max(1, keepdims=True))
        hidden = x[None]
        for index in range(len(config["expert_hidden"]) + 1):
            hidden = self.dense(f"encoder.experts.{index}", self.activate(hidden) if index else hidden)
        if config.get("expert_outputs", "orthonormal") == "orthonormal":
            hidden = self.orthonormalise(hidden)
        return hidden, gate / gate.sum(1, keepdims=True)

    def orthonormalise(self, outputs):
        size = outputs.shape[2]
        rest = outputs / np.sqrt((outputs**2).sum(2, keepdims=True) + size * LENGTH_FLOOR**2)
        rows = []
        while len(rest):
            length = np.linalg.norm(rest[0], axis=1, keepdims=True)
            row = rest[0] / np.maximum(length, self.config["independence"])
            rest = rest[1:] - (rest[1:] * row).sum(2, keepdims=True) * row
            rows.append(row)
        return np.stack(rows) * np.sqrt(size)

    def denoise(self, x, encoded, noisy, n):
        """The clean y [B, Y] that is guessed from y_n [B, Y] at diffusion step n (1 to N) of every row."""
        config, (conditions, shares) = self.config, encoded
        shares = shares.T[..., None]
        if config.get("blend", "after_decoder") == "before_decoder":
            conditions, shares = (conditions * shares).sum(0, keepdims=True), np.ones_like(shares[:1])
        half = config["time_embedding"] // 2
        time = 1000 * np.asarray(n)[:, None] / config["diffusion_steps"]
        angles = time * 10_000.0 ** (-np.arange(half) / half)
        codes = np.concatenate([np.sin(angles), np.cos(angles)], 1)
        hidden = self.dense("decoder.noisy_input", noisy) + self.dense("decoder.time_input", codes)
        hidden = hidden + self.dense("decoder.condition_input", conditions)
        if config["conditioning"] == "experts_and_state":
            hidden = hidden + self.dense("decoder.state_input", x)
        hidden = self.activate(hidden)
        for index, (before, after) in enumerate(zip(config["decoder_hidden"], config["decoder_hidden"][1:])):
            step = self.activate(self.dense(f"decoder.hidden.{index}", hidden))
            hidden = hidden + step if before == after else step
        # The last layer is linear and the shares sum to 1: blending before it is blending after it.
        last = self.dense("decoder.output", (hidden * shares).sum(0))
        if config["prediction"] == "velocity":
            signal = self.alpha_bar[np.asarray(n)][:, None]
            return np.sqrt(signal) * noisy + np.sqrt(1 - signal) * last
        return last


class Model:
    """A model folder. `x_mean`, `x_deviation` (and those of y) are of the features in their own units."""

    def __init__(self, folder):
        folder = Path(folder)
        self.description = json.loads((folder / "model.json").read_text())
        phase = below(tensors(folder / "phase.safetensors"), "phase.")
        config = self.description["phase"]
        self.phase_encoder = PhaseEncoder(below(phase, "encoder."), config)
        self.phase_decoder = PhaseDecoder(below(phase, "decoder."), config)
        aligned = folder / "aligned_phase.safetensors"
        self.aligned_encoder = None
        if aligned.is_file():
            self.aligned_encoder = PhaseEncoder(below(tensors(aligned), "aligned_phase."), config)
        self.kinematic = None
        described = self.description["kinematic"]
        if described is not None:
            weights = below(tensors(folder / "kinematic.safetensors"), "kinematic.")
            self.kinematic = KinematicModule(weights, described["config"])
            self.x_mean, self.x_deviation = (np.array(described["x"][key]) for key in ("mean", "deviation"))
            self.y_mean, self.y_deviation = (np.array(described["y"][key]) for key in ("mean", "deviation"))
