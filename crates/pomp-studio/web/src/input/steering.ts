// Keyboard, gamepad and touch stick: gathers what is held, and says what it asks for.
import { element, typing } from "../ui";
import { steers, WAYS, type Wish, wishOf } from "./wish";

export class Steering {
  private readonly held = new Set<string>();
  private touch: [number, number] = [0, 0];
  /** What the buttons of a touch screen ask for: gaits, and to face ahead. */
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
      if (steers(event.code)) {
        this.held.add(event.code);
        // Space presses buttons and boxes; only over the picture it is nobody else's.
        const idle = event.target instanceof HTMLCanvasElement || event.target === document.body;
        if (
          (event.code in WAYS || (event.code === "Space" && idle)) &&
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
    const set = (what: string, on: boolean): void => {
      if (on) this.touched.add(what);
      else this.touched.delete(what);
      element(`touch-${what}`).setAttribute("aria-pressed", String(on));
    };
    // The others stay until they are pressed again; a jump lasts as long as the finger.
    for (const what of ["jog", "crouch", "face"])
      element(`touch-${what}`).onclick = () => set(what, !this.touched.has(what));
    const jump = element("touch-jump");
    jump.addEventListener("pointerdown", (event) => {
      jump.setPointerCapture(event.pointerId);
      set("jump", true);
    });
    for (const end of ["pointerup", "pointercancel"] as const) jump.addEventListener(end, () => set("jump", false));
  }

  wish(): Wish {
    const wish = wishOf(
      { keys: this.held, stick: this.touch, buttons: this.touched, pads: navigator.getGamepads?.() ?? [] },
      this.gaits,
    );
    this.look = wish.look;
    if (wish.lacking && wish.lacking !== this.wanting) this.lacks(wish.lacking);
    this.wanting = wish.lacking;
    return wish;
  }
}
