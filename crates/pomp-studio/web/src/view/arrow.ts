// Arrows of one length unit, stretched to what they show.
import {
  type Color,
  ConeGeometry,
  CylinderGeometry,
  Group,
  Mesh,
  MeshStandardMaterial,
  Quaternion,
  Vector3,
} from "three";

const SHAFT = new CylinderGeometry(1, 1, 1, 10).translate(0, 0.5, 0);
const TIP = new ConeGeometry(1, 1, 14).translate(0, 0.5, 0);
const UP = new Vector3(0, 1, 0);

export class Arrow {
  readonly group = new Group();
  private readonly shaft: Mesh;
  private readonly tip: Mesh;
  private readonly material: MeshStandardMaterial;

  constructor(private readonly width: number) {
    this.material = new MeshStandardMaterial({ roughness: 0.5, transparent: true, opacity: 0.95 });
    this.shaft = new Mesh(SHAFT, this.material);
    this.tip = new Mesh(TIP, this.material);
    this.group.add(this.shaft, this.tip);
    this.group.visible = false;
  }

  setColor(color: Color): void {
    this.material.color.copy(color);
    this.material.emissive.copy(color).multiplyScalar(0.35);
  }

  hide(): void {
    this.group.visible = false;
  }

  show(from: Vector3, along: Vector3): void {
    const length = along.length();
    this.group.visible = length > 0.01;
    if (!this.group.visible) return;
    const tip = Math.min(length * 0.45, this.width * 6);
    this.shaft.scale.set(this.width, length - tip, this.width);
    this.tip.position.set(0, length - tip, 0);
    this.tip.scale.set(this.width * 2.6, tip, this.width * 2.6);
    this.group.position.copy(from);
    this.group.quaternion.copy(new Quaternion().setFromUnitVectors(UP, along.clone().divideScalar(length)));
  }
}
