import { expect, test } from "vitest";
import { between } from "../../src/interpolate";
import type { Frame } from "../../src/protocol";

const turned = (angle: number): number[] => [0, Math.sin(angle / 2), 0, Math.cos(angle / 2)];
const frame = (index: number, positions: number[], rotations: number[]): Frame => ({
  frame: index,
  positions: new Float32Array(positions),
  rotations: new Float32Array(rotations),
});

test("positions lie on the line between both frames", () => {
  const mixed = between(frame(3, [0, 2, 4], turned(0)), frame(4, [1, 2, 0], turned(0)), 0.25);
  expect([...mixed.positions]).toEqual([0.25, 2, 3]);
  expect(mixed.frame).toBe(4);
});

test("a rotation between two is half as far and of length 1", () => {
  const mixed = between(frame(0, [0, 0, 0], turned(0.4)), frame(1, [0, 0, 0], turned(1.2)), 0.5);
  turned(0.8).forEach((value, i) => {
    expect(mixed.rotations[i]).toBeCloseTo(value, 6);
  });
});

test("the sign of a quaternion changes nothing", () => {
  const flipped = turned(1.2).map((value) => -value);
  const mixed = between(frame(0, [0, 0, 0], turned(0.4)), frame(1, [0, 0, 0], flipped), 0.5);
  const same = between(frame(0, [0, 0, 0], turned(0.4)), frame(1, [0, 0, 0], turned(1.2)), 0.5);
  const dot = mixed.rotations.reduce((sum, value, i) => sum + value * same.rotations[i]!, 0);
  expect(Math.abs(dot)).toBeCloseTo(1, 6);
});

test("every joint is mixed by itself", () => {
  const a = frame(0, [0, 0, 0, 5, 5, 5], [...turned(0), ...turned(1)]);
  const b = frame(1, [1, 1, 1, 7, 7, 7], [...turned(0.2), ...turned(-1)]);
  const mixed = between(a, b, 0.5);
  expect([...mixed.positions]).toEqual([0.5, 0.5, 0.5, 6, 6, 6]);
  expect(mixed.rotations[1]).toBeCloseTo(Math.sin(0.05), 6);
  expect(mixed.rotations[5]).toBeCloseTo(0, 6);
});

test("at both ends it is the frame itself", () => {
  const [a, b] = [frame(0, [1, 2, 3], turned(0.3)), frame(1, [3, 2, 1], turned(0.9))];
  for (const [share, whole] of [
    [0, a],
    [1, b],
  ] as const) {
    const mixed = between(a, b, share);
    expect([...mixed.positions]).toEqual([...whole.positions]);
    whole.rotations.forEach((value, i) => {
      expect(mixed.rotations[i]).toBeCloseTo(value, 6);
    });
  }
});
