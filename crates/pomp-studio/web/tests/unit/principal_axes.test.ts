import { describe, expect, test } from "vitest";
import { scaleWith } from "../../src/panels/dials";
import { along, nearestTo, principalAxes } from "../../src/panels/principal_axes";

/** An ellipse with half axes 3 and 1 in a plane of five dimensions, away from the origin. */
const ellipse = Array.from({ length: 360 }, (_, i) => {
  const angle = (i * Math.PI) / 180;
  const [u, v] = [3 * Math.cos(angle), Math.sin(angle)];
  return new Float32Array([1 + 0.6 * u, 2, -1 + 0.8 * u, 0.5 + v, 4]);
});

describe("principalAxes", () => {
  const found = principalAxes(ellipse)!;

  test("finds the plane of an ellipse, the long axis first", () => {
    expect(found.share).toBeCloseTo(1, 6);
    const [first, second] = found.axes;
    expect(Math.abs(0.6 * first[0]! + 0.8 * first[2]!)).toBeCloseTo(1, 6);
    expect(Math.abs(second[3]!)).toBeCloseTo(1, 6);
    [1, 2, -1, 0.5, 4].forEach((value, i) => {
      expect(found.mean[i]).toBeCloseTo(value, 5);
    });
  });

  test("codes along the axes are the ellipse again", () => {
    for (const code of ellipse) {
      const [x, y] = along(code, found);
      expect((x / 3) ** 2 + y ** 2).toBeCloseTo(1, 4);
    }
  });

  test("begun from other axes it keeps their signs", () => {
    const mirrored = { ...found, axes: found.axes.map((axis) => axis.map((v) => -v)) as typeof found.axes };
    const again = principalAxes(ellipse, mirrored)!;
    again.axes.forEach((axis, k) => {
      axis.forEach((value, i) => {
        expect(value).toBeCloseTo(-found.axes[k]![i]!, 5);
      });
    });
  });

  test("a third direction takes its share", () => {
    const thick = ellipse.map((code, i) => code.map((value, k) => (k === 4 ? value + (i % 2 === 0 ? 1 : -1) : value)));
    // Variances 4.5, 0.5 and 1.
    expect(principalAxes(thick)!.share).toBeCloseTo(5.5 / 6, 3);
  });

  test("codes on a line, or on a point, have no two axes", () => {
    expect(principalAxes([1, 2, 3].map((t) => new Float32Array([t, 0, 0])))).toBeUndefined();
    expect(principalAxes([1, 2, 3].map(() => new Float32Array([1, 2])))).toBeUndefined();
    expect(principalAxes([])).toBeUndefined();
  });
});

test("the nearest point, where heights count more", () => {
  const points: [number, number][] = [
    [0, 0],
    [1, 0],
    [0, 0.6],
  ];
  expect(nearestTo([0.2, 0.4], points)).toBe(2);
  expect(nearestTo([0.45, 0.35], points, 1)).toBe(2);
  expect(nearestTo([0.45, 0.31], points, 3)).toBe(2);
  expect(nearestTo([0.9, 0.1], points)).toBe(1);
});

describe("scaleWith", () => {
  test("a larger amplitude is taken at once, a smaller one fades in", () => {
    expect(scaleWith([], new Float32Array([3, 4, 0, 0]))).toEqual([5, 1e-3]);
    expect(scaleWith([5, 5], new Float32Array([6, 8, 0, 1]))).toEqual([10, 5 * 0.9995]);
  });
});
