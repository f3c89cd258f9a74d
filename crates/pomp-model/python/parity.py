"""Compares pomp_model.py with values that the program has written: `python parity.py FOLDER VALUES`, as tests/python.rs runs it.

VALUES is JSON: inputs and outputs of every network, each with its shape, row by row.
"""

import json
import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))
from pomp_model import Model

# Both compute in single precision, each in its own order; the largest values are of the order of 1.
TOLERANCE = 2e-4


def main():
    folder, path = sys.argv[1:]
    values = {name: np.array(v["values"]).reshape(v["shape"]) for name, v in json.loads(Path(path).read_text()).items()}
    model = Model(folder)
    found = {}
    for name, encoder in [("clean", model.phase_encoder), ("aligned", model.aligned_encoder)]:
        found |= {f"{name}.{key}": value for key, value in encoder(values["windows"]).items()}
    parameters = {key: values[f"clean.{key}"] for key in ("amplitude", "frequency_hz", "offset", "shift_xy")}
    found["velocities"] = model.phase_decoder(parameters)
    encoded = model.kinematic.encode(values["x"])
    found["conditions"], found["shares"] = encoded
    found["clean"] = model.kinematic.denoise(values["x"], encoded, values["noisy"], values["steps"].astype(int))
    for name, value in found.items():
        worst = np.abs(value - values[name]).max() / max(1.0, np.abs(values[name]).max())
        print(f"{name} {list(value.shape)}: largest difference {worst:.1e}")
        assert worst < TOLERANCE, name


main()
