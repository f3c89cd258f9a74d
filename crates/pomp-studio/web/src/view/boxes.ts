// Boxes that were thrown: plain crates with edges, found again by their numbers.
import {
  BoxGeometry,
  EdgesGeometry,
  Group,
  LineBasicMaterial,
  LineSegments,
  Mesh,
  MeshStandardMaterial,
  type Scene,
} from "three";
import type { Palette } from "../palette";
import type { ThrownBox } from "../protocol";

export class Boxes {
  private readonly group = new Group();
  private readonly shown = new Map<number, Mesh>();
  private readonly material = new MeshStandardMaterial({ roughness: 0.75, metalness: 0.02 });
  private readonly edges = new LineBasicMaterial({ transparent: true, opacity: 0.55 });

  constructor(scene: Scene) {
    scene.add(this.group);
  }

  setColors(palette: Palette): void {
    this.material.color.copy(palette.crate);
    this.edges.color.copy(palette.crate).multiplyScalar(0.45);
  }

  show(boxes: ThrownBox[]): void {
    const there = new Set(boxes.map((box) => box.number));
    for (const [number, mesh] of this.shown) if (!there.has(number)) this.remove(number, mesh);
    for (const box of boxes) {
      const mesh = this.shown.get(box.number) ?? this.add(box);
      mesh.position.fromArray(box.position);
      mesh.quaternion.fromArray(box.rotation);
    }
  }

  private add(box: ThrownBox): Mesh {
    const geometry = new BoxGeometry(...(Array.from(box.size_m) as [number, number, number]));
    const mesh = new Mesh(geometry, this.material);
    mesh.castShadow = mesh.receiveShadow = true;
    mesh.add(new LineSegments(new EdgesGeometry(geometry), this.edges));
    this.shown.set(box.number, mesh);
    this.group.add(mesh);
    return mesh;
  }

  private remove(number: number, mesh: Mesh): void {
    mesh.removeFromParent();
    mesh.geometry.dispose();
    for (const child of mesh.children) (child as LineSegments).geometry.dispose();
    this.shown.delete(number);
  }
}
