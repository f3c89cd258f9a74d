// Height-map ground, drawn in chunks around the character: fine near by, coarse far off.
import {
  BufferAttribute,
  BufferGeometry,
  type Color,
  Group,
  Mesh,
  MeshStandardMaterial,
  type Scene,
  type WebGLProgramParametersWithUniforms,
} from "three";
import type { TerrainGrid, TerrainPatch } from "../protocol";
import { applyPatch, heightAt } from "./grid";

/** Distance up to which every height is drawn, and up to which anything is, metres. */
const FINE_M = 9;
const FAR_M = 56;
/** Depth of the skirts that hide the cracks between fine and coarse, metres. */
const SKIRT_M = 0.6;

export class Ground {
  private readonly group = new Group();
  private readonly chunks = new Map<string, Mesh>();
  private readonly material = new MeshStandardMaterial({ roughness: 0.95, metalness: 0 });
  private readonly gridColor = { value: undefined as unknown as Color };
  private grid: TerrainGrid | undefined;
  private chunkCells = 32;
  private stride = 4;
  /** Highest point of the last part that was drawn anew, metres. */
  drawn = 0;

  constructor(scene: Scene) {
    scene.add(this.group);
    this.material.onBeforeCompile = (shader) => this.addLines(shader);
  }

  /** Lines a metre apart, thicker every five, that fade into the distance. */
  private addLines(shader: WebGLProgramParametersWithUniforms): void {
    shader.uniforms.gridColor = this.gridColor;
    shader.vertexShader = shader.vertexShader
      .replace("#include <common>", "#include <common>\nvarying vec3 vGround;")
      .replace("#include <begin_vertex>", "#include <begin_vertex>\nvGround = position;");
    shader.fragmentShader = shader.fragmentShader
      .replace(
        "#include <common>",
        "#include <common>\nvarying vec3 vGround;\nuniform vec3 gridColor;\n" +
          "float gridLines(vec2 at, float width) {\n" +
          "  vec2 d = fwidth(at);\n" +
          "  vec2 near = abs(fract(at - 0.5) - 0.5);\n" +
          "  vec2 line = 1.0 - smoothstep(vec2(width), vec2(width) + d * 1.5, near);\n" +
          "  line *= clamp(0.6 - d, 0.0, 0.5) * 2.0;\n" +
          "  return max(line.x, line.y);\n" +
          "}",
      )
      .replace(
        "#include <color_fragment>",
        "#include <color_fragment>\n" +
          "float metre = gridLines(vGround.xz, 0.008) * 0.5;\n" +
          "float five = gridLines(vGround.xz * 0.2, 0.004) * 0.95;\n" +
          "diffuseColor.rgb = mix(diffuseColor.rgb, gridColor, max(metre, five));",
      );
  }

  setColors(ground: Color, grid: Color): void {
    this.material.color.copy(ground);
    this.gridColor.value = grid.clone();
  }

  setTerrain(grid: TerrainGrid): void {
    for (const mesh of this.chunks.values()) {
      this.group.remove(mesh);
      mesh.geometry.dispose();
    }
    this.chunks.clear();
    this.grid = grid;
    this.drawn = 0;
    this.chunkCells = Math.max(32, Math.round(6 / grid.cell_m / 8) * 8);
    this.stride = grid.cell_m < 0.2 ? 4 : 1;
  }

  /** Takes changed heights over and builds what they touch anew. */
  patch(patch: TerrainPatch): void {
    const grid = this.grid;
    if (!grid || !applyPatch(grid, patch)) return;
    this.drawn = patch.heights.reduce((highest, height) => Math.max(highest, height), 0);
    // Normals reach a height further than the patch.
    const touches = (first: number, changed: number, count: number): boolean =>
      first <= changed + count && first + this.chunkCells >= changed - 1;
    for (const [key, mesh] of this.chunks) {
      const [row, column, stride] = key.split(",").map(Number) as [number, number, number];
      const [firstRow, firstColumn] = [row * this.chunkCells, column * this.chunkCells];
      if (!touches(firstRow, patch.row, patch.rows) || !touches(firstColumn, patch.column, patch.columns)) continue;
      const again = this.build(grid, firstRow, firstColumn, stride);
      this.group.remove(mesh);
      mesh.geometry.dispose();
      this.group.add(again);
      this.chunks.set(key, again);
    }
  }

  /** Height at a place; 0 while there is no terrain. */
  height(x: number, z: number): number {
    return this.grid ? heightAt(this.grid, x, z) : 0;
  }

  /** Draws what lies around a place, a few chunks per call. */
  update(x: number, z: number): void {
    const grid = this.grid;
    if (!grid) return;
    const size = this.chunkCells * grid.cell_m;
    const wanted = new Set<string>();
    const missing: { key: string; row: number; column: number; stride: number; distance: number }[] = [];
    const reach = Math.ceil(FAR_M / size);
    const centerColumn = Math.floor((x - grid.origin[0]) / size);
    const centerRow = Math.floor((z - grid.origin[1]) / size);
    for (let row = centerRow - reach; row <= centerRow + reach; row++) {
      for (let column = centerColumn - reach; column <= centerColumn + reach; column++) {
        const firstCell = [row * this.chunkCells, column * this.chunkCells] as const;
        if (firstCell[0] < 0 || firstCell[1] < 0) continue;
        if (firstCell[0] >= grid.rows - 1 || firstCell[1] >= grid.columns - 1) continue;
        const dx = grid.origin[0] + (column + 0.5) * size - x;
        const dz = grid.origin[1] + (row + 0.5) * size - z;
        const distance = Math.hypot(dx, dz);
        if (distance > FAR_M) continue;
        const stride = distance < FINE_M + size * 0.5 ? 1 : this.stride;
        const key = `${row},${column},${stride}`;
        wanted.add(key);
        if (!this.chunks.has(key)) missing.push({ key, row, column, stride, distance });
      }
    }
    missing.sort((a, b) => a.distance - b.distance);
    const all = this.chunks.size === 0;
    for (const chunk of all ? missing : missing.slice(0, 3)) {
      const mesh = this.build(grid, chunk.row * this.chunkCells, chunk.column * this.chunkCells, chunk.stride);
      this.chunks.set(chunk.key, mesh);
      this.group.add(mesh);
    }
    if (missing.length > 3 && !all) return;
    for (const [key, mesh] of this.chunks) {
      if (wanted.has(key)) continue;
      this.group.remove(mesh);
      mesh.geometry.dispose();
      this.chunks.delete(key);
    }
  }

  private build(grid: TerrainGrid, firstRow: number, firstColumn: number, stride: number): Mesh {
    const steps = (first: number, count: number): number[] => {
      const last = Math.min(first + this.chunkCells, count - 1);
      const indices: number[] = [];
      for (let i = first; i < last; i += stride) indices.push(i);
      indices.push(last);
      return indices;
    };
    const rows = steps(firstRow, grid.rows);
    const columns = steps(firstColumn, grid.columns);
    const height = (i: number, j: number): number => {
      const row = Math.min(Math.max(i, 0), grid.rows - 1);
      const column = Math.min(Math.max(j, 0), grid.columns - 1);
      return grid.heights[row * grid.columns + column]!;
    };
    // A ring of vertices around the chunk hangs down as its skirt.
    const ring = <T>(list: T[]): T[] => [list[0]!, ...list, list[list.length - 1]!];
    const allRows = ring(rows);
    const allColumns = ring(columns);
    const across = allColumns.length;
    const positions = new Float32Array(allRows.length * across * 3);
    const normals = new Float32Array(positions.length);
    let at = 0;
    allRows.forEach((i, r) => {
      allColumns.forEach((j, q) => {
        const skirt = r === 0 || q === 0 || r === allRows.length - 1 || q === across - 1;
        positions[at] = grid.origin[0] + j * grid.cell_m;
        positions[at + 1] = height(i, j) - (skirt ? SKIRT_M : 0);
        positions[at + 2] = grid.origin[1] + i * grid.cell_m;
        const nx = (height(i, j - 1) - height(i, j + 1)) / (2 * grid.cell_m);
        const nz = (height(i - 1, j) - height(i + 1, j)) / (2 * grid.cell_m);
        const length = Math.hypot(nx, 1, nz);
        normals[at] = nx / length;
        normals[at + 1] = 1 / length;
        normals[at + 2] = nz / length;
        at += 3;
      });
    });
    const indices: number[] = [];
    for (let r = 0; r + 1 < allRows.length; r++) {
      for (let q = 0; q + 1 < across; q++) {
        const a = r * across + q;
        indices.push(a, a + across, a + 1, a + 1, a + across, a + across + 1);
      }
    }
    const geometry = new BufferGeometry();
    geometry.setAttribute("position", new BufferAttribute(positions, 3));
    geometry.setAttribute("normal", new BufferAttribute(normals, 3));
    geometry.setIndex(indices);
    const mesh = new Mesh(geometry, this.material);
    mesh.receiveShadow = true;
    return mesh;
  }
}
