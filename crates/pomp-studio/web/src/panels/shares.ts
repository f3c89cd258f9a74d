// Bars from 0 to 1: the share of each expert.
import uPlot from "uplot";
import { axis, Chart, color } from "./chart";

export class Shares {
  private readonly chart: Chart;
  private table: [number[], number[]] = [[], []];

  constructor(place: HTMLElement) {
    this.chart = new Chart(place, {
      legend: { show: false },
      padding: [6, 14, 0, 0],
      scales: { x: { time: false, range: () => [0.4, this.table[0].length + 0.6] }, y: { range: () => [0, 1] } },
      axes: [
        axis(16, { grid: { show: false }, splits: () => this.table[0], values: (_, ticks) => ticks.map(String) }),
        axis(26, { splits: () => [0, 0.5, 1] }),
      ],
      series: [
        {},
        {
          fill: () => color("--accent"),
          stroke: () => color("--accent"),
          width: 0,
          points: { show: false },
          paths: uPlot.paths.bars!({ size: [0.64] }),
        },
      ],
      cursor: { x: false, y: false, drag: { x: false, y: false }, points: { show: false } },
    });
  }

  draw(shares: Float32Array): void {
    if (shares.some((share, i) => share !== this.table[1][i]) || shares.length !== this.table[1].length) {
      this.table = [Array.from(shares, (_, i) => i + 1), [...shares]];
    }
    this.chart.draw(this.table);
  }

  /** The expert under the cursor, else the one with the largest share: its number from 1, and its share. */
  get told(): [number, number] {
    const shares = this.table[1];
    const index = this.chart.index ?? shares.indexOf(Math.max(...shares));
    return [index + 1, shares[index] ?? 0];
  }
}
