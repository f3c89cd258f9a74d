// The panel of plots, fed frame by frame.
import type { Frame } from "../protocol";
import { element, tell } from "../ui";
import { bodiesOf, footLoad } from "../view/bodies";
import type { Person } from "../view/world_view";
import { Dials } from "./dials";
import { Manifold } from "./manifold";
import { Shares } from "./shares";
import { TimePlot } from "./time_plot";

/** Frames over which the time of a frame is averaged. */
const AVERAGED = 60;

const weights = (value: number): string => (Number.isFinite(value) ? value.toFixed(2) : "–");

export class Plots {
  private readonly load = new TimePlot(
    element("plot-load"),
    [{ color: "--left" }, { color: "--right" }, { color: "--ink", dashed: true }, { color: "--soft", dashed: true }],
    { least: 1.5 },
  );
  private readonly assist = new TimePlot(element("plot-assist"), [{ color: "--assist" }], { least: 0.3 });
  private readonly time = new TimePlot(element("plot-time"), [{ color: "--accent" }], {
    least: 20,
    most: 50,
    mark: { value: 1000 / 60, label: "16.7 ms" },
  });
  private readonly dials = new Dials(element<HTMLCanvasElement>("plot-phase"));
  private readonly manifold = new Manifold(element("plot-manifold"));
  private readonly shares = new Shares(element("plot-gates"));
  private bodies: ReturnType<typeof bodiesOf> = [];
  private person: Person | undefined;
  private gaitNames: string[] = [];
  private last: Frame | undefined;

  setPerson(person: Person, gaitNames: string[]): void {
    this.person = person;
    this.gaitNames = gaitNames;
    this.bodies = bodiesOf(person.joints, person.shapes, person.bodies);
    this.dials.clear();
    this.clear();
  }

  clear(): void {
    for (const plot of [this.load, this.assist, this.time]) plot.clear(this.person?.rate ?? 60);
    this.manifold.clear();
    this.last = undefined;
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
    const felt = (side: "left" | "right"): number => footLoad(this.bodies, frame, side, weight, rate);
    if (plates) this.load.push(plates[2]!, plates[3]!, plates[0]!, plates[1]!);
    else this.load.push(felt("left"), felt("right"), Number.NaN, Number.NaN);
    element("legend-plates").hidden = plates === undefined;
    element("section-load").hidden = frame.impulses === undefined && plates === undefined;
    element("section-assist").hidden = frame.assist_force === undefined;
    for (const section of ["section-phase", "section-manifold"]) element(section).hidden = frame.phase === undefined;
    element("section-gates").hidden = frame.gates === undefined;
    this.tellMissing(frame);
    this.assist.push(frame.assist_force ? Math.hypot(...frame.assist_force) / weight : 0);
    if (frame.phase) this.manifold.push(frame.phase);
    if (stepMs !== undefined) this.time.push(stepMs);
  }

  /** What a clip would need so that there is more to plot. */
  private tellMissing(frame: Frame): void {
    const lacks = [];
    if (!frame.impulses && !frame.plates) lacks.push("no contact impulses: pomp preprocess adds them");
    if (!frame.phase) lacks.push("no phases: pomp phase annotate adds them");
    const text = lacks.length > 0 ? `This clip has ${lacks.join(", and ")}.` : "";
    tell("plots-none", text);
    element("plots-none").hidden = text === "";
  }

  draw(latencyMs?: number): void {
    const frame = this.last;
    if (!frame || !this.person || element("plots").hidden) return;
    for (const plot of [this.load, this.assist, this.time]) plot.draw();
    const [left, right, plateLeft, plateRight] = this.load.shown;
    tell("value-left", weights(left!));
    tell("value-right", weights(right!));
    tell("value-plates", `${weights(plateLeft!)}, ${weights(plateRight!)}`);
    tell("value-assist", `${weights(this.assist.shown[0]!)} BW`);
    if (frame.phase) {
      this.dials.draw(frame.phase);
      this.manifold.draw();
      tell("value-manifold", this.manifoldText(this.person.rate));
    }
    if (frame.gait) {
      const best = frame.gait.indexOf(Math.max(...frame.gait));
      tell("value-gait", this.gaitNames[best]?.replace("_", " ") ?? "");
    }
    if (frame.gates) {
      this.shares.draw(frame.gates);
      const [expert, share] = this.shares.told;
      tell("value-gates", `${expert}: ${share.toFixed(2)}`);
    }
    const mean = this.time.pointed ? this.time.shown[0] : this.time.mean(0, AVERAGED);
    const late = latencyMs === undefined ? "" : ` · input ${latencyMs.toFixed(0)} ms`;
    if (mean !== undefined) tell("value-time", `${mean.toFixed(1)} ms${late}`);
  }

  private manifoldText(rate: number): string {
    const { pointed, share } = this.manifold;
    if (pointed) {
      const [x, y] = pointed.point.map((value) => value.toFixed(2));
      return `${x}, ${y} at ${(-pointed.framesAgo / rate).toFixed(2)} s`;
    }
    return share === undefined ? "" : `${Math.round(share * 100)} % of the last 10 s`;
  }
}
