// What is drawn around the character: contact impulses, paths, footprints, centre of mass and support.
import {
  BufferAttribute,
  BufferGeometry,
  CircleGeometry,
  DoubleSide,
  DynamicDrawUsage,
  Group,
  InstancedMesh,
  Line,
  LineBasicMaterial,
  Matrix4,
  Mesh,
  MeshBasicMaterial,
  Quaternion,
  type Scene,
  SphereGeometry,
  Vector3,
} from "three";
import type { Palette } from "../palette";
import type { Frame, JointInfo, Shape } from "../protocol";
import { Arrow } from "./arrow";
import { type Body, bodiesOf, convexHull, footLength, supportPoints } from "./bodies";
import type { Ground } from "./ground";

export interface Shown {
  ghost: boolean;
  impulses: boolean;
  path: boolean;
  footprints: boolean;
  center: boolean;
}

const ARROWS = 8;
const FOOTPRINTS = 160;
/** Length of an arrow per body weight, metres. */
const METRES_PER_WEIGHT = 0.42;
/** Impulses below this share of the body weight are not drawn. */
const LEAST_WEIGHT = 0.04;
const UP = new Vector3(0, 1, 0);

export class Overlays {
  private readonly group = new Group();
  private readonly arrows: Arrow[] = [];
  private readonly predicted = ribbon();
  private readonly wanted = ribbon();
  private readonly support: Mesh;
  private readonly supportEdge: Line;
  private readonly center: Mesh;
  private readonly plumb: Line;
  private readonly centerMark: Mesh;
  private readonly prints: InstancedMesh;
  private readonly bodies: Body[];
  private readonly footLength: number;
  private printed = 0;
  private readonly standing = [false, false];
  private palette: Palette | undefined;

  constructor(
    scene: Scene,
    private readonly ground: Ground,
    joints: JointInfo[],
    shapes: Shape[],
    bodyNames: string[],
    private readonly weight: number,
    private readonly rate: number,
  ) {
    scene.add(this.group);
    for (let i = 0; i < ARROWS; i++) {
      const arrow = new Arrow(0.012);
      this.arrows.push(arrow);
      this.group.add(arrow.group);
    }
    this.bodies = bodiesOf(joints, shapes, bodyNames);
    this.footLength = footLength(this.bodies);
    const flat = { transparent: true, depthWrite: false, side: DoubleSide };
    this.support = new Mesh(dynamic(12), new MeshBasicMaterial({ ...flat, opacity: 0.28 }));
    this.supportEdge = new Line(dynamic(13), new LineBasicMaterial({ transparent: true, opacity: 0.9 }));
    this.center = new Mesh(
      new SphereGeometry(0.035, 20, 14),
      new MeshBasicMaterial({ depthTest: false, transparent: true, opacity: 0.9 }),
    );
    this.center.renderOrder = 3;
    this.plumb = new Line(dynamic(2), new LineBasicMaterial({ transparent: true, opacity: 0.7 }));
    this.centerMark = new Mesh(new CircleGeometry(0.035, 20).rotateX(-Math.PI / 2), new MeshBasicMaterial(flat));
    const print = new CircleGeometry(0.5, 18).rotateX(-Math.PI / 2);
    this.prints = new InstancedMesh(print, new MeshBasicMaterial({ ...flat, opacity: 0.32 }), FOOTPRINTS);
    this.prints.count = 0;
    this.prints.frustumCulled = false;
    for (const mesh of [this.support, this.supportEdge, this.plumb, this.predicted, this.wanted]) {
      mesh.frustumCulled = false;
    }
    this.group.add(
      this.predicted,
      this.wanted,
      this.support,
      this.supportEdge,
      this.center,
      this.plumb,
      this.centerMark,
      this.prints,
    );
  }

  setColors(palette: Palette): void {
    this.palette = palette;
    (this.predicted.material as MeshBasicMaterial).color.copy(palette.path);
    (this.wanted.material as MeshBasicMaterial).color.copy(palette.wanted);
    (this.support.material as MeshBasicMaterial).color.copy(palette.support);
    (this.supportEdge.material as LineBasicMaterial).color.copy(palette.support);
    (this.center.material as MeshBasicMaterial).color.copy(palette.center);
    (this.plumb.material as LineBasicMaterial).color.copy(palette.center);
    (this.centerMark.material as MeshBasicMaterial).color.copy(palette.center);
  }

  clearFootprints(): void {
    this.printed = 0;
    this.prints.count = 0;
    this.standing.fill(false);
  }

  update(frame: Frame, shown: Shown): void {
    this.drawImpulses(frame, shown.impulses);
    this.drawPath(this.predicted, frame.predicted_path, 3, shown.path, 0.028, 0.012);
    this.drawPath(this.wanted, frame.wanted_path, 2, shown.path, 0.014, 0.009);
    this.drawSupport(frame, shown.center);
    this.printFeet(frame);
    this.prints.visible = shown.footprints;
  }

  private drawImpulses(frame: Frame, visible: boolean): void {
    let used = 0;
    if (visible && frame.impulses && this.palette) {
      this.bodies.forEach((body, b) => {
        if (used === ARROWS) return;
        const force = new Vector3().fromArray(frame.impulses!, 3 * b).multiplyScalar(this.rate / this.weight);
        if (force.length() < LEAST_WEIGHT) return;
        const from = new Vector3().fromArray(frame.positions, 3 * body.joint);
        from.y = this.ground.height(from.x, from.z) + 0.01;
        const arrow = this.arrows[used++]!;
        arrow.setColor(
          body.side === "left" ? this.palette!.left : body.side === "right" ? this.palette!.right : this.palette!.push,
        );
        arrow.show(from, force.multiplyScalar(METRES_PER_WEIGHT));
      });
    }
    for (const arrow of this.arrows.slice(used)) arrow.hide();
  }

  /** A ribbon over the ground from the character along its path. */
  private drawPath(
    mesh: Mesh,
    path: Float32Array | undefined,
    stride: number,
    visible: boolean,
    width: number,
    lift: number,
  ): void {
    mesh.visible = visible && path !== undefined;
    if (!mesh.visible || !path) return;
    const keys = path.length / stride;
    const points: Vector3[] = [];
    for (let k = 0; k < keys; k++) points.push(new Vector3(path[k * stride]!, 0, path[k * stride + 1]!));
    const positions = mesh.geometry.getAttribute("position") as BufferAttribute;
    let at = 0;
    const fine = RIBBON_POINTS / (keys - 1);
    for (let i = 0; i < RIBBON_POINTS; i++) {
      const k = Math.min(Math.floor(i / fine), keys - 2);
      const a = points[k]!;
      const b = points[k + 1]!;
      const p = a.clone().lerp(b, i / fine - k);
      const side = new Vector3(b.z - a.z, 0, a.x - b.x);
      if (side.lengthSq() < 1e-10) side.set(1, 0, 0);
      side.normalize().multiplyScalar(width * (1 - (0.75 * i) / RIBBON_POINTS));
      for (const sign of [1, -1]) {
        const x = p.x + sign * side.x;
        const z = p.z + sign * side.z;
        positions.setXYZ(at++, x, this.ground.height(x, z) + lift, z);
      }
    }
    positions.needsUpdate = true;
  }

  private drawSupport(frame: Frame, visible: boolean): void {
    const center = frame.center_of_mass;
    for (const mesh of [this.center, this.plumb, this.centerMark]) mesh.visible = visible && center !== undefined;
    const corners = frame.impulses
      ? convexHull(supportPoints(this.bodies, frame, (0.02 * this.weight) / this.rate))
      : [];
    this.support.visible = this.supportEdge.visible = visible && corners.length > 2;
    const lift = (x: number, z: number, by: number): Vector3 => new Vector3(x, this.ground.height(x, z) + by, z);
    if (this.support.visible) {
      const fan = this.support.geometry.getAttribute("position") as BufferAttribute;
      const edge = this.supportEdge.geometry.getAttribute("position") as BufferAttribute;
      const points = corners.slice(0, 12).map(([x, z]) => lift(x, z, 0.014));
      points.forEach((p, i) => {
        fan.setXYZ(i, p.x, p.y, p.z);
        edge.setXYZ(i, p.x, p.y, p.z);
      });
      edge.setXYZ(points.length, points[0]!.x, points[0]!.y, points[0]!.z);
      const index: number[] = [];
      for (let i = 1; i + 1 < points.length; i++) index.push(0, i, i + 1);
      this.support.geometry.setIndex(index);
      this.supportEdge.geometry.setDrawRange(0, points.length + 1);
      fan.needsUpdate = edge.needsUpdate = true;
    }
    if (center && visible) {
      this.center.position.fromArray(center);
      const mark = lift(center[0]!, center[2]!, 0.018);
      this.centerMark.position.copy(mark);
      const line = this.plumb.geometry.getAttribute("position") as BufferAttribute;
      line.setXYZ(0, center[0]!, center[1]!, center[2]!);
      line.setXYZ(1, mark.x, mark.y, mark.z);
      line.needsUpdate = true;
    }
  }

  /** Leaves a print where a foot comes down. */
  private printFeet(frame: Frame): void {
    if (!frame.impulses || !this.palette) return;
    (["left", "right"] as const).forEach((side, foot) => {
      let pressed = 0;
      this.bodies.forEach((body, b) => {
        if (body.foot && body.side === side) pressed += frame.impulses![3 * b + 1]!;
      });
      const share = (pressed * this.rate) / this.weight;
      const down = this.standing[foot] ? share > 0.02 : share > 0.3;
      if (down && !this.standing[foot]) this.print(frame, side);
      this.standing[foot] = down;
    });
  }

  private print(frame: Frame, side: "left" | "right"): void {
    const ankle = this.bodies.find((body) => body.side === side && body.foot);
    const toe = this.bodies.findLast((body) => body.side === side && body.foot);
    if (!ankle || !toe) return;
    const a = new Vector3().fromArray(frame.positions, 3 * ankle.joint);
    const b = new Vector3().fromArray(frame.positions, 3 * toe.joint);
    const heading = Math.atan2(b.x - a.x, b.z - a.z);
    const middle = a.lerp(b, 0.55);
    const h = (x: number, z: number): number => this.ground.height(x, z);
    const { x, z } = middle;
    const normal = new Vector3(h(x - 0.1, z) - h(x + 0.1, z), 0.2, h(x, z - 0.1) - h(x, z + 0.1)).normalize();
    const turn = new Quaternion()
      .setFromUnitVectors(UP, normal)
      .multiply(new Quaternion().setFromAxisAngle(UP, heading));
    const size = new Vector3(this.footLength * 0.4, 1, this.footLength);
    const slot = this.printed++ % FOOTPRINTS;
    this.prints.setMatrixAt(slot, new Matrix4().compose(new Vector3(x, h(x, z) + 0.008, z), turn, size));
    this.prints.setColorAt(slot, this.palette![side]);
    this.prints.count = Math.min(this.printed, FOOTPRINTS);
    this.prints.instanceMatrix.needsUpdate = true;
    if (this.prints.instanceColor) this.prints.instanceColor.needsUpdate = true;
  }

  dispose(): void {
    this.group.removeFromParent();
    this.group.traverse((object) => {
      if (object instanceof Mesh || object instanceof Line) object.geometry.dispose();
    });
  }
}

const RIBBON_POINTS = 36;

function dynamic(points: number): BufferGeometry {
  const geometry = new BufferGeometry();
  const attribute = new BufferAttribute(new Float32Array(3 * points), 3);
  attribute.setUsage(DynamicDrawUsage);
  return geometry.setAttribute("position", attribute);
}

function ribbon(): Mesh {
  const geometry = dynamic(2 * RIBBON_POINTS);
  const index: number[] = [];
  for (let i = 0; i + 1 < RIBBON_POINTS; i++) {
    const a = 2 * i;
    index.push(a, a + 1, a + 2, a + 2, a + 1, a + 3);
  }
  geometry.setIndex(index);
  return new Mesh(
    geometry,
    new MeshBasicMaterial({ transparent: true, opacity: 0.85, side: DoubleSide, depthWrite: false }),
  );
}
