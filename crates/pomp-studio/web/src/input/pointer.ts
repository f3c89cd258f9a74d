// The pointer on the picture: on the body it aims a push, elsewhere it turns the view; two fingers or the wheel zoom.
import { Plane, Vector3 } from "three";
import type { Vec3 } from "../protocol";
import { element } from "../ui";
import type { WorldView } from "../view/world_view";
import type { Brush } from "./brush";

/** Impulse per metre of drag, N·s, and the largest. */
const NS_PER_M = 160;
const LARGEST_NS = 400;
/** A pointer that moves by less than this clicks, pixels. */
const CLICK_PX = 4;

export interface Aim {
  joint: number;
  local: Vector3;
  impulse: Vector3;
}

export interface PointerActions {
  canPush(): boolean;
  aiming(on: boolean): void;
  push(joint: number, impulse: Vec3, point: Vec3): void;
  /** A body was clicked on, at a point of its frame. */
  poke(joint: number, point: Vec3): void;
  turned(): void;
}

export class Pointer {
  private aim: Aim | undefined;
  private readonly end = new Vector3();
  private at: [number, number] = [0, 0];
  private downAt: [number, number] = [0, 0];
  private readonly fingers = new Map<number, [number, number]>();
  private readonly svg = element("aim") as unknown as SVGSVGElement;
  private readonly label = element<HTMLOutputElement>("aim-text");

  constructor(
    private readonly view: WorldView,
    private readonly canvas: HTMLCanvasElement,
    private readonly brush: Brush,
    private readonly actions: PointerActions,
  ) {
    canvas.addEventListener("pointerdown", (event) => this.down(event));
    canvas.addEventListener("pointermove", (event) => this.move(event));
    canvas.addEventListener("pointerup", (event) => this.up(event));
    canvas.addEventListener("pointercancel", (event) => this.cancel(event));
    canvas.addEventListener("contextmenu", (event) => event.preventDefault());
    canvas.addEventListener(
      "wheel",
      (event) => {
        event.preventDefault();
        view.stage.zoom(Math.exp(event.deltaY * 0.001));
      },
      { passive: false },
    );
    addEventListener("keydown", (event) => {
      if (event.code === "Escape" && this.aim) this.stopAiming();
    });
  }

  private down(event: PointerEvent): void {
    this.canvas.setPointerCapture(event.pointerId);
    this.fingers.set(event.pointerId, [event.clientX, event.clientY]);
    this.at = this.downAt = [event.clientX, event.clientY];
    if (this.fingers.size > 1) {
      this.stopAiming();
      this.brush.up();
      return;
    }
    if (event.button === 0 && this.actions.canPush() && this.brush.down(...this.at)) return;
    const hit =
      event.button === 0 && this.actions.canPush() ? this.view.figure?.hit(this.view.stage.ray(...this.at)) : undefined;
    if (hit && this.view.figure) {
      this.aim = { joint: hit.joint, local: this.view.figure.toLocal(hit.joint, hit.point), impulse: new Vector3() };
      this.actions.aiming(true);
    } else {
      this.canvas.classList.add("turning");
    }
  }

  private move(event: PointerEvent): void {
    const before = this.fingers.get(event.pointerId);
    this.brush.move(event.clientX, event.clientY);
    if (!before) {
      const over = this.actions.canPush() && this.view.figure?.hit(this.view.stage.ray(event.clientX, event.clientY));
      this.canvas.classList.toggle("over-body", Boolean(over));
      return;
    }
    const spread = (): number => {
      const [a, b] = [...this.fingers.values()];
      return a && b ? Math.hypot(a[0] - b[0], a[1] - b[1]) : 0;
    };
    const wide = spread();
    this.fingers.set(event.pointerId, [event.clientX, event.clientY]);
    this.at = [event.clientX, event.clientY];
    if (this.fingers.size > 1) {
      const now = spread();
      if (wide > 0 && now > 0) this.view.stage.zoom(wide / now);
    } else if (!this.aim && !(this.brush.way && event.buttons === 1)) {
      this.view.stage.orbit(event.clientX - before[0], event.clientY - before[1]);
      this.actions.turned();
    }
  }

  private up(event: PointerEvent): void {
    this.fingers.delete(event.pointerId);
    this.canvas.classList.remove("turning");
    this.brush.up();
    const aim = this.aim;
    this.stopAiming();
    const moved = Math.hypot(event.clientX - this.downAt[0], event.clientY - this.downAt[1]);
    if (aim && moved < CLICK_PX) this.actions.poke(aim.joint, aim.local.toArray());
    else if (aim && aim.impulse.length() > 3) {
      this.actions.push(aim.joint, aim.impulse.toArray(), aim.local.toArray());
    }
  }

  private cancel(event: PointerEvent): void {
    this.fingers.delete(event.pointerId);
    this.canvas.classList.remove("turning");
    this.brush.up();
    this.stopAiming();
  }

  private stopAiming(): void {
    if (!this.aim) return;
    this.aim = undefined;
    this.svg.classList.remove("on");
    this.label.textContent = "";
    this.actions.aiming(false);
  }

  /** Draws the aimed push from where the body is now to where the pointer is. */
  draw(): void {
    if (!this.aim || !this.view.figure) return;
    const from = this.view.figure.toWorld(this.aim.joint, this.aim.local);
    const toward = this.view.stage.camera.getWorldDirection(new Vector3());
    // The push lies in the plane through the body that faces the viewer, upright.
    toward.setY(0).normalize();
    const plane = new Plane().setFromNormalAndCoplanarPoint(toward, from);
    const hit = this.view.stage.ray(...this.at).ray.intersectPlane(plane, this.end);
    if (hit) this.aim.impulse.copy(hit).sub(from).multiplyScalar(NS_PER_M).clampLength(0, LARGEST_NS);
    const size = this.aim.impulse.length();
    const a = this.view.stage.onScreen(from);
    const b = this.view.stage.onScreen(from.clone().add(this.aim.impulse.clone().divideScalar(NS_PER_M)));
    this.svg.classList.add("on");
    const line = this.svg.querySelector("line")!;
    const head = this.svg.querySelector("path")!;
    const [dx, dy] = [b[0] - a[0], b[1] - a[1]];
    const length = Math.max(Math.hypot(dx, dy), 1);
    const [ux, uy] = [dx / length, dy / length];
    const tip = Math.min(16, length);
    const neck = [b[0] - ux * tip, b[1] - uy * tip] as const;
    for (const [name, value] of [
      ["x1", a[0]],
      ["y1", a[1]],
      ["x2", neck[0]],
      ["y2", neck[1]],
    ] as const)
      line.setAttribute(name, String(value));
    head.setAttribute(
      "d",
      `M${b[0]} ${b[1]}L${neck[0] - uy * 8} ${neck[1] + ux * 8}L${neck[0] + uy * 8} ${neck[1] - ux * 8}Z`,
    );
    this.label.textContent = `${size.toFixed(0)} N·s`;
    this.label.style.left = `${b[0] + ux * 12 + (ux < 0 ? -64 : 4)}px`;
    this.label.style.top = `${b[1] + uy * 14 - 10}px`;
  }
}
