"""Steps the ragdoll of `examples/mjcf` in MuJoCo as `main.rs` asks, and prints what it did as JSON.

python3 agreement.py request.json

The request: the model (XML), steps a frame, and cases. A case has `start` (height of the root above its rest, metres; root velocity, m/s
and rad/s; rates of joints, rad/s), `driven` (whether the drives act) and `frames`, of which each has the targets of driven joints at its
begin and end as rotation vectors, radians. All vectors are in axes with Y up. The answer has for every case the joint positions and the
rotations of the joints (x y z w, relative to the parent) at the end of each frame, and the mean vertical force of the ground on each body
in each, N, with its moment about the origin, N m.
"""

import json
import sys

import mujoco
import numpy as np


def to_z_up(v):
    return np.array([v[2], v[0], v[1]])


def to_y_up(v):
    return [float(v[1]), float(v[2]), float(v[0])]


def rotation_y_up(q):
    """w x y z of MuJoCo as x y z w with Y up."""
    return [*to_y_up(q[1:]), float(q[0])]


def vertical_forces(model, data):
    """Of the ground on each body, N, and each times how far ahead of the origin it acts, N m."""
    forces = np.zeros((2, model.nbody))
    wrench = np.zeros(6)
    for i in range(data.ncon):
        contact = data.contact[i]
        mujoco.mj_contactForce(model, data, i, wrench)
        # Rows of the frame are the axes of the contact, the first of them from the first geometry to the second.
        world = contact.frame.reshape(3, 3).T @ wrench[:3]
        # Ahead is x of MuJoCo's axes.
        forces[:, model.geom_bodyid[contact.geom2]] += world[2] * np.array([1.0, contact.pos[0]])
        forces[:, model.geom_bodyid[contact.geom1]] -= world[2] * np.array([1.0, contact.pos[0]])
    return forces


def run(model, case, steps):
    model.opt.disableflags = 0 if case["driven"] else int(mujoco.mjtDisableBit.mjDSBL_ACTUATION)
    data = mujoco.MjData(model)
    names = [model.body(i).name for i in range(1, model.nbody)]
    start = case["start"]
    data.qpos[2] += start["raised_m"]
    data.qvel[:3] = to_z_up(start["linear_m_s"])
    data.qvel[3:6] = to_z_up(start["angular_rad_s"])
    for name, rate in start["joints_rad_s"].items():
        at = model.joint(name).dofadr[0]
        data.qvel[at : at + 3] = to_z_up(rate)
    answer = {"names": names, "positions": [], "rotations": [], "vertical_n": [], "forward_moment_nm": []}
    for targets in case["frames"]:
        forces = np.zeros((2, model.nbody))
        for step in range(steps):
            for name, (begin, end) in targets.items():
                begin, end = to_z_up(begin), to_z_up(end)
                rate = (end - begin) / (steps * model.opt.timestep)
                # A target that moves: the damping acts on the difference to its velocity.
                for axis in range(3):
                    actuator = actuators(model)[name][axis]
                    stiffness, damping = model.actuator_gainprm[actuator, 0], -model.actuator_biasprm[actuator, 2]
                    target = begin[axis] + (end - begin)[axis] * step / steps
                    data.ctrl[actuator] = target + damping / stiffness * rate[axis]
            mujoco.mj_step(model, data)
            forces += vertical_forces(model, data) / steps
        mujoco.mj_kinematics(model, data)
        answer["positions"].append([to_y_up(data.xpos[i]) for i in range(1, model.nbody)])
        rotations = [rotation_y_up(data.qpos[3:7])]
        for name in names[1:]:
            at = model.joint(name).qposadr[0]
            rotations.append(rotation_y_up(data.qpos[at : at + 4]))
        answer["rotations"].append(rotations)
        answer["vertical_n"].append(forces[0, 1:].tolist())
        answer["forward_moment_nm"].append(forces[1, 1:].tolist())
    return answer


def actuators(model, found={}):
    """Actuators of each joint by axis of MuJoCo."""
    if not found:
        for i in range(model.nu):
            name = model.joint(model.actuator_trnid[i, 0]).name
            axis = [int(v) for v in model.actuator_gear[i, :3]].index(1)
            found.setdefault(name, [None] * 3)[axis] = i
    return found


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        request = json.load(file)
    model = mujoco.MjModel.from_xml_string(request["model"])
    model.opt.timestep = 1.0 / (request["frame_rate_hz"] * request["steps"])
    answers = [run(model, case, request["steps"]) for case in request["cases"]]
    print(json.dumps({"version": mujoco.__version__, "mass_kg": float(sum(model.body_mass)), "cases": answers}))


if __name__ == "__main__":
    main()
