// Lines over the last seconds; the newest frame is at the right.
import type uPlot from "uplot";
import { axis, Chart, type ChartOptions, color, indexUnder } from "./chart";
import { History, REMEMBERED } from "./history";

export interface Line {
  /** Name of a colour of the style sheet. */
  color: string;
  dashed?: boolean;
}

export interface Range {
  /** The axis reaches at least this far. */
  least: number;
  /** Larger values are cut off, so that one odd frame does not flatten the rest. */
  most?: number;
  /** A value that a dashed line marks. */
  mark?: { value: number; label: string };
}

/** Top of the axis for the largest value that is shown. */
export function topOf(largest: number, { least, most = Infinity }: Range): number {
  return Math.min(Math.max(least, largest * 1.08), most);
}

export class TimePlot {
  private readonly history: History;
  private readonly chart: Chart;
  private readonly label = document.createElement("span");
  private rateHz = 60;
  private table: uPlot.AlignedData | undefined;

  constructor(place: HTMLElement, lines: Line[], range: Range) {
    this.history = new History(lines.length);
    this.label.className = "at";
    this.chart = new Chart(place, this.options(lines, range));
  }

  clear(rateHz: number): void {
    this.rateHz = rateHz;
    this.history.clear();
    this.table = undefined;
  }

  push(...values: number[]): void {
    this.history.push(...values);
    this.table = undefined;
  }

  /** Forgets the newest frames. */
  drop(frames: number): void {
    this.history.drop(frames);
    this.table = undefined;
  }

  draw(): void {
    this.table ??= this.history.table(this.rateHz);
    this.chart.draw(this.table);
  }

  /** Values of the lines under the cursor; the newest ones while the cursor is elsewhere. */
  get shown(): number[] {
    return this.history.at(this.chart.index ?? this.history.frames - 1);
  }

  /** Whether the cursor is in the plot, or in one that shares its time. */
  get pointed(): boolean {
    return this.chart.index !== undefined;
  }

  /** Mean of a line over the newest frames. */
  mean(line: number, frames: number): number | undefined {
    return this.history.mean(line, frames);
  }

  private options(lines: Line[], range: Range): ChartOptions {
    return {
      legend: { show: false },
      padding: [6, 14, 0, 0],
      scales: {
        x: { time: false, range: () => [-REMEMBERED / this.rateHz, 0] },
        y: { range: () => [0, topOf(this.history.largest, range)] },
      },
      axes: [
        axis(16, { space: 45, values: (_, ticks) => ticks.map((tick) => (tick === 0 ? "now" : `${tick} s`)) }),
        axis(26, { space: 16 }),
      ],
      series: [
        {},
        ...lines.map(
          (line): uPlot.Series => ({
            stroke: () => color(line.color),
            width: 1.5,
            points: { show: false },
            ...(line.dashed ? { dash: [3, 2] } : {}),
          }),
        ),
      ],
      cursor: { y: false, drag: { x: false, y: false }, points: { size: 5 }, sync: { key: "seconds" } },
      hooks: {
        ready: [(plot) => plot.over.append(this.label)],
        setCursor: [
          (plot) => {
            const index = indexUnder(plot);
            const seconds = index === undefined ? undefined : plot.data[0][index];
            this.label.textContent = seconds === undefined ? "" : `${seconds.toFixed(2)} s`;
            this.label.style.left = `${Math.min(Math.max(plot.cursor.left ?? 0, 22), plot.over.clientWidth - 22)}px`;
          },
        ],
        draw: [(plot) => range.mark && drawMark(plot, range.mark)],
      },
    };
  }
}

/** A dashed line across the plot, and its label. */
function drawMark(plot: uPlot, { value, label }: { value: number; label: string }): void {
  const y = plot.valToPos(value, "y", true);
  const { left, width, top } = plot.bbox;
  if (y < top) return;
  const pen = plot.ctx;
  pen.save();
  pen.strokeStyle = pen.fillStyle = color("--soft");
  pen.lineWidth = devicePixelRatio;
  pen.setLineDash([4 * devicePixelRatio, 3 * devicePixelRatio]);
  pen.beginPath();
  pen.moveTo(left, y);
  pen.lineTo(left + width, y);
  pen.stroke();
  pen.font = `${10 * devicePixelRatio}px ui-sans-serif, system-ui, sans-serif`;
  pen.textAlign = "right";
  pen.setLineDash([]);
  pen.strokeStyle = color("--solid");
  pen.lineWidth = 3 * devicePixelRatio;
  pen.strokeText(label, left + width - 2, y - 3 * devicePixelRatio);
  pen.fillText(label, left + width - 2, y - 3 * devicePixelRatio);
  pen.restore();
}
