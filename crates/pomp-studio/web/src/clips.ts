// Clips, recordings and rollouts: opened, played, and laid side by side.
import { Clip } from "./clip";
import { hasJoints, Joints, type Upload, uploadAddress } from "./joints";
import { Library } from "./library";
import type { Palette } from "./palette";
import type { Plots } from "./panels/plots";
import { advance, frameAt, stepped } from "./playback";
import type { LibraryList } from "./protocol";
import { Timeline } from "./timeline";
import { element, sayError, typing } from "./ui";
import { Figure } from "./view/figure";
import type { Shown } from "./view/overlays";
import type { WorldView } from "./view/world_view";

/** Distance between two clips that are shown side by side, metres. */
const APART_M = 1.1;

export class Clips {
  private readonly timeline: Timeline;
  private a: Clip | undefined;
  private b: Clip | undefined;
  private figureB: Figure | undefined;
  private apart = true;
  private at = 0;
  private playing = false;
  private drawn = -1;
  private palette: Palette | undefined;
  /** Files that clips were read from, whose joints can be mapped otherwise. */
  private readonly sources = new WeakMap<Clip, Upload>();
  /** The clip whose joints are looked at. */
  private corrected: Clip | undefined;
  private readonly joints = new Joints((upload) => void this.send(upload, this.corrected));
  private readonly library = new Library((entry) => void this.load(entry.name, fetch(`/library/${entry.number}`)));
  active = false;

  constructor(
    private readonly view: WorldView,
    private readonly plots: Plots,
    private readonly shown: Shown,
    private readonly opened: () => void,
  ) {
    this.timeline = new Timeline(element<HTMLCanvasElement>("timeline"), (seconds) => {
      this.at = seconds;
      this.play(false);
    });
    element("play").onclick = () => this.play(!this.playing);
    element("back").onclick = () => this.stepBy(-1);
    element("forth").onclick = () => this.stepBy(1);
    addEventListener("keydown", (event) => {
      if (!this.active || typing(event) || event.ctrlKey || event.metaKey || event.altKey) return;
      if ((event.code === "Space" || event.code === "Enter") && !(event.target instanceof HTMLButtonElement)) {
        event.preventDefault();
        this.play(!this.playing);
      } else if (event.code === "Comma") this.stepBy(-1);
      else if (event.code === "Period") this.stepBy(1);
    });
    this.uploads();
    addEventListener("resize", () => this.timeline.redraw());
  }

  private uploads(): void {
    const field = element<HTMLInputElement>("file");
    element("choose").onclick = () => field.click();
    field.onchange = () => {
      void this.read([...(field.files ?? [])]);
      field.value = "";
    };
    addEventListener("dragover", (event) => {
      event.preventDefault();
      document.body.classList.add("dragging");
    });
    addEventListener("dragleave", (event) => {
      if (event.relatedTarget === null) document.body.classList.remove("dragging");
    });
    addEventListener("drop", (event) => {
      event.preventDefault();
      document.body.classList.remove("dragging");
      void this.read([...(event.dataTransfer?.files ?? [])]);
    });
  }

  /** Has the server read files, one after the other. */
  private async read(files: File[]): Promise<void> {
    for (const file of files) {
      const upload = { file, stated: {} };
      if ((await this.send(upload)) || !hasJoints(file)) continue;
      // Joints that were not found can be stated. A file that cannot be read at all has been complained of.
      this.corrected = undefined;
      await this.joints.open(upload, () => {});
    }
  }

  /** Has the server read a file, and shows it in place of a clip or beside the others; whether it could be read. */
  private async send(upload: Upload, instead?: Clip): Promise<boolean> {
    const request = fetch(uploadAddress("clip", upload), { method: "POST", body: upload.file });
    const clip = await this.load(upload.file.name, request, instead);
    if (clip && hasJoints(upload.file)) {
      this.sources.set(clip, upload);
      this.cards();
    }
    return clip !== undefined;
  }

  private async load(name: string, request: Promise<Response>, instead?: Clip): Promise<Clip | undefined> {
    element("clip-time").textContent = `Reading ${name} …`;
    try {
      const answer = await request;
      if (!answer.ok)
        throw new Error(
          answer.status === 413 ? `${name} is larger than the server takes; raise max_upload_mb.` : await answer.text(),
        );
      const clip = new Clip(await answer.arrayBuffer());
      if (instead && instead === this.b) this.compare([this.a!, clip]);
      else if (instead && instead === this.a) this.replaceFirst(clip);
      else this.add(clip);
      return clip;
    } catch (error) {
      element("clip-time").textContent = "";
      sayError(
        error instanceof TypeError ? new Error(`${name} could not be sent: the studio does not answer.`) : error,
      );
      return undefined;
    }
  }

  private replaceFirst(clip: Clip): void {
    if (this.b) {
      this.compare([clip, this.b]);
      return;
    }
    this.a = undefined;
    this.add(clip);
  }

  /** Shows a clip, beside the first one if there is one already. */
  add(clip: Clip): void {
    if (this.a) this.b = clip;
    else this.a = clip;
    this.opened();
    this.show();
    this.at = 0;
    this.play(true);
  }

  /** Shows two clips side by side, in place of what was shown. */
  compare([a, b]: [Clip, Clip]): void {
    [this.a, this.b] = [a, b];
    this.opened();
    this.show();
    this.at = 0;
    this.play(true);
  }

  /** Lists what the program was started with; whether there is anything. */
  async offer(): Promise<boolean> {
    const answer = await fetch("/library");
    if (!answer.ok) throw new Error(await answer.text());
    const list = (await answer.json()) as LibraryList;
    this.library.take(list);
    const [first] = list.entries;
    if (first) await this.load(first.name, fetch(`/library/${first.number}`));
    return first !== undefined;
  }

  setColors(palette: Palette): void {
    this.palette = palette;
    this.figureB?.setColors(palette);
    this.timeline.redraw();
  }

  setActive(active: boolean): void {
    this.active = active;
    this.library.setActive(active);
    if (active) this.show();
    else {
      this.figureB?.dispose();
      this.figureB = undefined;
    }
  }

  private show(): void {
    if (!this.active) return;
    this.figureB?.dispose();
    this.figureB = undefined;
    this.cards();
    if (!this.a) return;
    this.view.setPerson(this.a.person);
    this.view.setTerrain(this.a.terrain());
    this.plots.setPerson(this.a.person, this.a.about.gait_names);
    this.view.stage.jump();
    this.drawn = -1;
    const tracks = [{ clip: this.a, label: "A" }];
    if (this.b) {
      tracks.push({ clip: this.b, label: "B" });
      this.figureB = new Figure(this.b.person.joints, false);
      if (this.palette) this.figureB.setColors(this.palette);
      this.view.stage.scene.add(this.figureB.group);
    }
    document.body.classList.toggle("two", this.b !== undefined);
    this.timeline.setTracks(tracks);
  }

  /** What is known of the clips that are shown. */
  private cards(): void {
    const card = (clip: Clip, label: string, close: () => void): HTMLElement => {
      const { about } = clip;
      const box = document.createElement("div");
      box.className = "clip";
      const name = document.createElement("b");
      name.textContent = `${this.b ? `${label}: ` : ""}${about.name}`;
      const facts = document.createElement("small");
      const kind = clip.about.generated
        ? "rollout"
        : clip.has("contact_impulse")
          ? "recording with contact impulses"
          : "clip";
      facts.textContent = `${kind}, ${clip.seconds.toFixed(1)} s, ${clip.frames} frames at ${about.frame_rate_hz.toFixed(0)} Hz`;
      box.append(name, facts);
      for (const [what, text] of [
        ["From", about.source],
        ["Licence", about.license],
      ] as const) {
        if (!text) continue;
        const line = document.createElement("small");
        line.textContent = `${what}: ${text}`;
        box.append(line);
      }
      const button = document.createElement("button");
      button.textContent = `Close${this.b ? ` ${label}` : ""}`;
      button.onclick = () => {
        close();
        this.show();
      };
      const upload = this.sources.get(clip);
      if (upload) {
        const joints = document.createElement("button");
        joints.textContent = "Joints …";
        joints.title = "Which joint of the file is which";
        joints.onclick = () => {
          this.corrected = clip;
          void this.joints.open(upload);
        };
        box.append(joints);
      }
      box.append(button);
      return box;
    };
    const loaded = element("loaded");
    loaded.replaceChildren();
    if (this.a) {
      loaded.append(
        card(this.a, "A", () => {
          this.a = this.b;
          this.b = undefined;
        }),
      );
    }
    if (this.b) {
      loaded.append(card(this.b, "B", () => (this.b = undefined)));
      const label = document.createElement("label");
      label.className = "inline";
      const box = document.createElement("input");
      box.type = "checkbox";
      box.checked = this.apart;
      box.onchange = () => (this.apart = box.checked);
      label.append(box, " side by side");
      loaded.append(label);
    }
  }

  play(on: boolean): void {
    if (on && this.at >= this.seconds - 1e-3) this.at = 0;
    this.playing = on && this.a !== undefined;
    element("play").textContent = this.playing ? "Pause" : "Play";
  }

  private stepBy(frames: number): void {
    if (!this.a) return;
    this.play(false);
    this.at = stepped(this.at, frames, this.a.about.frame_rate_hz, this.seconds);
  }

  private get seconds(): number {
    return Math.max(this.a?.seconds ?? 0, this.b?.seconds ?? 0);
  }

  draw(elapsed: number): void {
    if (!this.a) {
      this.view.render(elapsed, undefined);
      return;
    }
    if (this.playing) {
      const pace = Number(element<HTMLSelectElement>("clip-pace").value);
      const next = advance(this.at, elapsed, pace, this.seconds, element<HTMLInputElement>("loop").checked);
      this.at = next.at;
      if (!next.playing) this.play(false);
    }
    const frame = frameAt(this.a, this.at);
    const fresh = frame.frame !== this.drawn;
    if (fresh && frame.frame < this.drawn) this.view.clearFootprints();
    this.view.show(frame, this.shown, true);
    if (fresh) this.plot(frame.frame);
    this.drawn = frame.frame;
    if (this.b && this.figureB) {
      const other = frameAt(this.b, this.at);
      this.figureB.pose(other.positions, other.rotations);
      this.figureB.group.position.x = this.apart ? APART_M : 0;
    }
    this.view.render(elapsed, frame);
    this.timeline.draw(this.at);
    const text = `${this.at.toFixed(2)} / ${this.seconds.toFixed(2)} s · frame ${frame.frame + 1}`;
    element("clip-time").textContent = text;
    element("status").textContent = "";
    element("status").dataset.frame = String(frame.frame);
    this.plots.draw();
  }

  /** The plots end at the frame that is shown. */
  private plot(frame: number): void {
    if (!this.a) return;
    if (frame === this.drawn + 1) {
      this.plots.push(this.a.frame(frame));
      return;
    }
    this.plots.clear();
    for (let i = Math.max(0, frame - 299); i <= frame; i++) this.plots.push(this.a.frame(i));
  }
}

/** The clips inside this page, if it is one that stands alone: one, or two side by side. */
export async function embeddedClips(): Promise<Clip[]> {
  const clips = await Promise.all(["pomp-clip", "pomp-clip-beside"].map(embeddedClip));
  return clips.filter((clip) => clip !== undefined);
}

async function embeddedClip(place: string): Promise<Clip | undefined> {
  const text = element(place).textContent?.trim();
  if (!text) return undefined;
  const zipped = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  const stream = new Blob([zipped]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Clip(await new Response(stream).arrayBuffer());
}
