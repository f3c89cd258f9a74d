// Messages between page and server; docs/studio.md has the tables.

export type Vec3 = [number, number, number];

export interface JointInfo {
  name: string;
  parent: number | null;
  offset: Vec3;
}

/** A capsule, or a prism: corners of a profile (y, z), stretched along x. */
export type Shape =
  | { capsule: [Vec3, Vec3]; radius: number }
  | { prism: [number, number][]; from_x: number; to_x: number };

export type SceneEvent =
  | { steer: [number, number, number, string] }
  | { push: [number, number, Vec3, Vec3] }
  | { assist: [number, number] }
  | { denoise: [number, number] }
  | { throw: [number, number, number, Vec3, Vec3] }
  | { bump: [number, number, number, number, number] };

export interface SceneRequest {
  model?: string;
  terrain: string;
  seed: number;
  friction: number;
  mass_kg: number;
  assist: number;
  denoising_steps: number;
  events?: SceneEvent[];
}

/** What the server says before the first frame of a scene. */
export interface SceneInfo {
  protocol: number;
  version: string;
  epoch: number;
  world: string;
  model: { name: string; data_hash: string };
  models: string[];
  frame_rate_hz: number;
  joints: JointInfo[];
  shapes: Shape[];
  bodies: string[];
  body_mass_kg: number[];
  weight_n: number;
  standing_height_m: number;
  gait_names: string[];
  gaits: string[];
  phase_channels: number;
  experts: number;
  path_keys: number;
  terrains: string[];
  most_denoising_steps: number;
  rewind_s: number;
  recording_s: number;
  max_upload_mb: number;
  scene: SceneRequest;
}

export interface WorldState {
  epoch: number;
  paused: boolean;
  stopped: boolean;
  pace: number;
  assist: number;
  denoising_steps: number;
  replaying: boolean;
  recorded_s: number;
  can_rewind_s: number;
  dropped_frames: number;
}

export interface Notice {
  level: "info" | "warning" | "error";
  text: string;
}

export interface TerrainGrid {
  rows: number;
  columns: number;
  origin: [number, number];
  cell: number;
  heights: Float32Array;
}

export interface TerrainPatch {
  row: number;
  column: number;
  rows: number;
  columns: number;
  heights: Float32Array;
}

export interface ThrownBox {
  number: number;
  size: Float32Array;
  position: Float32Array;
  rotation: Float32Array;
}

/** One frame of a world or of a clip; what is not known is absent. */
export interface Frame {
  frame: number;
  positions: Float32Array;
  rotations: Float32Array;
  targetPositions?: Float32Array;
  targetRotations?: Float32Array;
  impulses?: Float32Array;
  assistForce?: Float32Array;
  centerOfMass?: Float32Array;
  gait?: Float32Array;
  phase?: Float32Array;
  gates?: Float32Array;
  predictedPath?: Float32Array;
  wantedPath?: Float32Array;
  boxes?: ThrownBox[];
  /** Vertical force per foot, body weights: plates left and right, predicted left and right. */
  plates?: Float32Array;
}

export interface LiveFrame extends Frame {
  epoch: number;
  inputSequence: number;
  stepMs: number;
  speed: number;
  fallen: boolean;
  paused: boolean;
  replaying: boolean;
  recovered: boolean;
}

const FRAME_HEADER_BYTES = 24;

export type FromServer =
  | { kind: "scene"; scene: SceneInfo }
  | { kind: "terrain"; epoch: number; terrain: TerrainGrid }
  | { kind: "patch"; epoch: number; patch: TerrainPatch }
  | { kind: "frame"; frame: LiveFrame }
  | { kind: "notice"; notice: Notice }
  | { kind: "state"; state: WorldState }
  | { kind: "link"; scene: SceneRequest };

const text = new TextDecoder();

function json<T>(bytes: ArrayBuffer): T {
  return JSON.parse(text.decode(new Uint8Array(bytes, 1))) as T;
}

/** Reads a message; `scene` tells the sizes of a frame's arrays. */
export function parse(bytes: ArrayBuffer, scene: SceneInfo | undefined): FromServer | undefined {
  const view = new DataView(bytes);
  switch (view.getUint8(0)) {
    case 1:
      return { kind: "scene", scene: json(bytes) };
    case 2:
      return parseTerrain(bytes, view);
    case 3:
      // A frame of an older scene may have other sizes.
      return scene && view.getUint32(4, true) === scene.epoch ? { kind: "frame", frame: parseFrame(bytes, view, scene) } : undefined;
    case 4:
      return { kind: "notice", notice: json(bytes) };
    case 5:
      return { kind: "state", state: json(bytes) };
    case 6:
      return { kind: "link", scene: json<{ scene: SceneRequest }>(bytes).scene };
    case 7:
      return parsePatch(bytes, view);
    default:
      throw new Error(`the server sent a message of kind ${view.getUint8(0)}; reload the page`);
  }
}

function parseTerrain(bytes: ArrayBuffer, view: DataView): FromServer {
  const rows = view.getUint32(8, true);
  const columns = view.getUint32(12, true);
  const origin: [number, number] = [view.getFloat32(16, true), view.getFloat32(20, true)];
  const cell = view.getFloat32(24, true);
  const heights = new Float32Array(bytes, 28, rows * columns);
  return { kind: "terrain", epoch: view.getUint32(4, true), terrain: { rows, columns, origin, cell, heights } };
}

function parsePatch(bytes: ArrayBuffer, view: DataView): FromServer {
  const [row, column, rows, columns] = [8, 12, 16, 20].map((at) => view.getUint32(at, true)) as [number, number, number, number];
  const heights = new Float32Array(bytes, 24, rows * columns);
  return { kind: "patch", epoch: view.getUint32(4, true), patch: { row, column, rows, columns, heights } };
}

function parseFrame(bytes: ArrayBuffer, view: DataView, scene: SceneInfo): LiveFrame {
  const flags = view.getUint8(1);
  let at = FRAME_HEADER_BYTES;
  const take = (count: number): Float32Array => {
    const array = new Float32Array(bytes, at, count);
    at += 4 * count;
    return array;
  };
  const joints = scene.joints.length;
  const bodies = scene.bodies.length;
  return {
    epoch: view.getUint32(4, true),
    frame: view.getUint32(8, true),
    inputSequence: view.getUint32(12, true),
    stepMs: view.getFloat32(16, true),
    speed: view.getFloat32(20, true),
    fallen: (flags & 1) !== 0,
    paused: (flags & 2) !== 0,
    replaying: (flags & 4) !== 0,
    recovered: (flags & 8) !== 0,
    positions: take(3 * joints),
    rotations: take(4 * joints),
    targetPositions: take(3 * joints),
    targetRotations: take(4 * joints),
    impulses: take(3 * bodies),
    assistForce: take(3),
    // The torque is of no use to the page yet.
    centerOfMass: (take(3), take(3)),
    gait: take(scene.gait_names.length),
    phase: take(2 * scene.phase_channels),
    gates: take(scene.experts),
    predictedPath: take(3 * scene.path_keys),
    wantedPath: take(2 * scene.path_keys),
    boxes: Array.from({ length: view.getUint8(2) }, () => ({ number: take(1)[0]!, size: take(3), position: take(3), rotation: take(4) })),
  };
}

export function steerMessage(sequence: number, x: number, z: number, gait: number): ArrayBuffer {
  const view = new DataView(new ArrayBuffer(14));
  view.setUint8(0, 1);
  view.setUint32(1, sequence, true);
  view.setFloat32(5, x, true);
  view.setFloat32(9, z, true);
  view.setUint8(13, gait);
  return view.buffer as ArrayBuffer;
}

export function pushMessage(body: number, impulse: Vec3, point: Vec3): ArrayBuffer {
  const view = new DataView(new ArrayBuffer(26));
  view.setUint8(0, 2);
  view.setUint8(1, body);
  [...impulse, ...point].forEach((value, i) => view.setFloat32(2 + 4 * i, value, true));
  return view.buffer as ArrayBuffer;
}

export function throwMessage(side: number, mass: number, position: Vec3, velocity: Vec3): ArrayBuffer {
  return numbersMessage(4, [side, mass, ...position, ...velocity]);
}

export function bumpMessage(x: number, z: number, radius: number, height: number): ArrayBuffer {
  return numbersMessage(5, [x, z, radius, height]);
}

function numbersMessage(kind: number, numbers: number[]): ArrayBuffer {
  const view = new DataView(new ArrayBuffer(1 + 4 * numbers.length));
  view.setUint8(0, kind);
  numbers.forEach((value, i) => view.setFloat32(1 + 4 * i, value, true));
  return view.buffer as ArrayBuffer;
}

export type Command =
  | { do: "reset"; scene?: SceneRequest }
  | { do: "pause" | "resume" | "step" | "link" }
  | { do: "pace"; factor: number }
  | { do: "rewind"; seconds: number }
  | { do: "assist"; scale: number }
  | { do: "denoise"; steps: number };

export function commandMessage(command: Command): Uint8Array<ArrayBuffer> {
  const body = new TextEncoder().encode(JSON.stringify(command));
  const bytes = new Uint8Array(body.length + 1);
  bytes[0] = 3;
  bytes.set(body, 1);
  return bytes;
}
