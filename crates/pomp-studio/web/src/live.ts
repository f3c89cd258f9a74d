// The live world: frames in, steering out.
import type { Clip } from "./clip";
import { Connection } from "./connection";
import { Brush } from "./input/brush";
import { Pointer } from "./input/pointer";
import { Steering } from "./input/steering";
import type { Wish } from "./input/wish";
import { between } from "./interpolate";
import { sceneOfAddress } from "./link";
import type { Plots } from "./panels/plots";
import type { FrameMessage, SceneInfo, ToPage, Vec3, WorldState } from "./protocol";
import { SceneForm } from "./scene_form";
import { element, say, sayError, typing } from "./ui";
import { inWorld } from "./view/direction";
import type { Shown } from "./view/overlays";
import type { Person, WorldView } from "./view/world_view";

/** Pace while a push is aimed. */
const AIMING_PACE = 0.2;
/** How long the view stays where a hand has turned it, milliseconds, and how fast it then comes round, per second. */
const VIEW_RESTS_MS = 1500;
const VIEW_TURNS = 0.9;

export class Live {
  private readonly connection: Connection;
  private readonly steering = new Steering();
  private readonly pointer: Pointer;
  private readonly brush: Brush;
  private readonly form: SceneForm;
  private scene: SceneInfo | undefined;
  private state: WorldState | undefined;
  private last: FrameMessage | undefined;
  private previous: FrameMessage | undefined;
  private arrived = 0;
  private fresh = false;
  private sequence = 0;
  private sent = "";
  private readonly sentAt = new Map<number, number>();
  private latency: number | undefined;
  private turnedAt = 0;
  private pace = 1;
  private sleeping = false;
  private linked = false;
  private fell = false;
  active = true;

  constructor(
    private readonly view: WorldView,
    private readonly plots: Plots,
    private readonly shown: Shown,
    canvas: HTMLCanvasElement,
    compare: (pair: [Clip, Clip]) => void,
  ) {
    this.connection = new Connection({
      received: (message) => this.received(message),
      opened: () => (element("lost").hidden = true),
      lost: (seconds) => this.lost(seconds),
    });
    this.form = new SceneForm(this.connection, view, compare);
    this.brush = new Brush(view, (x, z, radius, height) =>
      this.connection.send({ do: "bump", x, z, radius_m: radius, height_m: height }),
    );
    this.pointer = new Pointer(view, canvas, this.brush, {
      canPush: () => this.active && this.last !== undefined,
      aiming: (on) => this.connection.send({ do: "pace", factor: on ? Math.min(AIMING_PACE, this.pace) : this.pace }),
      push: (joint, impulse, point) => this.push(joint, impulse, point),
      poke: (joint, point) => this.push(joint, this.form.impulse("away"), point),
      turned: () => (this.turnedAt = performance.now()),
    });
    this.steering.lacks = (gait) => this.lacks(gait);
    this.buttons();
    addEventListener("hashchange", () => void this.followLink());
    document.addEventListener("visibilitychange", () => this.sleep(document.hidden));
    element("reconnect").onclick = () => this.connection.again();
  }

  open(): void {
    element("status").textContent = "Connecting …";
    this.connection.open();
  }

  /** Stops the world while nobody looks. */
  sleep(asleep: boolean): void {
    if (asleep && this.state && !this.state.paused) {
      this.sleeping = true;
      this.connection.send({ do: "pause" });
    } else if (!asleep && this.sleeping && this.active) {
      this.sleeping = false;
      this.connection.send({ do: "resume" });
    }
  }

  setActive(active: boolean): void {
    this.active = active;
    this.sleep(!active);
    if (!active) this.brush.choose(undefined);
    if (active && this.scene) {
      this.plots.setPerson(personOf(this.scene), this.scene.gait_names);
      this.view.setPerson(personOf(this.scene));
      if (this.form.terrain) this.view.setTerrain(this.form.terrain);
      this.view.stage.jump();
    }
  }

  private buttons(): void {
    const command = (id: string, act: () => void): void => {
      element(id).onclick = act;
    };
    command("pause", () => this.togglePause());
    command("step", () => this.connection.send({ do: "step" }));
    command("throw", () => this.form.throwBox(this.last));
    command("reset", () => this.connection.send({ do: "reset" }));
    command("rewind-1", () => this.connection.send({ do: "rewind", seconds: 1 }));
    command("rewind-10", () => this.connection.send({ do: "rewind", seconds: 10 }));
    const pace = element<HTMLSelectElement>("pace");
    pace.onchange = () => {
      this.pace = Number(pace.value);
      this.connection.send({ do: "pace", factor: this.pace });
    };
    addEventListener("keydown", (event) => {
      if (!this.active || typing(event) || event.ctrlKey || event.metaKey || event.altKey || event.repeat) return;
      const onButton = event.target instanceof HTMLButtonElement;
      if (event.code === "Enter" && !onButton) this.togglePause();
      else if (event.code === "Period") this.connection.send({ do: "step" });
      else if (event.code === "KeyR") this.connection.send({ do: "reset" });
      else if (event.code === "KeyZ") this.connection.send({ do: "rewind", seconds: 1 });
      else if (event.code === "KeyP") this.form.push("away");
      else if (event.code === "KeyB") this.form.throwBox(this.last);
    });
  }

  /** Says that nothing happens, and what else there is. */
  private lacks(gait: string): void {
    if (!this.active || !this.scene) return;
    const { gaits, model } = this.scene;
    const has = gaits.length > 1 ? `${gaits.slice(0, -1).join(", ")} and ${gaits.at(-1)}` : gaits.join();
    say({
      level: "info",
      text: `The model ${model.name} has not learnt to ${gait}: it can ${has}. A model trained on clips that ${gait} will, and this key then asks for it.`,
    });
  }

  private togglePause(): void {
    this.connection.send({ do: this.state?.paused ? "resume" : "pause" });
  }

  private push(joint: number, impulse: Vec3, point: Vec3): void {
    const body = this.scene?.bodies.indexOf(this.scene.joints[joint]!.name) ?? -1;
    if (body >= 0) this.connection.send({ do: "push", body, impulse_ns: impulse, point_local: point });
  }

  private received(message: ToPage): void {
    switch (message.kind) {
      case "scene":
        this.begin(message);
        break;
      case "terrain":
        this.form.terrain = message.terrain;
        if (this.active) {
          this.view.setTerrain(message.terrain);
          this.view.stage.jump();
        }
        break;
      case "patch":
        if (message.epoch !== this.scene?.epoch) break;
        if (this.active) this.view.patchTerrain(message);
        else this.form.patch(message);
        break;
      case "frame":
        this.take(message);
        break;
      case "notice":
        if (message.level === "error") element("status").textContent = "";
        say(message);
        break;
      case "state":
        this.state = message;
        if (!this.active) this.sleep(true);
        this.form.setState(message);
        element("pause").textContent = message.paused ? "Go on" : "Pause";
        element<HTMLButtonElement>("rewind-1").disabled = message.can_rewind_s < 0.1;
        element<HTMLButtonElement>("rewind-10").disabled = message.can_rewind_s < 0.1;
        break;
      case "link":
        void this.form.copyLink(message.scene);
        break;
    }
  }

  private begin(scene: SceneInfo): void {
    const anew = this.scene === undefined || JSON.stringify(this.scene.joints) !== JSON.stringify(scene.joints);
    this.scene = scene;
    this.last = this.previous = undefined;
    this.fell = false;
    this.sent = "";
    this.sentAt.clear();
    this.steering.gaits = scene.gaits;
    for (const gait of ["jog", "crouch", "jump"]) {
      element(`hint-${gait}`).hidden = !scene.gaits.includes(gait);
      element(`touch-${gait}`).hidden = !scene.gaits.includes(gait);
    }
    this.form.setScene(scene);
    if (!this.active) return;
    if (anew) this.view.setPerson(personOf(scene));
    this.view.clearFootprints();
    this.plots.setPerson(personOf(scene), scene.gait_names);
    if (!this.linked) {
      this.linked = true;
      void this.followLink();
    }
  }

  private async followLink(): Promise<void> {
    try {
      const scene = await sceneOfAddress();
      if (!scene) return;
      this.connection.send({ do: "reset", scene });
      say({ level: "info", text: "Replaying the linked scene. Steer or push to take over." });
    } catch (error) {
      sayError(error);
    }
  }

  private take(frame: FrameMessage): void {
    if (frame.epoch !== this.scene?.epoch) return;
    const last = this.last;
    if (last && frame.frame < last.frame) this.plots.drop(last.frame - frame.frame);
    else if (this.active && last?.frame !== frame.frame) this.plots.push(frame, frame.step_ms);
    this.previous = last;
    this.last = frame;
    this.fresh = true;
    this.arrived = performance.now();
    const sentAt = this.sentAt.get(frame.input_sequence);
    if (sentAt !== undefined) {
      this.latency = this.arrived - sentAt;
      for (const sequence of this.sentAt.keys()) if (sequence <= frame.input_sequence) this.sentAt.delete(sequence);
    }
    if (frame.fallen && !this.fell) {
      say({ level: "info", text: "It has fallen, and gets up by itself where it can. Z goes back, R begins anew." });
    }
    this.fell = frame.fallen;
  }

  private lost(seconds: number | undefined): void {
    this.state = undefined;
    const box = element("lost");
    box.hidden = false;
    element("lost-text").textContent =
      seconds === undefined
        ? "The studio has closed the connection or does not answer. Is the program still running?"
        : `The connection to the studio is lost. Trying again in ${seconds} s …`;
    element("status").textContent = "Not connected";
  }

  /** Once per picture. */
  draw(seconds: number): void {
    const stage = this.view.stage;
    const wish = this.steering.wish();
    if (this.steering.look[0] || this.steering.look[1]) {
      stage.orbit(this.steering.look[0] * seconds * 400, this.steering.look[1] * seconds * 300);
      this.turnedAt = performance.now();
    }
    if (!wish.faces) this.turnAfter(wish.ahead, seconds);
    this.steer(wish);
    const frame = this.shownFrame();
    if (frame) {
      this.view.show(frame, this.shown, this.fresh);
      this.fresh = false;
      this.tell();
    }
    this.view.render(seconds, frame);
    this.pointer.draw();
    this.brush.draw();
    this.plots.draw(this.latency);
  }

  /** In slow motion frames come more rarely than pictures; what lies between them is drawn. */
  private shownFrame(): FrameMessage | undefined {
    const [a, b] = [this.previous, this.last];
    const pace = this.state?.pace ?? 1;
    if (!a || !b || pace >= 1 || b.frame !== a.frame + 1 || this.state?.paused) return b;
    const t = (performance.now() - this.arrived) / (1000 / 60 / pace);
    return t < 1 ? { ...b, ...between(a, b, t) } : b;
  }

  /** The view comes round behind a character that walks ahead. */
  private turnAfter(ahead: number, seconds: number): void {
    if (!this.last || ahead < 0.2 || performance.now() - this.turnedAt < VIEW_RESTS_MS) return;
    const path = this.last.wanted_path!;
    const [dx, dz] = [path[path.length - 2]! - path[0]!, path[path.length - 1]! - path[1]!];
    if (Math.hypot(dx, dz) < 0.3) return;
    const error = Math.atan2(dx, dz) - this.view.stage.yaw;
    this.view.stage.yaw += Math.sin(error) * VIEW_TURNS * seconds;
  }

  private steer({ right, ahead, gait, faces }: Wish): void {
    if (!this.scene) return;
    const [x, z] = inWorld(right, ahead, this.view.stage.yaw);
    const facing = faces ? inWorld(0, 1, this.view.stage.yaw) : undefined;
    const wish = [x, z, ...(facing ?? [])].map((value) => value.toFixed(2)).join(" ") + gait;
    const still = right === 0 && ahead === 0 && !faces && gait !== "crouch" && gait !== "jump";
    if (wish === this.sent || (this.sent === "" && still)) return;
    this.sent = wish;
    this.sequence++;
    // While the clock stands no frame answers, and the wait says nothing.
    if (!this.state?.paused) this.sentAt.set(this.sequence, performance.now());
    this.connection.send({ do: "steer", sequence: this.sequence, direction: [x, z], gait, ...(facing && { facing }) });
    if (right !== 0 || ahead !== 0) element("hint").classList.add("gone");
  }

  private tell(): void {
    const frame = this.last;
    if (!frame || !this.scene) return;
    const status = element("status");
    const [x, z] = [frame.positions[0]!, frame.positions[2]!];
    const seconds = frame.frame / this.scene.frame_rate_hz;
    const gait = this.scene.gait_names[frame.gait ? frame.gait.indexOf(Math.max(...frame.gait)) : 0];
    const mode = frame.fallen
      ? gait === "get_up"
        ? "getting up"
        : "fallen"
      : this.state?.stopped
        ? "stopped"
        : this.state?.paused
          ? "paused"
          : frame.replaying
            ? "replaying"
            : "";
    const clock = `${seconds.toFixed(1)} s`;
    const text = `${mode ? `${mode} · ` : ""}${clock} · ${frame.speed_mps.toFixed(1)} m/s · at ${x.toFixed(1)}, ${z.toFixed(1)} m`;
    if (status.textContent !== text) status.textContent = text;
    Object.assign(status.dataset, {
      x: x.toFixed(3),
      y: frame.positions[1]!.toFixed(3),
      z: z.toFixed(3),
      frame: String(frame.frame),
      epoch: String(frame.epoch),
      fallen: String(frame.fallen),
      boxes: String(frame.boxes?.length ?? 0),
      ground: this.view.ground.drawn.toFixed(3),
    });
  }
}

function personOf(scene: SceneInfo): Person {
  return {
    joints: scene.joints,
    shapes: scene.shapes,
    bodies: scene.bodies,
    weight: scene.weight_n,
    rate: scene.frame_rate_hz,
  };
}
