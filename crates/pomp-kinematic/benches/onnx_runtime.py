"""One frame of the kinematic module in ONNX Runtime on one thread, with random weights: the peer of `cargo bench`.

The graph is what the packed path computes: eight experts, Gram-Schmidt, the shared decoder with the condition's share
computed once per frame, and the reverse steps; the gate runs all experts, so that both do the same work.

    pip install numpy onnx onnxruntime && python onnx_runtime.py
"""

import sys
import time

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

X, Y, GATE, EXPERTS = 660, 480, 130, 8
SIZES = {
    "compact": dict(experts=[192], condition=192, gate=[64], decoder=[512, 512], time=32),
    "paper": dict(experts=[512, 512], condition=1024, gate=[128, 128], decoder=[1024, 1024, 1024], time=64),
}


class Graph:
    def __init__(self):
        self.nodes, self.weights, self.count = [], [], 0
        self.random = np.random.default_rng(1)

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

    def normal(self, *shape):
        return self.constant((self.random.standard_normal(shape) / np.sqrt(shape[-2])).astype(np.float32))

    def dense(self, value, *shape, bias=True):
        product = self.add("MatMul", value, self.normal(*shape))
        zeros = np.zeros((*shape[:-2], 1, shape[-1]), np.float32)
        return self.add("Add", product, self.constant(zeros)) if bias else product

    def silu(self, value):
        return self.add("Mul", value, self.add("Sigmoid", value))


def frame(size, steps):
    g = Graph()
    axis = lambda *values: g.constant(np.array(values, np.int64))
    gate = g.add("Slice", "x", axis(0), axis(GATE), axis(1))
    for index, (a, b) in enumerate(pairs([GATE, *size["gate"], EXPERTS])):
        gate = g.dense(g.silu(gate) if index else gate, a, b)
    alpha = g.add("Transpose", g.add("Softmax", gate, axis=1), perm=[1, 0])
    alpha = g.add("Unsqueeze", alpha, axis(2))

    hidden = g.add("Unsqueeze", "x", axis(0))
    for index, (a, b) in enumerate(pairs([X, *size["experts"], size["condition"]])):
        hidden = g.dense(g.silu(hidden) if index else hidden, EXPERTS, a, b)
    rest, rows = g.add("LpNormalization", hidden, axis=2, p=2), []
    for k in range(EXPERTS):
        row = g.add("LpNormalization", g.add("Slice", rest, axis(0), axis(1), axis(0)), axis=2, p=2)
        rows.append(row)
        if k + 1 < EXPERTS:
            later = g.add("Slice", rest, axis(1), axis(EXPERTS - k), axis(0))
            share = g.add("ReduceSum", g.add("Mul", later, row), axis(2), keepdims=1)
            rest = g.add("Sub", later, g.add("Mul", share, row))
    scale = g.constant(np.float32(np.sqrt(size["condition"])))
    conditions = g.add("Mul", g.add("Concat", *rows, axis=0), scale)

    first = size["decoder"][0]
    share = g.dense(conditions, size["condition"], first, bias=False)
    weights = {"noisy": g.normal(Y, first), "bias": g.constant(np.zeros((1, first), np.float32))}
    layers = [(g.normal(a, b), g.constant(np.zeros((1, b), np.float32)), a == b) for a, b in pairs(size["decoder"])]
    out, out_bias = g.normal(size["decoder"][-1], Y), g.constant(np.zeros((1, Y), np.float32))
    y = "noise"
    for step in range(steps):
        common = g.add("Add", g.add("MatMul", y, weights["noisy"]), weights["bias"])
        # The code of n is known beforehand; its share of the first layer is one row.
        common = g.add("Add", common, g.normal(1, first))
        hidden = g.silu(g.add("Add", share, common))
        for weight, bias, residual in layers:
            after = g.silu(g.add("Add", g.add("MatMul", hidden, weight), bias))
            hidden = g.add("Add", hidden, after) if residual else after
        blend = g.add("ReduceSum", g.add("Mul", hidden, alpha), axis(0), keepdims=0)
        clean = g.add("Add", g.add("MatMul", blend, out), out_bias)
        half = g.constant(np.float32(0.5))
        y = g.add("Add", g.add("Mul", clean, half), g.add("Mul", y, half)) if step + 1 < steps else clean
    value = lambda name, columns: helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, columns])
    graph = helper.make_graph(g.nodes, "frame", [value("x", X), value("noise", Y)], [value(y, Y)], g.weights)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    onnx.checker.check_model(model)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    return onnxruntime.InferenceSession(model.SerializeToString(), options, ["CPUExecutionProvider"])


def pairs(widths):
    return list(zip(widths, widths[1:]))


def main():
    random = np.random.default_rng(2)
    x, noise = random.standard_normal((1, X), np.float32), random.standard_normal((1, Y), np.float32)
    for name, size in SIZES.items():
        for steps in [1, 4]:
            session = frame(size, steps)
            times = []
            for _ in range(int(sys.argv[1]) if len(sys.argv) > 1 else 300):
                begun = time.perf_counter()
                session.run(None, {"x": x, "noise": noise})
                times.append(1e3 * (time.perf_counter() - begun))
            times.sort()
            print(f"{name}, {steps} steps: fastest {times[0]:.3f} ms, median {times[len(times) // 2]:.3f} ms", flush=True)


main()
