// Values of the last frames, as the plots over time show them.

/** Frames that are remembered. */
export const REMEMBERED = 300;

/** One column of values per line; where a value is no number, its line has a gap. */
export class History {
  private readonly columns: number[][];

  constructor(lines: number) {
    this.columns = Array.from({ length: lines }, () => []);
  }

  get frames(): number {
    return this.columns[0]!.length;
  }

  clear(): void {
    for (const column of this.columns) column.length = 0;
  }

  /** Adds a frame with one value per line; the oldest frame is forgotten. */
  push(...values: number[]): void {
    for (const [line, column] of this.columns.entries()) {
      column.push(values[line] ?? Number.NaN);
      if (column.length > REMEMBERED) column.shift();
    }
  }

  /** Forgets the newest frames. */
  drop(frames: number): void {
    for (const column of this.columns) column.length = Math.max(column.length - frames, 0);
  }

  /** Values of all lines in a frame, counted from the oldest. */
  at(frame: number): number[] {
    return this.columns.map((column) => column[frame] ?? Number.NaN);
  }

  /** The largest value; -Infinity where there is none. */
  get largest(): number {
    return Math.max(...this.columns.flat().filter(Number.isFinite));
  }

  /** Mean of a line over the newest frames; undefined where there is none. */
  mean(line: number, frames: number): number | undefined {
    const values = this.columns[line]!.slice(-frames).filter(Number.isFinite);
    return values.length > 0 ? values.reduce((sum, value) => sum + value, 0) / values.length : undefined;
  }

  /** The table that uPlot takes: seconds from the newest frame, which is at 0, then a column per line; null is a gap. */
  table(rateHz: number): [number[], ...(number | null)[][]] {
    const newest = this.frames - 1;
    const seconds = Array.from({ length: this.frames }, (_, i) => (i - newest) / rateHz);
    const withGaps = (column: number[]): (number | null)[] =>
      column.map((value) => (Number.isFinite(value) ? value : null));
    return [seconds, ...this.columns.map(withGaps)];
  }
}
