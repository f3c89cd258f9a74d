// What the hands ask for: keyboard, gamepad and touch stick, as a direction in the view and a gait.
import { element, typing } from "../ui";

export interface Wish {
  /** To the right and ahead in the view, at most of length 1. */
  right: number;
  ahead: number;
  gait: string;
}

/** Stick positions closer to the middle than this are rest. */
const DEAD = 0.18;

const KEYS: Record<string, [number, number]> = {
  KeyW: [0, 1],
  ArrowUp: [0, 1],
  KeyS: [0, -1],
  ArrowDown: [0, -1],
  KeyA: [-1, 0],
  ArrowLeft: [-1, 0],
  KeyD: [1, 0],
  ArrowRight: [1, 0],
};

export class Steering {
  private readonly held = new Set<string>();
  private touch: [number, number] = [0, 0];
  /** Gaits that the buttons of a touch screen ask for. */
  private readonly touched = new Set<string>();
  /** Gaits that the model has. */
  gaits: string[] = ["walk"];
  /** Told once per press of a gait that the model does not have. */
  lacks: (gait: string) => void = () => {};
  private wanting = "";
  /** Turns of the view by a gamepad's right stick, per second. */
  look: [number, number] = [0, 0];

  constructor() {
    addEventListener("keydown", (event) => {
      if (typing(event) || event.ctrlKey || event.metaKey || event.altKey) return;
      const range = event.target instanceof HTMLInputElement && event.target.type === "range";
      if (range && event.code.startsWith("Arrow")) return;
      if (event.code in KEYS || event.code.startsWith("Shift") || event.code === "KeyC" || event.code === "Space") {
        this.held.add(event.code);
        // Space presses buttons and boxes; only over the picture it is nobody else's.
        const idle = event.target instanceof HTMLCanvasElement || event.target === document.body;
        if (
          (event.code in KEYS || (event.code === "Space" && idle)) &&
          !(event.target instanceof HTMLButtonElement && event.target.getAttribute("role") === "tab")
        )
          event.preventDefault();
      }
    });
    addEventListener("keyup", (event) => this.held.delete(event.code));
    addEventListener("blur", () => this.held.clear());
    this.touchStick();
  }

  private touchStick(): void {
    const stick = element("stick");
    const knob = stick.firstElementChild as HTMLElement;
    const place = (event: PointerEvent | undefined): void => {
      const box = stick.getBoundingClientRect();
      const reach = box.width / 2;
      let [x, y] = event ? [event.clientX - box.left - reach, event.clientY - box.top - reach] : [0, 0];
      const length = Math.hypot(x, y);
      if (length > reach) [x, y] = [(x / length) * reach, (y / length) * reach];
      this.touch = [x / reach, -y / reach];
      knob.style.transform = `translate(${x * 0.7}px, ${y * 0.7}px)`;
    };
    stick.addEventListener("pointerdown", (event) => {
      stick.setPointerCapture(event.pointerId);
      place(event);
    });
    stick.addEventListener("pointermove", (event) => {
      if (stick.hasPointerCapture(event.pointerId)) place(event);
    });
    for (const end of ["pointerup", "pointercancel"] as const) stick.addEventListener(end, () => place(undefined));
    const set = (gait: string, on: boolean): void => {
      if (on) this.touched.add(gait);
      else this.touched.delete(gait);
      element(`touch-${gait}`).setAttribute("aria-pressed", String(on));
    };
    // Jog and crouch stay until they are pressed again; a jump lasts as long as the finger.
    for (const gait of ["jog", "crouch"]) element(`touch-${gait}`).onclick = () => set(gait, !this.touched.has(gait));
    const jump = element("touch-jump");
    jump.addEventListener("pointerdown", (event) => {
      jump.setPointerCapture(event.pointerId);
      set("jump", true);
    });
    for (const end of ["pointerup", "pointercancel"] as const) jump.addEventListener(end, () => set("jump", false));
  }

  wish(): Wish {
    let right = 0;
    let ahead = 0;
    for (const key of this.held) {
      const way = KEYS[key];
      if (way) [right, ahead] = [right + way[0], ahead + way[1]];
    }
    let jog = this.held.has("ShiftLeft") || this.held.has("ShiftRight") || this.touched.has("jog");
    let crouch = this.held.has("KeyC") || this.touched.has("crouch");
    let jump = this.held.has("Space") || this.touched.has("jump");
    right += this.touch[0];
    ahead += this.touch[1];
    this.look = [0, 0];
    for (const pad of navigator.getGamepads?.() ?? []) {
      if (!pad?.connected || pad.mapping !== "standard") continue;
      const axis = (i: number): number => (Math.abs(pad.axes[i] ?? 0) > DEAD ? pad.axes[i]! : 0);
      right += axis(0);
      ahead -= axis(1);
      this.look = [axis(2), axis(3)];
      const pressed = (i: number): boolean => pad.buttons[i]?.pressed ?? false;
      jog ||= pressed(7) || pressed(5);
      crouch ||= pressed(1);
      jump ||= pressed(0);
    }
    const length = Math.hypot(right, ahead);
    if (length < 0.05) [right, ahead] = [0, 0];
    else if (length > 1) [right, ahead] = [right / length, ahead / length];
    const has = (gait: string): boolean => this.gaits.includes(gait);
    const wanting =
      jump && !has("jump") ? "jump" : crouch && !has("crouch") ? "crouch" : jog && !has("jog") ? "jog" : "";
    if (wanting && wanting !== this.wanting) this.lacks(wanting);
    this.wanting = wanting;
    const gait =
      jump && has("jump")
        ? "jump"
        : crouch && has("crouch")
          ? "crouch"
          : jog && has("jog")
            ? "jog"
            : has("walk")
              ? "walk"
              : this.gaits[0]!;
    return { right, ahead, gait };
  }
}
