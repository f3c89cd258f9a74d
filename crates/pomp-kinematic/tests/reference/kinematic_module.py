"""The kinematic module once more, in PyTorch and double precision, from the formulas alone.

Writes kinematic_module.safetensors beside itself: for two configurations the initial weights, one batch, and what
PyTorch makes of them. `reference.rs` holds the Rust module to these values. Run it again only when the module itself
is meant to change:

    pip install torch safetensors && python kinematic_module.py
"""

import math
from pathlib import Path

import torch
import torch.nn.functional as F
from safetensors.torch import save_file

torch.set_default_dtype(torch.float64)
torch.manual_seed(21)

X, Y, GATE_START, GATE_LEN, EXPERTS, SIZE, STEPS, CODE, BATCH = 20, 9, 6, 8, 4, 16, 20, 8, 6
LEARNING_RATE, DECAY, UPDATES, EPSILON = 1e-3, 1e-2, 3, 1e-5

CONFIGURATIONS = {
    "paper": dict(
        experts=[12], gate=[10], decoder=[14, 14, 11], activation=F.silu, state=False, velocity=False
    ),
    "variant": dict(experts=[], gate=[], decoder=[13], activation=F.elu, state=True, velocity=True),
}


def initial_weights(config):
    """Weights by the names of the Rust module, products as x W + b; biases away from zero, so that a lost one shows."""
    weights = {}

    def layer(name, inputs, outputs, experts=None, bias=True):
        lead = [] if experts is None else [experts]
        weights[f"{name}.weight"] = torch.randn(*lead, inputs, outputs) / math.sqrt(inputs)
        if bias:
            weights[f"{name}.bias"] = 0.2 * torch.randn(*lead, *([1] if lead else []), outputs)

    for index, (a, b) in enumerate(pairs([GATE_LEN, *config["gate"], EXPERTS])):
        layer(f"encoder.gate.{index}", a, b)
    for index, (a, b) in enumerate(pairs([X, *config["experts"], SIZE])):
        layer(f"encoder.experts.{index}", a, b, EXPERTS)
    first = config["decoder"][0]
    layer("decoder.noisy_input", Y, first)
    layer("decoder.condition_input", SIZE, first, bias=False)
    layer("decoder.time_input", CODE, first, bias=False)
    if config["state"]:
        layer("decoder.state_input", X, first, bias=False)
    for index, (a, b) in enumerate(pairs(config["decoder"])):
        layer(f"decoder.hidden.{index}", a, b)
    layer("decoder.output", config["decoder"][-1], Y)
    return {name: value.float().double() for name, value in weights.items()}


def pairs(widths):
    return list(zip(widths, widths[1:]))


def gram_schmidt(outputs):
    """u_k = v_k - sum_m<k (v_k . w_m) w_m, w_k = u_k / |u_k|, times the root of the length: the textbook, row by row."""
    rows = []
    for v in outputs:
        u = v - sum(((v * w).sum(-1, keepdim=True) * w for w in rows), torch.zeros_like(v))
        rows.append(u / u.norm(dim=-1, keepdim=True))
    return torch.stack(rows) * math.sqrt(outputs.shape[-1])


def alpha_bar():
    """The cosine schedule with capped steps (Nichol & Dhariwal, eq. 17)."""
    ideal = lambda n: math.cos((n / STEPS + 0.008) / 1.008 * math.pi / 2) ** 2
    kept = [1.0] + [1 - min(1 - ideal(n) / ideal(n - 1), 0.999) for n in range(1, STEPS + 1)]
    return torch.cumprod(torch.tensor(kept), 0)


def time_code(n):
    time = 1000.0 * n / STEPS
    angles = [time / 10_000 ** (i / (CODE // 2)) for i in range(CODE // 2)]
    return [math.sin(a) for a in angles] + [math.cos(a) for a in angles]


def forward(w, config, x, noisy, n):
    act = config["activation"]
    dense = lambda name, value: value @ w[f"{name}.weight"] + w.get(f"{name}.bias", 0.0)

    gate = x[:, GATE_START : GATE_START + GATE_LEN]
    for index in range(len(config["gate"]) + 1):
        gate = dense(f"encoder.gate.{index}", act(gate) if index else gate)
    alpha = torch.softmax(gate, 1)

    hidden = x[None]
    for index in range(len(config["experts"]) + 1):
        hidden = dense(f"encoder.experts.{index}", act(hidden) if index else hidden)
    conditions = gram_schmidt(hidden)

    codes = torch.tensor([time_code(int(step)) for step in n])
    a = alpha_bar()[n][:, None]
    each = []
    for condition in conditions:
        # One decoder, run for each expert by itself; the blend comes last, as the paper has it.
        parts = [(noisy, "noisy_input"), (condition, "condition_input"), (codes, "time_input")]
        parts += [(x, "state_input")] if config["state"] else []
        z = act(sum(dense(f"decoder.{name}", value) for value, name in parts))
        for index, (before, after) in enumerate(pairs(config["decoder"])):
            step = act(dense(f"decoder.hidden.{index}", z))
            z = z + step if before == after else step
        z = dense("decoder.output", z)
        each.append(a.sqrt() * noisy + (1 - a).sqrt() * z if config["velocity"] else z)
    clean = sum(alpha[:, k : k + 1] * z for k, z in enumerate(each))
    return {"gates": alpha, "conditions": conditions, "clean": clean}


out = {}
x, y, noise = torch.randn(BATCH, X), torch.randn(BATCH, Y), torch.randn(BATCH, Y)
n = torch.tensor([1, 3, 8, 12, 17, 20])
importance = 0.5 + torch.rand(Y)
a = alpha_bar()[n][:, None]
noisy = a.sqrt() * y + (1 - a).sqrt() * noise
x, y, noisy, importance = (value.float().double() for value in (x, y, noisy, importance))
out |= {"x": x, "y": y, "noisy": noisy, "steps": n, "importance": importance, "alpha_bar": alpha_bar()}

for label, config in CONFIGURATIONS.items():
    weights = {name: value.requires_grad_() for name, value in initial_weights(config).items()}
    out |= {f"{label}.initial.{name}": value.detach().clone() for name, value in weights.items()}
    out |= {f"{label}.{name}": value.detach() for name, value in forward(weights, config, x, noisy, n).items()}
    optimizer = torch.optim.AdamW(weights.values(), lr=LEARNING_RATE, weight_decay=DECAY, eps=EPSILON)
    losses = []
    for update in range(UPDATES):
        optimizer.zero_grad()
        loss = (((y - forward(weights, config, x, noisy, n)["clean"]) * importance) ** 2).mean()
        loss.backward()
        losses.append(loss.item())
        if update == 0:
            out |= {f"{label}.gradient.{name}": value.grad.clone() for name, value in weights.items()}
        optimizer.step()
        if update == 0:
            out |= {f"{label}.step.{name}": value.detach().clone() for name, value in weights.items()}
    out[f"{label}.losses"] = torch.tensor(losses)
    print(label, losses)

# Experts that depend on each other or are silent, by the textbook formula with the floor on relative length.
FLOOR = 1e-2
experts = torch.randn(EXPERTS, 3, SIZE)
experts[2, 0] = -1.5 * experts[0, 0]
experts[1, 1] = 0.0
experts[3, 2] = experts[0, 2] + 2.0 * experts[1, 2]
experts = experts.float().double()
rows = []
for v in experts:
    # The length floor of 1e-3 per entry keeps silence silent.
    u = v / torch.sqrt((v**2).sum(-1, keepdim=True) + SIZE * 1e-6)
    for w in rows:
        u = u - (u * w).sum(-1, keepdim=True) * w
    rows.append(u / u.norm(dim=-1, keepdim=True).clamp_min(FLOOR))
out |= {"dependent.experts": experts, "dependent.rows": torch.stack(rows) * math.sqrt(SIZE)}

settings = {
    "learning_rate": LEARNING_RATE,
    "weight_decay": DECAY,
    "epsilon": EPSILON,
    "made_with": f"PyTorch {torch.__version__}",
}
target = Path(__file__).with_suffix(".safetensors")
save_file(
    {name: value.float().contiguous() for name, value in out.items()},
    target,
    {key: str(value) for key, value in settings.items()},
)
print(target.name, target.stat().st_size, "bytes")
