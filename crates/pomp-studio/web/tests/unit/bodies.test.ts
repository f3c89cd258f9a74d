import { describe, expect, test } from "vitest";
import type { Frame, JointInfo, Shape } from "../../src/protocol";
import { bodiesOf, convexHull, footLength, footLoad, supportPoints } from "../../src/view/bodies";

const joints: JointInfo[] = ["Hips", "LeftFoot", "RightToe"].map((name, i) => ({
  name,
  parent: i === 0 ? null : 0,
  offset: [0, 0, 0],
}));
const shapes: Shape[] = [
  {
    capsule: [
      [0, -0.1, 0],
      [0, 0.1, 0],
    ],
    radius: 0.1,
  },
  {
    prism: [
      [0, -0.1],
      [0, 0.2],
      [0.05, 0],
    ],
    from_x: -0.04,
    to_x: 0.04,
  },
  {
    capsule: [
      [0, 0, 0],
      [0, 0, 0.1],
    ],
    radius: 0.02,
  },
];
const bodies = bodiesOf(joints, shapes, ["Hips", "LeftFoot", "RightToe"]);

/** A frame in which the left foot is turned a quarter about the y axis, at x = 1. */
const frame = (impulses: number[]): Frame => ({
  frame: 0,
  positions: new Float32Array([0, 1, 0, 1, 0, 0, -1, 0, 0]),
  rotations: new Float32Array([0, 0, 0, 1, 0, Math.SQRT1_2, 0, Math.SQRT1_2, 0, 0, 0, 1]),
  impulses: new Float32Array(impulses),
});

test("bodies know their sides and whether they are feet", () => {
  expect(bodies.map(({ side, foot }) => [side, foot])).toEqual([
    ["middle", false],
    ["left", true],
    ["right", true],
  ]);
  expect(bodies.map(({ corners }) => corners.length)).toEqual([2, 6, 2]);
});

test("the foot is as long as its corners, and a little longer", () => {
  expect(footLength(bodies)).toBeCloseTo(0.3 * 1.25, 6);
  expect(footLength([])).toBe(0.27);
});

test("the load of a foot is the vertical impulse of its bodies in body weights", () => {
  const load = frame([0, 100, 0, 0, 6, 0, 0, 3, 0]);
  // 6 N·s in a 60th of a second are 360 N.
  expect(footLoad(bodies, load, "left", 720, 60)).toBeCloseTo(0.5, 9);
  expect(footLoad(bodies, load, "right", 720, 60)).toBeCloseTo(0.25, 9);
});

test("a frame without impulses bears nothing", () => {
  const { impulses: _, ...bare } = frame([]);
  expect(footLoad(bodies, bare, "left", 720, 60)).toBe(0);
});

test("what bears a load supports with its corners in the world", () => {
  const points = supportPoints(bodies, frame([0, 0, 0, 0, 6, 0, 0, 0.1, 0]), 1);
  expect(points).toHaveLength(6);
  // A corner at z = 0.2 of the foot lies at x = 1 + 0.2 of the world.
  expect(Math.max(...points.map(([x]) => x))).toBeCloseTo(1.2, 6);
  expect(Math.max(...points.map(([, z]) => z))).toBeCloseTo(0.04, 6);
});

describe("convexHull", () => {
  const area = (hull: [number, number][]): number =>
    hull.reduce((sum, [x, z], i) => {
      const [nextX, nextZ] = hull[(i + 1) % hull.length]!;
      return sum + (x * nextZ - nextX * z) / 2;
    }, 0);

  test("leaves out what lies inside and on the edges, counter-clockwise", () => {
    const hull = convexHull([
      [0, 0],
      [1, 0.5],
      [2, 0],
      [1, 0],
      [2, 1],
      [0, 1],
      [0.3, 0.9],
    ]);
    expect(hull).toHaveLength(4);
    expect(area(hull)).toBeCloseTo(2, 9);
  });

  test("two points are their own hull", () => {
    expect(
      convexHull([
        [0, 0],
        [1, 1],
      ]),
    ).toEqual([
      [0, 0],
      [1, 1],
    ]);
  });
});
