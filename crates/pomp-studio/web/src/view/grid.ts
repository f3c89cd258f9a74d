// Heights on a grid: read between its points, changed in part, met by a ray.
import type { TerrainGrid, TerrainPatch } from "../protocol";

type Point = { x: number; y: number; z: number };

/** Height at a place, as the server interpolates it; beyond the edge the height of the edge goes on. */
export function heightAt(grid: TerrainGrid, x: number, z: number): number {
  const u = Math.min(Math.max((x - grid.origin[0]) / grid.cell_m, 0), grid.columns - 1);
  const v = Math.min(Math.max((z - grid.origin[1]) / grid.cell_m, 0), grid.rows - 1);
  const j = Math.min(Math.floor(u), grid.columns - 2);
  const i = Math.min(Math.floor(v), grid.rows - 2);
  const h = (row: number, column: number): number => grid.heights[row * grid.columns + column]!;
  const near = h(i, j) + (h(i, j + 1) - h(i, j)) * (u - j);
  const far = h(i + 1, j) + (h(i + 1, j + 1) - h(i + 1, j)) * (u - j);
  return near + (far - near) * (v - i);
}

/** Takes changed heights over; whether the patch lies within the grid. One that does not changes nothing. */
export function applyPatch(grid: TerrainGrid, patch: Omit<TerrainPatch, "epoch">): boolean {
  if (patch.row + patch.rows > grid.rows || patch.column + patch.columns > grid.columns) return false;
  for (let i = 0; i < patch.rows; i++) {
    const row = patch.heights.subarray(i * patch.columns, (i + 1) * patch.columns);
    grid.heights.set(row, (patch.row + i) * grid.columns + patch.column);
  }
  return true;
}

/** Distance along a ray at which it meets the ground: marches, then halves the last step. Undefined beyond `reach`, metres. */
export function meetsGround(
  origin: Point,
  direction: Point,
  reach: number,
  height: (x: number, z: number) => number,
): number | undefined {
  const above = (t: number): number =>
    origin.y + t * direction.y - height(origin.x + t * direction.x, origin.z + t * direction.z);
  const step = 0.2;
  let near = 0;
  for (let far = step; far < reach; far += step) {
    if (above(far) < 0) {
      let beyond = far;
      for (let i = 0; i < 12; i++) {
        const middle = (near + beyond) / 2;
        if (above(middle) < 0) beyond = middle;
        else near = middle;
      }
      return near;
    }
    near = far;
  }
  return undefined;
}
