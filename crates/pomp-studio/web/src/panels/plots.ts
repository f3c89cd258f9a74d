// The panel of plots, fed frame by frame.
import type { Frame } from "../protocol";
import { element } from "../ui";
import { bodiesOf, footLoad } from "../view/bodies";
import type { Person } from "../view/world_view";
import { Manifold } from "./manifold";
import { drawBars, drawPhases, TimePlot } from "./plot";

export class Plots {
  private readonly load = new TimePlot(
    element("plot-load"),
    [
      { label: "left", color: "var(--left)" },
      { label: "right", color: "var(--right)" },
      { label: "left plate", color: "var(--ink)", dashed: true },
      { label: "right plate", color: "var(--soft)", dashed: true },
    ],
    1.5,
    "BW",
  );
  private readonly assist = new TimePlot(
    element("plot-assist"),
    [{ label: "assist", color: "var(--assist)" }],
    0.3,
    "BW",
  );
  private readonly time = new TimePlot(
    element("plot-time"),
    [{ label: "frame", color: "var(--accent)" }],
    20,
    "ms",
    { value: 1000 / 60, label: "16.7 ms" },
    50,
  );
  private readonly manifold = new Manifold(element("plot-manifold"));
  private bodies: ReturnType<typeof bodiesOf> = [];
  private person: Person | undefined;
  private gaitNames: string[] = [];
  private phaseScale: number[] = [];
  private last: Frame | undefined;
  private times: number[] = [];

  setPerson(person: Person, gaitNames: string[]): void {
    this.person = person;
    this.gaitNames = gaitNames;
    this.bodies = bodiesOf(person.joints, person.shapes, person.bodies);
    this.phaseScale = [];
    this.clear();
  }

  clear(): void {
    for (const plot of [this.load, this.assist, this.time]) plot.clear();
    this.manifold.clear();
    this.last = undefined;
    this.times = [];
  }

  drop(frames: number): void {
    for (const plot of [this.load, this.assist, this.time]) plot.drop(frames);
    this.manifold.drop(frames);
  }

  push(frame: Frame, stepMs?: number): void {
    if (!this.person) return;
    const { weight, rate } = this.person;
    this.last = frame;
    const plates = frame.plates;
    if (plates) this.load.push(plates[2]!, plates[3]!, plates[0]!, plates[1]!);
    else
      this.load.push(
        footLoad(this.bodies, frame, "left", weight, rate),
        footLoad(this.bodies, frame, "right", weight, rate),
        NaN,
        NaN,
      );
    element("legend-plates").hidden = plates === undefined;
    element("section-load").hidden = frame.impulses === undefined && plates === undefined;
    element("section-assist").hidden = frame.assistForce === undefined;
    element("section-phase").hidden = frame.phase === undefined;
    this.tellMissing(frame);
    this.assist.push(frame.assistForce ? Math.hypot(...frame.assistForce) / weight : 0);
    if (frame.phase) this.manifold.push(frame.phase);
    if (stepMs !== undefined) {
      this.time.push(stepMs);
      this.times.push(stepMs);
      if (this.times.length > 60) this.times.shift();
    }
  }

  /** What a clip would need so that there is more to plot. */
  private tellMissing(frame: Frame): void {
    const lacks = [];
    if (!frame.impulses && !frame.plates) lacks.push("no contact impulses: pomp preprocess adds them");
    if (!frame.phase) lacks.push("no phases: pomp phase annotate adds them");
    const text = lacks.length > 0 ? `This clip has ${lacks.join(", and ")}.` : "";
    const place = element("plots-none");
    if (place.textContent !== text) place.textContent = text;
    place.hidden = text === "";
  }

  draw(latencyMs?: number): void {
    const frame = this.last;
    if (!frame || !this.person || element("plots").hidden) return;
    this.load.draw();
    this.assist.draw();
    this.time.draw();
    const force = frame.assistForce ? Math.hypot(...frame.assistForce) / this.person.weight : 0;
    element("value-assist").textContent = `${force.toFixed(2)} BW`;
    if (frame.phase) drawPhases(element("plot-phase"), frame.phase, this.phaseScale);
    element("section-manifold").hidden = frame.phase === undefined;
    if (frame.phase) {
      this.manifold.draw();
      const seen = this.manifold.seen;
      element("value-manifold").textContent = seen === undefined ? "" : `${Math.round(seen * 100)} % of the last 10 s`;
    }
    if (frame.gait) {
      const best = frame.gait.indexOf(Math.max(...frame.gait));
      element("value-gait").textContent = this.gaitNames[best]?.replace("_", " ") ?? "";
    }
    element("section-gates").hidden = frame.gates === undefined;
    if (frame.gates) drawBars(element("plot-gates"), frame.gates);
    if (this.times.length > 0) {
      const mean = this.times.reduce((sum, ms) => sum + ms, 0) / this.times.length;
      const late = latencyMs === undefined ? "" : ` · input ${latencyMs.toFixed(0)} ms`;
      element("value-time").textContent = `${mean.toFixed(1)} ms${late}`;
    }
  }
}
