import { describe, expect, test } from "vitest";
import type { TerrainGrid } from "../../src/protocol";
import { applyPatch, heightAt, meetsGround } from "../../src/view/grid";

/** A grid of heights that a function of x and z gives. */
function grid(height: (x: number, z: number) => number): TerrainGrid {
  const [rows, columns, cell, origin] = [5, 7, 0.5, [-1, 2] as [number, number]];
  const heights = new Float32Array(rows * columns);
  for (let i = 0; i < rows; i++) {
    for (let j = 0; j < columns; j++) heights[i * columns + j] = height(origin[0] + j * cell, origin[1] + i * cell);
  }
  return { rows, columns, origin, cell_m: cell, heights };
}

describe("heightAt", () => {
  const plane = (x: number, z: number): number => 0.5 * x - 0.25 * z + 1;

  test("a plane is met everywhere, on the points and between them", () => {
    for (const [x, z] of [
      [-1, 2],
      [2, 4],
      [0.1, 2.9],
      [1.99, 3.01],
    ] as const) {
      expect(heightAt(grid(plane), x, z)).toBeCloseTo(plane(x, z), 6);
    }
  });

  test("a cell is bilinear", () => {
    expect(
      heightAt(
        grid((x, z) => x * z),
        0.25,
        2.25,
      ),
    ).toBeCloseTo(0.25 * 2.25, 6);
  });

  test("beyond the edge the height of the edge goes on", () => {
    expect(heightAt(grid(plane), -50, 3)).toBeCloseTo(plane(-1, 3), 6);
    expect(heightAt(grid(plane), 1, 99)).toBeCloseTo(plane(1, 4), 6);
  });
});

describe("applyPatch", () => {
  const patch = (row: number, column: number) => ({
    row,
    column,
    rows: 2,
    columns: 3,
    heights: new Float32Array([1, 2, 3, 4, 5, 6]),
  });

  test("changes its rows and columns and nothing else", () => {
    const level = grid(() => 0);
    expect(applyPatch(level, patch(1, 2))).toBe(true);
    expect([...level.heights.subarray(7, 14)]).toEqual([0, 0, 1, 2, 3, 0, 0]);
    expect([...level.heights.subarray(14, 21)]).toEqual([0, 0, 4, 5, 6, 0, 0]);
    expect(level.heights.reduce((sum, height) => sum + height, 0)).toBe(21);
  });

  test("fits to the last corner", () => {
    const level = grid(() => 0);
    expect(applyPatch(level, patch(3, 4))).toBe(true);
    expect(level.heights.at(-1)).toBe(6);
  });

  test.each([
    [4, 0],
    [0, 5],
  ])("rejects_a_patch_over_the_edge at row %i, column %i", (row, column) => {
    const level = grid(() => 0);
    expect(applyPatch(level, patch(row, column))).toBe(false);
    expect(level.heights.every((height) => height === 0)).toBe(true);
  });
});

describe("meetsGround", () => {
  const down = { x: 0, y: -Math.SQRT1_2, z: Math.SQRT1_2 };

  test("a ray meets level ground where geometry says", () => {
    expect(meetsGround({ x: 0, y: 1.5, z: 0 }, down, 40, () => 0)).toBeCloseTo(1.5 * Math.SQRT2, 3);
  });

  test("a hill is met before the ground behind it", () => {
    const hill = (_: number, z: number): number => (z > 1 && z < 2 ? 0.6 : 0);
    const t = meetsGround({ x: 0, y: 1.5, z: 0 }, down, 40, hill)!;
    expect(t * Math.SQRT1_2).toBeGreaterThan(0.85);
    expect(t * Math.SQRT1_2).toBeLessThan(1.1);
  });

  test("a ray into the sky, or ground out of reach, is not met", () => {
    expect(meetsGround({ x: 0, y: 1.5, z: 0 }, { x: 0, y: 0.1, z: 1 }, 40, () => 0)).toBeUndefined();
    expect(meetsGround({ x: 0, y: 30, z: 0 }, down, 40, () => 0)).toBeUndefined();
  });
});
