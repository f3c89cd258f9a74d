"""The stepper of learned motion matching over four frames, and a network of three hidden layers, in double precision, by Python alone:
writes learned.json beside this file."""

import json
import math
import pathlib
import random

random.seed(7)
ENTRY, HIDDEN, QUERY, FRAMES = 6, 9, 4, 4


def layer(inputs, outputs):
    weight = [[round(random.gauss(0, 1 / math.sqrt(inputs)), 5) for _ in range(outputs)] for _ in range(inputs)]
    return weight, [round(random.gauss(0, 0.1), 5) for _ in range(outputs)]


def run(layers, values):
    for index, (weight, bias) in enumerate(layers):
        values = [b + sum(v * row[at] for v, row in zip(values, weight)) for at, b in enumerate(bias)]
        if index + 1 < len(layers):
            values = [v if v > 0 else math.expm1(v) for v in values]
    return values


def described(layers):
    return [
        {"shape": [1, len(weight), len(bias)], "weight": [v for row in weight for v in row], "bias": bias}
        for weight, bias in layers
    ]


stepper = [layer(ENTRY, HIDDEN), layer(HIDDEN, HIDDEN), layer(HIDDEN, ENTRY)]
mean = [round(random.gauss(0, 0.05), 5) for _ in range(ENTRY)]
deviation = [round(random.uniform(0.05, 0.3), 5) for _ in range(ENTRY)]
entries = [[round(random.gauss(0, 1), 5) for _ in range(ENTRY)]]
for _ in range(FRAMES):
    change = run(stepper, entries[-1])
    entries.append([e + c * d + m for e, c, d, m in zip(entries[-1], change, deviation, mean)])

projector = [layer(QUERY, HIDDEN), layer(HIDDEN, HIDDEN), layer(HIDDEN, HIDDEN), layer(HIDDEN, ENTRY)]
query = [round(random.gauss(0, 1), 5) for _ in range(QUERY)]
fixture = {
    "stepper": described(stepper),
    "mean": mean,
    "deviation": deviation,
    "entries": entries,
    "projector": described(projector),
    "query": query,
    "projected": run(projector, query),
}
pathlib.Path(__file__).with_name("learned.json").write_text(json.dumps(fixture) + "\n")
