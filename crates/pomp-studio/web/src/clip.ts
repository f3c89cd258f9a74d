// A clip, recording or rollout as the server packs it; docs/studio.md describes the package.
import {
  type ClipArrays,
  type ClipPackage,
  type Frame,
  type Shape,
  type TerrainGrid,
  unpack,
  type Vec3,
} from "./protocol";
import type { Person } from "./view/world_view";

const GRAVITY = 9.81;

/** About the middle of a body's shape, in its joint's frame. */
function middle(shape: Shape | undefined): Vec3 {
  if (!shape) return [0, 0, 0];
  if ("capsule" in shape) return [0, 1, 2].map((k) => (shape.capsule[0][k]! + shape.capsule[1][k]!) / 2) as Vec3;
  const mean = (k: 0 | 1): number => shape.prism.reduce((sum, corner) => sum + corner[k], 0) / shape.prism.length;
  return [(shape.from_x + shape.to_x) / 2, mean(0), mean(1)];
}

export class Clip {
  readonly about: ClipPackage;
  readonly person: Person;

  constructor(bytes: ArrayBuffer) {
    this.about = unpack(bytes) as ClipPackage;
    const { joints, shapes, bodies, body_mass_kg: masses, frame_rate_hz: rate } = this.about;
    const mass = masses.reduce((sum, value) => sum + value, 0);
    this.person = { joints, shapes, bodies, weight: Math.max(mass * GRAVITY, 1), rate };
  }

  get frames(): number {
    return this.about.frames;
  }

  get seconds(): number {
    return (this.frames - 1) / this.about.frame_rate_hz;
  }

  private row(name: keyof ClipArrays, frame: number): Float32Array | undefined {
    const array = this.about.arrays[name];
    if (!array) return undefined;
    const width = array.length / this.frames;
    return array.subarray(frame * width, (frame + 1) * width);
  }

  has(name: keyof ClipArrays): boolean {
    return this.about.arrays[name] !== undefined;
  }

  /** A frame. Where a clip was replayed by the simulator, that is what is shown, and the clip is its target. */
  frame(at: number): Frame {
    const i = Math.min(Math.max(Math.round(at), 0), this.frames - 1);
    const [motion, turns] = [this.row("positions", i)!, this.row("quaternions", i)!];
    const [simulated, simulatedTurns] = [this.row("sim_positions", i), this.row("sim_quaternions", i)];
    const frame: Frame = { frame: i, positions: simulated ?? motion, rotations: simulatedTurns ?? turns };
    if (simulated) Object.assign(frame, { target_positions: motion, target_rotations: turns });
    const impulses = this.row("contact_impulse", i);
    const assistForce = this.row("assist_force", i);
    const gait = this.row("gait", i);
    const phase = this.row("phase", i);
    if (impulses) {
      frame.impulses = impulses;
      frame.center_of_mass = this.centerOfMass(frame);
    }
    if (assistForce) frame.assist_force = assistForce;
    if (gait) frame.gait = gait;
    const plates = this.about.arrays.plates;
    if (plates && 4 * i + 4 <= plates.length) frame.plates = plates.subarray(4 * i, 4 * i + 4);
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
    frame.predicted_path = path;
    if (told) frame.wanted_path = wanted;
  }

  /** Masses at the middles of their bodies' shapes. */
  private centerOfMass(frame: Frame): Float32Array {
    const { bodies, body_mass_kg: masses, joints, shapes } = this.about;
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
      this.about.bodies.forEach((name, b) => {
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
    if (this.about.terrain) return this.about.terrain;
    const cells = 200;
    return {
      rows: cells + 1,
      columns: cells + 1,
      origin: [-cells / 2, -cells / 2],
      cell_m: 1,
      heights: new Float32Array((cells + 1) ** 2),
    };
  }
}
