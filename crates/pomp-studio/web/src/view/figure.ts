// A character: the mannequin for the project skeleton, plain bones for any other.
import {
  type BufferGeometry,
  CapsuleGeometry,
  Group,
  type Intersection,
  Mesh,
  MeshStandardMaterial,
  Quaternion,
  type Raycaster,
  Vector3,
} from "three";
import type { Palette } from "../palette";
import type { JointInfo } from "../protocol";
import { MANNEQUIN_JOINTS, mannequin, partGeometry, type Side } from "./parts";

/** Leg length (hip to ankle) of the project skeleton as a fraction of body height. */
const LEG_HEIGHTS = 0.491;

export interface Hit {
  joint: number;
  point: Vector3;
}

export class Figure {
  readonly group = new Group();
  private readonly joints: Group[] = [];
  private readonly bones: { mesh: Mesh; parent: number; child: number }[] = [];
  private readonly materials: Record<Side, MeshStandardMaterial>;
  private readonly geometries: BufferGeometry[] = [];

  constructor(skeleton: JointInfo[], glass: boolean) {
    const material = (): MeshStandardMaterial =>
      new MeshStandardMaterial({
        roughness: 0.55,
        metalness: 0.02,
        transparent: glass,
        opacity: glass ? 0.22 : 1,
        depthWrite: !glass,
      });
    this.materials = { left: material(), right: material(), torso: material(), head: material(), visor: material() };
    this.materials.visor.roughness = 0.2;
    const index = new Map(skeleton.map((joint, i) => [joint.name, i]));
    for (const _ of skeleton) {
      const group = new Group();
      this.joints.push(group);
      this.group.add(group);
    }
    if (skeleton.length === MANNEQUIN_JOINTS.length && MANNEQUIN_JOINTS.every((joint) => index.has(joint))) {
      const length = (name: string): number => Math.hypot(...skeleton[index.get(name)!]!.offset);
      const height = (length("LeftLeg") + length("LeftFoot")) / LEG_HEIGHTS;
      const offset = (name: string): [number, number, number] => {
        const [x, y, z] = skeleton[index.get(name)!]!.offset;
        return [x / height, y / height, z / height];
      };
      for (const part of mannequin(offset)) {
        if (glass && part.side === "visor") continue;
        const joint = index.get(part.joint)!;
        this.add(this.joints[joint]!, joint, partGeometry(part, height), part.side, glass);
      }
    } else {
      skeleton.forEach((joint, child) => {
        if (joint.parent === null) return;
        const length = Math.hypot(...joint.offset);
        if (length < 1e-4) return;
        const radius = Math.min(Math.max(0.16 * length, 0.01), 0.06);
        const geometry = new CapsuleGeometry(radius, Math.max(length - radius, 0.001), 6, 12);
        const name = joint.name.toLowerCase();
        const side: Side = name.includes("left") ? "left" : name.includes("right") ? "right" : "torso";
        this.bones.push({ mesh: this.add(this.group, child, geometry, side, glass), parent: joint.parent, child });
      });
    }
  }

  private add(to: Group, joint: number, geometry: BufferGeometry, side: Side, glass: boolean): Mesh {
    const mesh = new Mesh(geometry, this.materials[side]);
    mesh.castShadow = !glass;
    mesh.receiveShadow = !glass;
    mesh.userData.joint = joint;
    this.geometries.push(geometry);
    to.add(mesh);
    return mesh;
  }

  setColors(palette: Palette, tint?: Palette["ghost"]): void {
    for (const side of Object.keys(this.materials) as Side[]) {
      this.materials[side].color.copy(tint ?? palette[side]);
      if (tint) this.materials[side].emissive.copy(tint).multiplyScalar(0.25);
    }
  }

  /** Puts the joints where a frame has them. */
  pose(positions: Float32Array, rotations: Float32Array): void {
    this.joints.forEach((joint, i) => {
      joint.position.fromArray(positions, 3 * i);
      joint.quaternion.fromArray(rotations, 4 * i);
    });
    const up = new Vector3(0, 1, 0);
    for (const { mesh, parent, child } of this.bones) {
      const a = new Vector3().fromArray(positions, 3 * parent);
      const b = new Vector3().fromArray(positions, 3 * child);
      mesh.position.copy(a).add(b).multiplyScalar(0.5);
      mesh.quaternion.setFromUnitVectors(up, b.sub(a).normalize());
    }
  }

  /** The first body on a ray. */
  hit(ray: Raycaster): Hit | undefined {
    const found: Intersection[] = ray.intersectObject(this.group, true);
    const first = found[0];
    return first ? { joint: first.object.userData.joint as number, point: first.point } : undefined;
  }

  /** A point of the world in a joint's frame, and back. */
  toLocal(joint: number, point: Vector3): Vector3 {
    const frame = this.joints[joint]!;
    return point.clone().sub(frame.position).applyQuaternion(new Quaternion().copy(frame.quaternion).invert());
  }

  toWorld(joint: number, point: Vector3): Vector3 {
    const frame = this.joints[joint]!;
    return point.clone().applyQuaternion(frame.quaternion).add(frame.position);
  }

  dispose(): void {
    this.group.removeFromParent();
    for (const geometry of this.geometries) geometry.dispose();
    for (const side of Object.keys(this.materials) as Side[]) this.materials[side].dispose();
  }
}
