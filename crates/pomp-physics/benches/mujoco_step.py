"""Steps the ragdoll of `examples/mjcf.rs` in MuJoCo (pip install mujoco), to be timed beside `cargo bench -p pomp-physics`.

python3 benches/mujoco_step.py humanoid.xml

Standing: drives hold the rest pose. Swaying: hips, knees and ankles follow sines, as in `benches/step.rs`. Prints the median of seven
runs of 600 frames with 1, 4 and 16 steps a frame, and how often MuJoCo reset a state that was not finite any more: its drives are
explicit in stiffness, and those of the ragdoll need a step of about a millisecond.
"""

import math
import os
import statistics
import sys
import tempfile
import time

import mujoco

FRAMES = 600
RATE_HZ = 60.0


def targets(model, sway):
    """Which actuators sway, with amplitude and phase."""
    found = {}
    for i in range(model.nu):
        joint = model.joint(model.actuator_trnid[i, 0]).name
        axis = [int(v) for v in model.actuator_gear[i, :3]].index(1)
        # Axis 1 of MuJoCo's frame is x of ours: flexion.
        if axis == 1 and sway and joint in sway:
            found[i] = sway[joint]
    return found


def run(model, steps, sway):
    model.opt.timestep = 1.0 / (RATE_HZ * steps)
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    moving = targets(model, sway)
    # A hand on the pelvis, as the external root assist is: it keeps the body up in both programs.
    root = model.body("Hips").id
    start = data.xpos[root].copy()
    weight = sum(model.body_mass) * 9.81
    begun = time.perf_counter()
    for frame in range(FRAMES):
        t = frame / RATE_HZ
        for i, amplitude in moving.items():
            data.ctrl[i] = amplitude * math.sin(2.0 * math.pi * 0.5 * t)
        data.xfrc_applied[root, :2] = 5.0 * weight * (start - data.xpos[root])[:2] - 1000.0 * data.qvel[:2]
        data.xfrc_applied[root, 3:6] = -12.0 * weight * 0.1 * data.qvel[3:6]
        mujoco.mj_step(model, data, nstep=steps)
    seconds = time.perf_counter() - begun
    resets = data.warning[mujoco.mjtWarning.mjWARN_BADQACC].number
    return seconds / FRAMES * 1e6, resets, data.ncon, float(data.xpos[root][2])


def main():
    model = mujoco.MjModel.from_xml_path(sys.argv[1])
    print(f"MuJoCo {mujoco.__version__}: {model.nv} degrees of freedom, {sum(model.body_mass):.2f} kg")
    sway = {"LeftUpLeg": -0.2, "RightUpLeg": -0.2, "LeftLeg": 0.4, "RightLeg": 0.4, "LeftFoot": -0.2, "RightFoot": -0.2}
    for name, moving in (("stand", {}), ("sway", sway)):
        for steps in (1, 4, 16):
            runs = [run(model, steps, moving) for _ in range(7)]
            micros = statistics.median(r[0] for r in runs)
            _, resets, contacts, height = runs[-1]
            print(
                f"{name}, {steps} steps a frame: {micros:.1f} us a frame, {micros / steps:.1f} us a step; "
                f"{resets} states reset, {contacts} contacts, pelvis at {height:.2f} m"
            )


if __name__ == "__main__":
    sys.argv[1:] = [os.path.abspath(path) for path in sys.argv[1:]]
    # MuJoCo writes its warnings to MUJOCO_LOG.TXT of the working directory.
    with tempfile.TemporaryDirectory() as scratch:
        os.chdir(scratch)
        main()
        os.chdir("/")
