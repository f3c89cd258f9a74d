"""Networks with blended experts as PyTorch computes them in double precision: writes gated.json beside this file."""

import json
import math
import pathlib

import torch

torch.manual_seed(3)
torch.set_default_dtype(torch.float64)
INPUTS, READ, OUTPUTS, ROWS = 9, 5, 7, 6


def rounded(tensor):
    return torch.round(tensor * 1e5) / 1e5


def numbers(tensor):
    return [round(float(value), 7) for value in tensor.flatten()]


def layer(experts, inputs, outputs):
    return rounded(torch.randn(experts, inputs, outputs) / math.sqrt(inputs)), rounded(torch.randn(experts, 1, outputs) * 0.1)


def described(layers):
    return [{"shape": list(weight.shape), "weight": numbers(weight), "bias": numbers(bias)} for weight, bias in layers]


def blended(x, layers, blend):
    """Weights are blended first, then applied: W = sum of blend times W of each expert."""
    for index, (weight, bias) in enumerate(layers):
        mixed_weight = torch.einsum("bk,kio->bio", blend, weight)
        x = torch.einsum("bi,bio->bo", x, mixed_weight) + torch.einsum("bk,ko->bo", blend, bias[:, 0])
        if index + 1 < len(layers):
            x = torch.nn.functional.elu(x)
    return x


def learned_blend(x, gate):
    for index, (weight, bias) in enumerate(gate):
        x = x @ weight[0] + bias[0]
        if index + 1 < len(gate):
            x = torch.nn.functional.elu(x)
    return torch.softmax(x, 1)


def cyclic_blend(phase):
    """The four control points of PFNN: a1 + w (a2 - a0) / 2 + w^2 (a0 - 2.5 a1 + 2 a2 - a3 / 2) + w^3 (1.5 a1 - 1.5 a2 + a3 / 2 - a0 / 2)."""
    blend = torch.zeros(len(phase), 4)
    for row, place in enumerate(4 * (phase - torch.floor(phase))):
        k, w = int(place) % 4, place - math.floor(place)
        points = [torch.zeros(4) for _ in range(4)]
        for offset in range(4):
            points[offset][(k + offset - 1) % 4] = 1
        a0, a1, a2, a3 = points
        blend[row] = (
            a1
            + w * (a2 - a0) / 2
            + w**2 * (a0 - 2.5 * a1 + 2 * a2 - a3 / 2)
            + w**3 * (1.5 * a1 - 1.5 * a2 + a3 / 2 - a0 / 2)
        )
    return blend


cases = []
for name, experts in [("learned", 3), ("cyclic", 4)]:
    layers = [layer(experts, INPUTS, 8), layer(experts, 8, OUTPUTS)]
    gate = [layer(1, READ, 4), layer(1, 4, experts)] if name == "learned" else []
    x = rounded(torch.randn(ROWS, INPUTS))
    read = rounded(torch.randn(ROWS, READ)) if gate else rounded(torch.rand(ROWS) * 2 - 0.5)
    blend = learned_blend(read, gate) if gate else cyclic_blend(read)
    cases.append(
        {
            "name": name,
            "experts": experts,
            "x": numbers(x),
            "read": numbers(read),
            "blend": numbers(blend),
            "y": numbers(blended(x, layers, blend)),
            "gate": described(gate),
            "layers": described(layers),
        }
    )
made_by = f"gated.py, PyTorch {torch.__version__}"
pathlib.Path(__file__).with_name("gated.json").write_text(json.dumps({"made_by": made_by, "cases": cases}) + "\n")
