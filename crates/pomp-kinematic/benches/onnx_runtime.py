"""One frame of the kinematic module in ONNX Runtime on one thread beside `frame` of kinematic.rs: the same network, the same work.

The graph is what the packed path computes: eight experts, Gram-Schmidt, the shared decoder with the condition's share computed
once per frame, and the reverse steps; no expert is skipped. It is made from weights under the names of docs/weights.md, and first
held to what `pomp_model.py` computes from them, with the embedded model's and with random ones. Each round runs one after the other, so
that a machine that grows slower slows both:

    pip install numpy onnx onnxruntime && python onnx_runtime.py 5 cargo bench -p pomp-kinematic --bench kinematic --
"""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

REPOSITORY = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(REPOSITORY / "crates/pomp-model/python"))
from pomp_model import KinematicModule, Model  # noqa: E402

X, Y, EXPERTS = 660, 480, 8
COMMON = dict(
    input_size=X,
    output_size=Y,
    gate_input=dict(start=0, len=130),
    experts=EXPERTS,
    activation="silu",
    conditioning="experts",
    prediction="clean",
    independence=1e-2,
)
SIZES = {
    "compact": dict(
        expert_hidden=[192], condition_size=192, gate_hidden=[64], decoder_hidden=[512, 512], diffusion_steps=50, time_embedding=32
    ),
    "paper": dict(
        expert_hidden=[512, 512],
        condition_size=1024,
        gate_hidden=[128, 128],
        decoder_hidden=[1024, 1024, 1024],
        diffusion_steps=100,
        time_embedding=64,
    ),
}
STEPS, FRAMES, WARM_UP = [1, 4], 100, 10
# What a reverse step makes of the clean y and of the noisy one; which numbers they are changes no time.
KEPT = 0.5


def pairs(widths):
    return list(zip(widths, widths[1:]))


def module_of(config):
    """A module with random weights of half precision."""
    random, weights = np.random.default_rng(1), {}

    def dense(name, *shape, bias=True):
        value = random.standard_normal(shape) / np.sqrt(shape[-2])
        weights[f"{name}.weight"] = value.astype(np.float16).astype(np.float32)
        if bias:
            weights[f"{name}.bias"] = np.zeros((*shape[:-2], 1, shape[-1]) if len(shape) > 2 else shape[-1:], np.float32)

    for index, pair in enumerate(pairs([config["gate_input"]["len"], *config["gate_hidden"], EXPERTS])):
        dense(f"encoder.gate.{index}", *pair)
    for index, pair in enumerate(pairs([X, *config["expert_hidden"], config["condition_size"]])):
        dense(f"encoder.experts.{index}", EXPERTS, *pair)
    first = config["decoder_hidden"][0]
    dense("decoder.noisy_input", Y, first)
    dense("decoder.condition_input", config["condition_size"], first, bias=False)
    dense("decoder.time_input", config["time_embedding"], first, bias=False)
    for index, pair in enumerate(pairs(config["decoder_hidden"])):
        dense(f"decoder.hidden.{index}", *pair)
    dense("decoder.output", config["decoder_hidden"][-1], Y)
    return KinematicModule(weights, config)


def steps_of(module, steps):
    """The diffusion steps n that a frame goes through."""
    return np.linspace(module.config["diffusion_steps"], 1, steps).round().astype(int)


def in_numpy(module, x, noise, steps):
    encoded, y = module.encode(x), noise
    for index, n in enumerate(steps_of(module, steps)):
        clean = module.denoise(x, encoded, y, [n])
        y = KEPT * clean + KEPT * y if index + 1 < steps else clean
    return y


class Graph:
    def __init__(self):
        self.nodes, self.weights, self.count = [], [], 0

    def constant(self, value):
        self.count += 1
        name = f"c{self.count}"
        self.weights.append(numpy_helper.from_array(np.asarray(value), name))
        return name

    def add(self, operator, *inputs, **attributes):
        self.count += 1
        name = f"v{self.count}"
        self.nodes.append(helper.make_node(operator, list(inputs), [name], **attributes))
        return name

    def silu(self, value):
        return self.add("Mul", value, self.add("Sigmoid", value))


def in_onnx_runtime(module, steps):
    g, config, w = Graph(), module.config, module.w
    axis = lambda *values: g.constant(np.array(values, np.int64))
    weight = {name: g.constant(value.astype(np.float32)) for name, value in w.items() if "time_input" not in name}

    def dense(name, value):
        product = g.add("MatMul", value, weight[f"{name}.weight"])
        return g.add("Add", product, weight[f"{name}.bias"]) if f"{name}.bias" in weight else product

    place = config["gate_input"]
    gate = g.add("Slice", "x", axis(place["start"]), axis(place["start"] + place["len"]), axis(1))
    for index in range(len(config["gate_hidden"]) + 1):
        gate = dense(f"encoder.gate.{index}", g.silu(gate) if index else gate)
    alpha = g.add("Unsqueeze", g.add("Transpose", g.add("Softmax", gate, axis=1), perm=[1, 0]), axis(2))

    hidden = g.add("Unsqueeze", "x", axis(0))
    for index in range(len(config["expert_hidden"]) + 1):
        hidden = dense(f"encoder.experts.{index}", g.silu(hidden) if index else hidden)
    rest, rows = g.add("LpNormalization", hidden, axis=2, p=2), []
    for k in range(EXPERTS):
        row = g.add("LpNormalization", g.add("Slice", rest, axis(0), axis(1), axis(0)), axis=2, p=2)
        rows.append(row)
        if k + 1 < EXPERTS:
            later = g.add("Slice", rest, axis(1), axis(EXPERTS - k), axis(0))
            share = g.add("ReduceSum", g.add("Mul", later, row), axis(2), keepdims=1)
            rest = g.add("Sub", later, g.add("Mul", share, row))
    scale = g.constant(np.float32(np.sqrt(config["condition_size"])))
    share = dense("decoder.condition_input", g.add("Mul", g.add("Concat", *rows, axis=0), scale))

    y = "noise"
    half = config["time_embedding"] // 2
    for index, n in enumerate(steps_of(module, steps)):
        # The code of n is known beforehand; its share of the first layer is one row.
        angles = 1000 * n / config["diffusion_steps"] * 10_000.0 ** (-np.arange(half) / half)
        code = np.concatenate([np.sin(angles), np.cos(angles)])[None]
        time_share = g.constant((code @ w["decoder.time_input.weight"]).astype(np.float32))
        common = g.add("Add", dense("decoder.noisy_input", y), time_share)
        hidden = g.silu(g.add("Add", share, common))
        for layer, (before, after) in enumerate(pairs(config["decoder_hidden"])):
            next_hidden = g.silu(dense(f"decoder.hidden.{layer}", hidden))
            hidden = g.add("Add", hidden, next_hidden) if before == after else next_hidden
        blend = g.add("ReduceSum", g.add("Mul", hidden, alpha), axis(0), keepdims=0)
        clean = dense("decoder.output", blend)
        if index + 1 < steps:
            kept = g.constant(np.float32(KEPT))
            clean = g.add("Add", g.add("Mul", clean, kept), g.add("Mul", y, kept))
        y = clean
    value = lambda name, columns: helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, columns])
    inputs = [value("x", config["input_size"]), value("noise", config["output_size"])]
    graph = helper.make_graph(g.nodes, "frame", inputs, [value(y, config["output_size"])], g.weights)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    onnx.checker.check_model(model)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, ["CPUExecutionProvider"])
    return lambda x, noise: session.run(None, {"x": x, "noise": noise})[0]


def inputs_of(module):
    random = np.random.default_rng(2)
    sizes = module.config["input_size"], module.config["output_size"]
    return [random.standard_normal((1, size), np.float32) for size in sizes]


def check(name, module):
    """ONNX Runtime and numpy give the same frame."""
    x, noise = inputs_of(module)
    for steps in STEPS:
        difference = np.abs(in_onnx_runtime(module, steps)(x, noise) - in_numpy(module, x, noise, steps)).max()
        print(f"{name}, {steps} steps: ONNX Runtime and numpy differ by {difference:.1e} at most", flush=True)
        assert difference < 1e-3


def onnx_runtime_ms(run, x, noise):
    times = []
    for _ in range(WARM_UP + FRAMES):
        begun = time.perf_counter()
        run(x, noise)
        times.append(1e3 * (time.perf_counter() - begun))
    times = sorted(times[WARM_UP:])
    return times[len(times) // 2]


def main():
    rounds, command = int(sys.argv[1]), sys.argv[2:]
    print(f"ONNX Runtime {onnxruntime.__version__}, one thread", flush=True)
    check("embedded model", Model(REPOSITORY / "data/models/compact").kinematic)
    modules = {name: module_of(COMMON | size) for name, size in SIZES.items()}
    for name, module in modules.items():
        check(name, module)
    target = Path(os.environ.get("CARGO_TARGET_DIR", "target"))
    ratios = {}
    for _ in range(rounds):
        for name, module in modules.items():
            for steps in STEPS:
                wanted = f"frame/{name}/{steps}"
                # Only this one: its peer is timed right after it.
                quiet = dict(stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
                subprocess.run([*command, f"^{wanted}$"], check=True, **quiet)
                estimates = target / "criterion" / wanted / "new/estimates.json"
                ours = json.loads(estimates.read_text())["median"]["point_estimate"] / 1e6
                theirs = onnx_runtime_ms(in_onnx_runtime(module, steps), *inputs_of(module))
                ratios.setdefault(wanted, []).append(ours / theirs)
                print(f"{wanted}: ours {ours:.3f} ms, ONNX Runtime {theirs:.3f} ms, {ours / theirs:.2f} of its time", flush=True)
    for wanted, found in ratios.items():
        print(f"{wanted}: median {sorted(found)[len(found) // 2]:.2f} of ONNX Runtime's time")


main()
