// The phase manifold along its two principal axes: where the last seconds went round, and where the motion is now.
import type uPlot from "uplot";
import { axis, Chart, color } from "./chart";
import { along, nearestTo, type PrincipalAxes, principalAxes } from "./principal_axes";

/** Frames that are remembered, how many are needed, and how often the axes are found anew. */
const WINDOW = 600;
const LEAST = 30;
const AXES_EVERY = 20;
/** The line is drawn in so many pieces, the older the fainter. */
const PIECES = 12;
/** Width of the plot over its height. */
const RATIO = 2.1;

export class Manifold {
  private codes: Float32Array[] = [];
  private found: PrincipalAxes | undefined;
  private sinceAxes = 0;
  private points: [number, number][] = [];
  private stale = true;
  private marked: number | undefined;
  private table: uPlot.AlignedData = [[0], [null]];
  private readonly chart: Chart;

  constructor(place: HTMLElement) {
    this.chart = new Chart(place, {
      legend: { show: false },
      padding: [6, 14, 0, 0],
      scales: {
        x: { time: false, range: () => [-this.reach, this.reach] },
        y: { range: () => [-this.reach / RATIO, this.reach / RATIO] },
      },
      axes: [axis(16, { space: 45 }), axis(26, { space: 22 })],
      series: [{}, { points: { show: false } }],
      cursor: { drag: { x: false, y: false }, points: { show: false } },
      hooks: { draw: [(plot) => this.drawLoop(plot)] },
    });
  }

  clear(): void {
    this.codes = [];
    this.found = undefined;
    this.points = [];
    this.stale = true;
  }

  drop(frames: number): void {
    this.codes.length = Math.max(this.codes.length - frames, 0);
    this.stale = true;
  }

  push(code: Float32Array): void {
    if (this.codes[0] && this.codes[0].length !== code.length) this.clear();
    this.codes.push(code);
    if (this.codes.length > WINDOW) this.codes.shift();
    this.sinceAxes++;
    this.stale = true;
  }

  /** Share of the variance along both axes, 0 to 1; undefined while there is too little to see. */
  get share(): number | undefined {
    return this.found?.share;
  }

  /** The point of the loop that is nearest to the cursor, and how long ago it was; undefined while the cursor is elsewhere. */
  get pointed(): { framesAgo: number; point: [number, number] } | undefined {
    const at = this.chart.pointed;
    if (!at || this.points.length === 0) return undefined;
    const nearest = nearestTo(at, this.points, RATIO);
    return { framesAgo: this.points.length - 1 - nearest, point: this.points[nearest]! };
  }

  draw(): void {
    const marked = this.pointed?.framesAgo;
    if (this.stale || marked !== this.marked) {
      this.refresh();
      // Another table of nothing: uPlot draws again what it does not hold itself.
      this.table = [[0], [null]];
    }
    this.marked = marked;
    this.chart.draw(this.table);
  }

  private refresh(): void {
    if (!this.stale) return;
    this.stale = false;
    if (this.codes.length < LEAST) this.found = undefined;
    else if (!this.found || this.sinceAxes >= AXES_EVERY) {
      this.found = principalAxes(this.codes, this.found);
      this.sinceAxes = 0;
    }
    const { found } = this;
    this.points = found ? this.codes.map((code) => along(code, found)) : [];
  }

  /** Half of what the first axis shows: both axes have one scale, and the loop fits. */
  private get reach(): number {
    const most = this.points.reduce((sum, [x, y]) => Math.max(sum, Math.abs(x), RATIO * Math.abs(y)), 1e-3);
    return 1.08 * most;
  }

  private drawLoop(plot: uPlot): void {
    const { points } = this;
    if (points.length === 0) return;
    const place = ([x, y]: [number, number]): [number, number] => [
      plot.valToPos(x, "x", true),
      plot.valToPos(y, "y", true),
    ];
    const pen = plot.ctx;
    pen.save();
    pen.strokeStyle = color("--accent");
    pen.lineWidth = 1.5 * devicePixelRatio;
    pen.lineJoin = "round";
    for (let piece = 0; piece < PIECES; piece++) {
      const from = Math.floor((piece * (points.length - 1)) / PIECES);
      const to = Math.floor(((piece + 1) * (points.length - 1)) / PIECES);
      pen.globalAlpha = 0.12 + (0.78 * (piece + 1)) / PIECES;
      pen.beginPath();
      for (let i = from; i <= to; i++) pen.lineTo(...place(points[i]!));
      pen.stroke();
    }
    pen.globalAlpha = 1;
    dot(pen, place(points[points.length - 1]!), color("--right"));
    const { pointed } = this;
    if (pointed) dot(pen, place(pointed.point), color("--ink"));
    pen.restore();
  }
}

function dot(pen: CanvasRenderingContext2D, at: [number, number], fill: string): void {
  pen.fillStyle = fill;
  pen.strokeStyle = color("--solid");
  pen.beginPath();
  pen.arc(at[0], at[1], 4 * devicePixelRatio, 0, 2 * Math.PI);
  pen.fill();
  pen.stroke();
}
