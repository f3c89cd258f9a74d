// The panel of the scene: what the world is made of, pushes by hand, and what can be taken away.
import { Clip } from "./clip";
import type { Connection } from "./connection";
import { sceneLink } from "./link";
import { type Mover, moverLabel, othersThan } from "./movers";
import type { FrameMessage, SceneInfo, SceneRequest, TerrainGrid, TerrainPatch, Vec3, WorldState } from "./protocol";
import { StyleSliders } from "./style_sliders";
import { all, element, save, say, sayError } from "./ui";
import { inWorld, throwVelocity } from "./view/direction";
import { applyPatch } from "./view/grid";
import type { WorldView } from "./view/world_view";

/** Edge of a thrown cube for its mass: that of a packed crate, kg/m³, within what the simulator takes. */
const CRATE_DENSITY = 220;
/** A box flies so long, seconds, at most; its speed follows from the way. */
const LONGEST_FLIGHT_S = 0.8;

type Way = "left" | "right" | "away" | "near";

export class SceneForm {
  terrain: TerrainGrid | undefined;
  private scene: SceneInfo | undefined;
  /** What else can move the scene, in the order of its list. */
  private others: Mover[] = [];
  private readonly model = element<HTMLSelectElement>("model");
  private readonly controller = element<HTMLSelectElement>("controller");
  private readonly terrainField = element<HTMLSelectElement>("terrain");
  private readonly compareWith = element<HTMLSelectElement>("compare-with");
  private readonly seed = element<HTMLInputElement>("seed");
  private readonly friction = element<HTMLInputElement>("friction");
  private readonly mass = element<HTMLInputElement>("mass");
  private readonly assist = element<HTMLInputElement>("assist");
  private readonly denoise = element<HTMLInputElement>("denoise");
  private readonly styles: StyleSliders;
  private readonly pushSize = element<HTMLInputElement>("push-size");
  private readonly pushBody = element<HTMLSelectElement>("push-body");
  private readonly boxMass = element<HTMLInputElement>("box-mass");
  private readonly boxSpeed = element<HTMLInputElement>("box-speed");

  constructor(
    private readonly connection: Connection,
    private readonly view: WorldView,
    private readonly compare: (pair: [Clip, Clip]) => void,
  ) {
    this.styles = new StyleSliders(connection);
    this.model.onchange = () => {
      this.offerControllers();
      this.begin();
    };
    for (const field of [this.controller, this.terrainField, this.seed, this.friction, this.mass])
      field.onchange = () => this.begin();
    element("dice").onclick = () => {
      this.seed.value = String(Math.floor(Math.random() * 1e6));
      this.begin();
    };
    this.assist.oninput = () => {
      this.label();
      connection.send({ do: "assist", scale: Number(this.assist.value) });
    };
    this.denoise.oninput = () => {
      this.label();
      connection.send({ do: "denoise", steps: Number(this.denoise.value) });
    };
    for (const field of [this.friction, this.mass, this.pushSize, this.boxMass, this.boxSpeed])
      field.oninput = () => this.label();
    for (const button of all("[data-push]")) button.onclick = () => this.push(button.dataset.push as Way);
    for (const button of all("[data-take]")) button.onclick = () => void this.take(button.dataset.take!);
    element("gif").onclick = () => void this.gif();
    element("compare").onclick = () => void this.sideBySide();
    element("link").onclick = () => connection.send({ do: "link" });
  }

  setScene(info: SceneInfo): void {
    this.scene = info;
    const { scene } = info;
    this.terrainField.replaceChildren(
      ...info.terrains.map((name) => new Option(name, name, false, name === scene.terrain)),
    );
    this.terrainField.value = scene.terrain;
    this.model.replaceChildren(...info.models.map((name) => new Option(name, name)));
    this.model.value = scene.model ?? info.models[0]!;
    element("model-row").hidden = info.models.length < 2;
    this.offerControllers();
    this.controller.value = info.controller;
    this.others = othersThan({ model: this.model.value, controller: info.controller }, info);
    const labels = this.others.map((mover, index) => new Option(moverLabel(mover, info), String(index)));
    this.compareWith.replaceChildren(...labels);
    element("compare-row").hidden = this.others.length === 0;
    this.seed.value = String(scene.seed);
    this.friction.value = String(scene.friction);
    this.mass.value = String(scene.mass_kg);
    this.assist.value = String(scene.assist);
    this.denoise.max = String(Math.min(info.most_denoising_steps, 20));
    this.denoise.value = String(scene.denoising_steps);
    this.styles.setScene(info);
    const body = this.pushBody.value || "Spine2";
    this.pushBody.replaceChildren(...info.bodies.map((name) => new Option(name, name, false, name === body)));
    this.label();
  }

  /** The controllers of the model that is chosen; the one that moves the character stays where it can. */
  private offerControllers(): void {
    if (!this.scene) return;
    const names = this.scene.controllers[this.scene.models.indexOf(this.model.value)] ?? [];
    const before = this.controller.value;
    this.controller.replaceChildren(...names.map((name) => new Option(name, name)));
    if (names.includes(before)) this.controller.value = before;
    element("controller-row").hidden = names.length < 2;
  }

  setState(state: WorldState): void {
    if (document.activeElement !== this.assist) this.assist.value = String(state.assist);
    if (document.activeElement !== this.denoise) this.denoise.value = String(state.denoising_steps);
    this.styles.setState(state);
    element("recorded").textContent =
      `${state.recorded_s.toFixed(0)} s recorded${this.scene && state.recorded_s >= this.scene.recording_s ? ", the latest that fit" : ""}.`;
    this.label();
  }

  private label(): void {
    const tell = (field: HTMLInputElement, text: string): void => {
      const output = document.querySelector<HTMLOutputElement>(`output[for="${field.id}"]`);
      if (output && output.textContent !== text) output.textContent = text;
    };
    tell(this.friction, Number(this.friction.value).toFixed(2));
    tell(this.mass, `${Number(this.mass.value).toFixed(0)} kg`);
    tell(this.assist, `${Math.round(Number(this.assist.value) * 100)} %`);
    tell(this.denoise, `${this.denoise.value} step${this.denoise.value === "1" ? "" : "s"}`);
    tell(this.pushSize, `${this.pushSize.value} N·s`);
    tell(this.boxMass, `${this.boxMass.value} kg`);
    tell(this.boxSpeed, `${this.boxSpeed.value} m/s`);
  }

  private begin(): void {
    if (!this.scene) return;
    const seed = Math.min(Math.max(Math.round(Number(this.seed.value) || 0), 0), 2 ** 32 - 1);
    const model = this.model.value === this.scene.models[0] ? {} : { model: this.model.value };
    // Another model or controller may not have the styles of this one.
    const shown = this.scene.scene.model ?? this.scene.models[0];
    const moves = this.model.value === shown && this.controller.value === this.scene.controller;
    const scene: SceneRequest = {
      ...model,
      ...(this.controller.value ? { controller: this.controller.value } : {}),
      terrain: this.terrainField.value,
      seed,
      friction: Number(this.friction.value),
      mass_kg: Number(this.mass.value),
      assist: Number(this.assist.value),
      denoising_steps: Number(this.denoise.value),
      ...(moves ? this.styles.request() : {}),
    };
    this.connection.send({ do: "reset", scene });
  }

  /** The chosen impulse in a direction of the view. */
  impulse(way: Way): Vec3 {
    const ways: Record<Way, [number, number]> = { left: [-1, 0], right: [1, 0], away: [0, 1], near: [0, -1] };
    const [x, z] = inWorld(...ways[way], this.view.stage.yaw);
    const size = Number(this.pushSize.value);
    return [x * size, 0, z * size];
  }

  /** A push of the chosen size on the chosen body, as seen from the viewer. */
  push(way: Way): void {
    const body = this.scene?.bodies.indexOf(this.pushBody.value) ?? -1;
    if (body >= 0) this.connection.send({ do: "push", body, impulse_ns: this.impulse(way), point_local: [0, 0, 0] });
  }

  /** Throws a box from beside the eye at the chosen body; it is aimed high enough to get there. */
  throwBox(frame: FrameMessage | undefined): void {
    const joint = this.scene?.joints.findIndex((candidate) => candidate.name === this.pushBody.value) ?? -1;
    if (!frame || joint < 0) return;
    const mass = Number(this.boxMass.value);
    const side = Math.min(Math.max(Math.cbrt(mass / CRATE_DENSITY), 0.08), 0.9);
    const eye = this.view.stage.camera.position;
    const target = [0, 1, 2].map((k) => frame.positions[3 * joint + k]!) as Vec3;
    const yaw = this.view.stage.yaw;
    // Below the picture's middle and a little to the right: the box is seen to fly, and hides nothing.
    const from: Vec3 = [
      eye.x - 0.35 * Math.cos(yaw),
      Math.max(eye.y - 0.3, this.view.ground.height(eye.x, eye.z) + side),
      eye.z + 0.35 * Math.sin(yaw),
    ];
    const velocity = throwVelocity(from, target, Number(this.boxSpeed.value), LONGEST_FLIGHT_S);
    this.connection.send({ do: "throw", side_m: side, mass_kg: mass, position: from, velocity });
  }

  /** Changed heights that nobody looks at just now. */
  patch(patch: TerrainPatch): void {
    if (this.terrain) applyPatch(this.terrain, patch);
  }

  private async take(file: string): Promise<void> {
    if (!this.scene) return;
    try {
      const answer = await fetch(`/worlds/${this.scene.world}/${file}`);
      if (!answer.ok) throw new Error(await answer.text());
      save(file, await answer.blob());
    } catch (error) {
      sayError(error);
    }
  }

  /** The last seconds as a picture that moves, drawn by the server. */
  private async gif(): Promise<void> {
    if (!this.scene) return;
    const button = element<HTMLButtonElement>("gif");
    button.disabled = true;
    button.textContent = "drawing …";
    try {
      const answer = await fetch(`/worlds/${this.scene.world}/motion.gif?seconds=10`);
      if (!answer.ok) throw new Error(await answer.text());
      save("motion.gif", await answer.blob());
    } catch (error) {
      sayError(error);
    }
    button.disabled = false;
    button.textContent = "GIF";
  }

  /** Has another model or controller move the same scene, and lays both motions side by side. */
  private async sideBySide(): Promise<void> {
    if (!this.scene) return;
    const button = element<HTMLButtonElement>("compare");
    const info = this.scene;
    const other = this.others[Number(this.compareWith.value)];
    if (!other) return;
    const named = async (path: string, name: string): Promise<Clip> => {
      const answer = await fetch(`/worlds/${info.world}/${path}`);
      if (!answer.ok) throw new Error(await answer.text());
      const clip = new Clip(await answer.arrayBuffer());
      clip.about.name = name;
      return clip;
    };
    button.disabled = true;
    button.textContent = "simulating …";
    try {
      const query = new URLSearchParams({ model: other.model, controller: other.controller });
      const repeated = await named(`with?${query}`, moverLabel(other, info));
      const own = await named("clip", moverLabel({ model: this.model.value, controller: info.controller }, info));
      this.compare([own, repeated]);
    } catch (error) {
      sayError(error);
    }
    button.disabled = false;
    button.textContent = "Compare with";
  }

  async copyLink(scene: SceneRequest): Promise<void> {
    try {
      const link = await sceneLink(scene);
      history.replaceState(null, "", link);
      await navigator.clipboard.writeText(link);
      say({
        level: "info",
        text: "The link is in the clipboard and in the address bar: it replays this scene, pushes included.",
      });
    } catch {
      say({ level: "info", text: "The link is in the address bar: it replays this scene, pushes included." });
    }
  }
}
