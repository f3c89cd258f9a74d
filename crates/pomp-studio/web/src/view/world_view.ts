// One character on its ground, with everything drawn around it.
import { Vector3 } from "three";
import type { Palette } from "../palette";
import type { Frame, JointInfo, Shape, TerrainGrid, TerrainPatch } from "../protocol";
import { Boxes } from "./boxes";
import { Figure } from "./figure";
import { Ground } from "./ground";
import { Overlays, type Shown } from "./overlays";
import type { Stage } from "./stage";

export interface Person {
  joints: JointInfo[];
  shapes: Shape[];
  bodies: string[];
  weight: number;
  rate: number;
}

export class WorldView {
  readonly ground: Ground;
  private readonly boxes: Boxes;
  figure: Figure | undefined;
  private ghost: Figure | undefined;
  private overlays: Overlays | undefined;
  private palette: Palette | undefined;

  constructor(readonly stage: Stage) {
    this.ground = new Ground(stage.scene);
    this.boxes = new Boxes(stage.scene);
  }

  setPerson(person: Person): void {
    this.figure?.dispose();
    this.ghost?.dispose();
    this.overlays?.dispose();
    this.figure = new Figure(person.joints, false);
    this.ghost = new Figure(person.joints, true);
    this.overlays = new Overlays(
      this.stage.scene,
      this.ground,
      person.joints,
      person.shapes,
      person.bodies,
      person.weight,
      person.rate,
    );
    this.stage.scene.add(this.figure.group, this.ghost.group);
    if (this.palette) this.setColors(this.palette);
  }

  setTerrain(terrain: TerrainGrid): void {
    this.ground.setTerrain(terrain);
    this.overlays?.clearFootprints();
  }

  patchTerrain(patch: TerrainPatch): void {
    this.ground.patch(patch);
  }

  clearFootprints(): void {
    this.overlays?.clearFootprints();
  }

  setColors(palette: Palette): void {
    this.palette = palette;
    this.stage.setColors(palette);
    this.ground.setColors(palette.ground, palette.grid);
    this.boxes.setColors(palette);
    this.figure?.setColors(palette);
    this.ghost?.setColors(palette, palette.ghost);
    this.overlays?.setColors(palette);
  }

  /** Draws a frame; `fresh` frames also leave footprints. */
  show(frame: Frame, shown: Shown, fresh: boolean): void {
    this.figure?.pose(frame.positions, frame.rotations);
    if (this.ghost) {
      this.ghost.group.visible = shown.ghost && frame.target_rotations !== undefined;
      if (this.ghost.group.visible) this.ghost.pose(frame.target_positions!, frame.target_rotations!);
    }
    this.boxes.show(frame.boxes ?? []);
    if (fresh) this.overlays?.update(frame, shown);
  }

  /** Moves the camera after the pelvis and draws the picture. */
  render(seconds: number, frame: Frame | undefined): void {
    const pelvis = frame ? new Vector3().fromArray(frame.positions) : new Vector3(0, 0.95, 0);
    const ground = this.ground.height(pelvis.x, pelvis.z);
    // Looks at the trunk, without bobbing with every step.
    const look = new Vector3(pelvis.x, ground + Math.max(0.45, (pelvis.y - ground) * 0.35 + 0.6), pelvis.z);
    this.ground.update(pelvis.x, pelvis.z);
    this.stage.follow(look, seconds, (x, z) => this.ground.height(x, z));
    this.stage.render();
  }
}
