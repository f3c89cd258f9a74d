import { expect, test } from "vitest";
import type { Vec3 } from "../../src/protocol";
import { inWorld, throwVelocity } from "../../src/view/direction";

test("a camera that looks along +Z walks ahead to +Z and right to -X", () => {
  expect(inWorld(0, 1, 0)).toEqual([0, 1]);
  expect(inWorld(1, 0, 0)).toEqual([-1, 0]);
});

test("a quarter turn of the camera turns both by a quarter", () => {
  const close = ([x, z]: [number, number], [wantedX, wantedZ]: [number, number]): void => {
    expect(x).toBeCloseTo(wantedX, 9);
    expect(z).toBeCloseTo(wantedZ, 9);
  };
  close(inWorld(0, 1, Math.PI / 2), [1, 0]);
  close(inWorld(1, 0, Math.PI / 2), [0, 1]);
});

test("a wish keeps its length", () => {
  expect(Math.hypot(...inWorld(0.3, -0.4, 1.234))).toBeCloseTo(0.5, 9);
});

/** Where a ball is after some seconds. */
const flown = (from: Vec3, velocity: Vec3, seconds: number): number[] =>
  from.map((value, k) => value + velocity[k]! * seconds - (k === 1 ? 0.5 * 9.81 * seconds ** 2 : 0));

test("a box that is thrown hits what it is aimed at", () => {
  const [from, to]: [Vec3, Vec3] = [
    [0.4, 1.2, -3],
    [1, 1.4, 0.5],
  ];
  const way = Math.hypot(0.6, 0.2, 3.5);
  const at = flown(from, throwVelocity(from, to, 9, 0.8), way / 9);
  for (const k of [0, 1, 2]) expect(at[k]).toBeCloseTo(to[k]!, 9);
});

test("a slow box flies no longer than it may, and hits all the same", () => {
  const [from, to]: [Vec3, Vec3] = [
    [0, 1, -8],
    [0, 1, 0],
  ];
  const at = flown(from, throwVelocity(from, to, 4, 0.8), 0.8);
  for (const k of [0, 1, 2]) expect(at[k]).toBeCloseTo(to[k]!, 9);
});
