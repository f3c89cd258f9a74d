"""Every controller with blended experts as PyTorch computes it in double precision: writes gated.json beside this file.

The networks have the experts and the layers of configs/controllers, but few units. The goal of nsm is computed on a window of 13 keys.
"""

import json
import math
import pathlib

import torch

torch.manual_seed(3)
torch.set_default_dtype(torch.float64)
INPUTS, READ, OUTPUTS, ROWS = 5, 6, 4, 4


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


def rotation(yaw):
    """Turns a vector on the ground, (x, z), to the left by an angle."""
    cos, sin = torch.cos(yaw), torch.sin(yaw)
    return torch.stack([torch.stack([cos, sin]), torch.stack([-sin, cos])])


def pose(key):
    return key[:2], torch.atan2(key[2], key[3])


def seen_from(goal, place):
    (origin, yaw), (at, heading) = goal, place
    return rotation(-yaw) @ (at - origin), heading - yaw


def placed_in(goal, place):
    (origin, yaw), (at, heading) = goal, place
    return origin + rotation(yaw) @ at, yaw + heading


def key_of(place):
    at, heading = place
    return torch.cat([at, torch.sin(heading)[None], torch.cos(heading)[None]])


def mixed(a, b, share):
    turn = torch.remainder(b[1] - a[1] + math.pi, 2 * math.pi) - math.pi
    return a[0] + (b[0] - a[0]) * share, a[1] + turn * share


def random_keys(count, reach):
    at = (torch.rand(count, 2) * 2 - 1) * reach
    heading = (torch.rand(count, 1) * 2 - 1) * 0.8
    return rounded(torch.cat([at, torch.sin(heading), torch.cos(heading)], 1))


def goal_case(reach):
    """NSM: the keys as seen from the last one, the Kronecker product of phase and gaits and goal, and the blend of both futures."""
    keys = random_keys(13, reach)
    gaits = rounded(torch.softmax(torch.randn(13, 8), 1))
    phase = rounded(torch.tensor([math.cos(0.7), math.sin(0.7)]))
    motion = rounded(torch.tensor([0.3, 1.1, 0.4]))
    ahead = random_keys(7, reach)
    changes = rounded(torch.randn(7, 4))
    goal = pose(keys[12])
    inputs = torch.cat([key_of(seen_from(goal, pose(key))) for key in keys[:12]])
    distance = torch.linalg.vector_norm(goal[0])
    deciding = torch.cat([gaits[6], gaits[12], distance[None], torch.sin(goal[1])[None], torch.cos(goal[1])[None]])
    ego_next = (motion[:2] / 60, motion[2] / 60)
    held = [key_of(seen_from(goal, pose(key))) for key in keys[6:]]
    wanted = torch.cat(
        [(key_of(seen_from(goal, placed_in(ego_next, pose(key)))) - old) / 0.02 for key, old in zip(ahead, held)]
    )
    t = torch.clamp((distance - 0.25) / 0.75, 0, 1)
    share = 1 - t * t * (3 - 2 * t)
    from_goal = [placed_in(goal, pose(old + change * 0.02)) for old, change in zip(held, changes)]
    next_place = mixed(ego_next, from_goal[0], share)
    blended_motion = torch.cat([next_place[0] * 60, (next_place[1] * 60)[None]])
    blended_ahead = [ahead[0]]
    for key in range(1, 7):
        place = mixed(placed_in(ego_next, pose(ahead[key])), from_goal[key], share)
        blended_ahead.append(key_of(seen_from(next_place, place)))
    return {
        "keys": numbers(keys),
        "gaits": numbers(gaits),
        "phase": numbers(phase),
        "motion": numbers(motion),
        "ahead": numbers(ahead),
        "changes": numbers(changes),
        "share": float(share),
        "inputs": numbers(inputs),
        "gate": numbers(torch.kron(phase, deciding)),
        "wanted": numbers(wanted),
        "blended_motion": numbers(blended_motion),
        "blended_ahead": numbers(torch.cat(blended_ahead)),
    }


cases = []
for name, experts in [("phase", 8), ("pfnn", 4), ("mann", 8), ("local-phases", 8), ("nsm", 10)]:
    layers = [layer(experts, INPUTS, 4), layer(experts, 4, 4), layer(experts, 4, OUTPUTS)]
    gate = [layer(1, READ, 4), layer(1, 4, 4), layer(1, 4, experts)] if name != "pfnn" else []
    x = rounded(torch.randn(ROWS, INPUTS))
    if name == "nsm":
        angle = torch.rand(ROWS) * 2 * math.pi
        phase = rounded(torch.stack([torch.cos(angle), torch.sin(angle)], 1))
        read = torch.stack([torch.kron(a, b) for a, b in zip(phase, rounded(torch.randn(ROWS, READ // 2)))])
    else:
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
# Far from the goal, on the way and near it.
goals = [goal_case(reach) for reach in (2.0, 0.8, 0.5, 0.1)]
made_by = f"gated.py, PyTorch {torch.__version__}"
text = json.dumps({"made_by": made_by, "cases": cases, "goals": goals})
pathlib.Path(__file__).with_name("gated.json").write_text(text + "\n")
