// A clip, recording or rollout as the server packs it; docs/studio.md describes the package.
import type { Frame, JointInfo, Shape, TerrainGrid, Vec3 } from "./protocol";
import type { Person } from "./view/world_view";

const MAGIC = "POMPCLIP";
const VERSION = 1;
const GRAVITY = 9.81;

interface About {
  name: string;
  frame_rate_hz: number;
  frames: number;
  joints: JointInfo[];
  shapes: Shape[];
  gait_names: string[];
  source: string;
  license: string;
  has_contacts: boolean;
  bodies?: string[];
  body_mass_kg?: number[];
  phase_channels?: number;
  pushes?: { time_s: number; body: number; impulse_ns: Vec3; point: Vec3 }[];
  terrain?: { rows: number; columns: number; origin: [number, number]; cell_m: number };
  arrays: Record<string, [number, number]>;
}

/** About the middle of a body's shape, in its joint's frame. */
function middle(shape: Shape | undefined): Vec3 {
  if (!shape) return [0, 0, 0];
  if ("capsule" in shape) return [0, 1, 2].map((k) => (shape.capsule[0][k]! + shape.capsule[1][k]!) / 2) as Vec3;
  const mean = (k: 0 | 1): number => shape.prism.reduce((sum, corner) => sum + corner[k], 0) / shape.prism.length;
  return [(shape.from_x + shape.to_x) / 2, mean(0), mean(1)];
}

export class Clip {
  readonly about: About;
  readonly person: Person;
  private readonly floats: Float32Array;

  constructor(bytes: ArrayBuffer) {
    const view = new DataView(bytes);
    const magic = new TextDecoder().decode(new Uint8Array(bytes, 0, Math.min(8, bytes.byteLength)));
    if (magic !== MAGIC || view.getUint32(8, true) !== VERSION) {
      throw new Error(
        "The clip is not in the form that this page reads; the page and the program are of different versions.",
      );
    }
    const length = view.getUint32(12, true);
    this.about = JSON.parse(new TextDecoder().decode(new Uint8Array(bytes, 16, length))) as About;
    this.floats = new Float32Array(bytes, 16 + length);
    const { joints, shapes, bodies = [], body_mass_kg: masses = [], frame_rate_hz: rate } = this.about;
    const mass = masses.reduce((sum, value) => sum + value, 0);
    this.person = { joints, shapes, bodies, weight: Math.max(mass * GRAVITY, 1), rate };
  }

  get frames(): number {
    return this.about.frames;
  }

  get seconds(): number {
    return (this.frames - 1) / this.about.frame_rate_hz;
  }

  private row(name: string, frame: number): Float32Array | undefined {
    const place = this.about.arrays[name];
    if (!place) return undefined;
    const width = place[1] / this.frames;
    const first = place[0] + frame * width;
    return this.floats.subarray(first, first + width);
  }

  has(name: string): boolean {
    return name in this.about.arrays;
  }

  /** A frame. Where a clip was replayed by the simulator, that is what is shown, and the clip is its target. */
  frame(at: number): Frame {
    const i = Math.min(Math.max(Math.round(at), 0), this.frames - 1);
    const [motion, turns] = [this.row("positions", i)!, this.row("quaternions", i)!];
    const [simulated, simulatedTurns] = [this.row("sim_positions", i), this.row("sim_quaternions", i)];
    const frame: Frame = { frame: i, positions: simulated ?? motion, rotations: simulatedTurns ?? turns };
    if (simulated) Object.assign(frame, { targetPositions: motion, targetRotations: turns });
    const impulses = this.row("contact_impulse", i);
    const assistForce = this.row("assist_force", i);
    const gait = this.row("gait", i);
    const phase = this.row("phase", i);
    if (impulses) {
      frame.impulses = impulses;
      frame.centerOfMass = this.centerOfMass(frame);
    }
    if (assistForce) frame.assistForce = assistForce;
    if (gait) frame.gait = gait;
    const plates = this.about.arrays.plates;
    if (plates && 4 * i + 4 <= plates[1]) frame.plates = this.floats.subarray(plates[0] + 4 * i, plates[0] + 4 * i + 4);
    if (phase) frame.phase = phase;
    this.addPaths(frame, i);
    return frame;
  }

  /** Where the root goes within a second, and where it was told to go. */
  private addPaths(frame: Frame, i: number): void {
    const key = this.about.frame_rate_hz / 6;
    const ahead = (k: number): number => Math.min(Math.round(i + k * key), this.frames - 1);
    const [path, wanted] = [new Float32Array(21), new Float32Array(14)];
    const told = this.has("control");
    for (let k = 0; k < 7; k++) {
      const root = this.row(this.has("sim_positions") ? "sim_positions" : "positions", ahead(k))!;
      path.set([root[0]!, root[2]!, 0], 3 * k);
      if (told) wanted.set(this.row("control", ahead(k))!.subarray(0, 2), 2 * k);
    }
    frame.predictedPath = path;
    if (told) frame.wantedPath = wanted;
  }

  /** Masses at the middles of their bodies' shapes. */
  private centerOfMass(frame: Frame): Float32Array {
    const { bodies = [], body_mass_kg: masses = [], joints, shapes } = this.about;
    const sum = new Float32Array(3);
    let mass = 0;
    bodies.forEach((name, b) => {
      const joint = joints.findIndex((candidate) => candidate.name === name);
      if (joint < 0) return;
      const shape = shapes[joint];
      const local = middle(shape);
      const [x, y, z] = local;
      const q = frame.rotations.subarray(4 * joint, 4 * joint + 4);
      const [qx, qy, qz, qw] = [q[0]!, q[1]!, q[2]!, q[3]!];
      // v + 2 q × (q × v + w v)
      const [cx, cy, cz] = [qy * z - qz * y + qw * x, qz * x - qx * z + qw * y, qx * y - qy * x + qw * z];
      const turned = [x + 2 * (qy * cz - qz * cy), y + 2 * (qz * cx - qx * cz), z + 2 * (qx * cy - qy * cx)];
      for (let k = 0; k < 3; k++) sum[k]! += masses[b]! * (frame.positions[3 * joint + k]! + turned[k]!);
      mass += masses[b]!;
    });
    return sum.map((value) => value / mass);
  }

  /** Contact of left and right foot, 0 to 1: what the simulator felt, or what was labelled. */
  contact(i: number): [number, number] {
    const impulses = this.row("contact_impulse", i);
    if (impulses) {
      const load: [number, number] = [0, 0];
      (this.about.bodies ?? []).forEach((name, b) => {
        if (!/Foot$|Toe$/.test(name)) return;
        const side = name.startsWith("Left") ? 0 : 1;
        load[side] += (impulses[3 * b + 1]! * this.about.frame_rate_hz) / this.person.weight;
      });
      return load.map((value) => Math.min(value / 1.2, 1)) as [number, number];
    }
    const contact = this.row("foot_contact", i);
    return contact ? [Math.max(contact[0]!, contact[1]!), Math.max(contact[2]!, contact[3]!)] : [0, 0];
  }

  /** Index of the strongest gait. */
  gait(i: number): number {
    const gait = this.row("gait", i);
    return gait ? gait.indexOf(Math.max(...gait)) : 0;
  }

  terrain(): TerrainGrid {
    const grid = this.about.terrain;
    const place = this.about.arrays.terrain_height;
    if (!grid || !place) {
      const [cell, cells] = [1, 200];
      return {
        rows: cells + 1,
        columns: cells + 1,
        origin: [-cells / 2, -cells / 2],
        cell,
        heights: new Float32Array((cells + 1) ** 2),
      };
    }
    const heights = this.floats.subarray(place[0], place[0] + place[1]);
    return { rows: grid.rows, columns: grid.columns, origin: grid.origin, cell: grid.cell_m, heights };
  }
}
