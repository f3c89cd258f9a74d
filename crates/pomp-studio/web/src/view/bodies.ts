// Bodies of the ragdoll: which are feet, where they touch the ground, where their masses lie.
import { Quaternion, Vector3 } from "three";
import type { Frame, JointInfo, Shape } from "../protocol";

export interface Body {
  joint: number;
  name: string;
  side: "left" | "right" | "middle";
  foot: boolean;
  /** Points that may touch the ground, in the joint's frame. */
  corners: Vector3[];
}

/** Bodies in the order of their impulses. */
export function bodiesOf(joints: JointInfo[], shapes: Shape[], names: string[]): Body[] {
  return names.map((name) => {
    const joint = joints.findIndex((candidate) => candidate.name === name);
    const side = name.startsWith("Left") ? "left" : name.startsWith("Right") ? "right" : "middle";
    const shape = shapes[joint];
    const corners: Vector3[] = [];
    if (shape && "prism" in shape) {
      for (const [y, z] of shape.prism) {
        corners.push(new Vector3(shape.from_x, y, z), new Vector3(shape.to_x, y, z));
      }
    } else if (shape) {
      corners.push(...shape.capsule.map((end) => new Vector3(...end)));
    } else {
      corners.push(new Vector3());
    }
    return { joint: Math.max(joint, 0), name, side, foot: /Foot$|Toe$/.test(name), corners };
  });
}

export function footLength(bodies: Body[]): number {
  const foot = bodies.filter((body) => body.foot && body.side === "left").flatMap((body) => body.corners);
  const z = foot.map((corner) => corner.z);
  return foot.length > 0 ? Math.max(Math.max(...z) - Math.min(...z), 0.1) * 1.25 : 0.27;
}

/** Ground points (x, z) of all bodies that bear more than `least` N·s upwards. */
export function supportPoints(bodies: Body[], frame: Frame, least: number): [number, number][] {
  const points: [number, number][] = [];
  bodies.forEach((body, b) => {
    if (frame.impulses![3 * b + 1]! < least) return;
    const at = new Vector3().fromArray(frame.positions, 3 * body.joint);
    const turn = new Quaternion().fromArray(frame.rotations, 4 * body.joint);
    for (const corner of body.corners) {
      const p = corner.clone().applyQuaternion(turn).add(at);
      points.push([p.x, p.z]);
    }
  });
  return points;
}

/** Convex hull of points in the plane, counter-clockwise (Andrew's monotone chain). */
export function convexHull(points: [number, number][]): [number, number][] {
  if (points.length < 3) return points;
  const sorted = [...points].sort((a, b) => a[0] - b[0] || a[1] - b[1]);
  const half = (list: [number, number][]): [number, number][] => {
    const out: [number, number][] = [];
    for (const p of list) {
      while (out.length > 1) {
        const [a, b] = [out[out.length - 2]!, out[out.length - 1]!];
        if ((b[0] - a[0]) * (p[1] - a[1]) - (b[1] - a[1]) * (p[0] - a[0]) > 1e-9) break;
        out.pop();
      }
      out.push(p);
    }
    out.pop();
    return out;
  };
  return [...half(sorted), ...half(sorted.reverse())];
}

/** Vertical impulse of a foot's bodies, body weights. */
export function footLoad(bodies: Body[], frame: Frame, side: "left" | "right", weight: number, rate: number): number {
  if (!frame.impulses) return 0;
  let sum = 0;
  bodies.forEach((body, b) => {
    if (body.foot && body.side === side) sum += frame.impulses![3 * b + 1]!;
  });
  return (sum * rate) / weight;
}
