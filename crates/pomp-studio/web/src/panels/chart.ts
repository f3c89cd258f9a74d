// What all charts share: uPlot in the colours of the page, as large as its place, drawn once it is seen.
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";

export type ChartOptions = Omit<uPlot.Options, "width" | "height">;

const FONT = "10px ui-sans-serif, system-ui, sans-serif";

/** A colour of the style sheet. A canvas knows no `var(--x)`. */
export function color(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim() || "#888";
}

/** An axis with grid lines in the page's colours; `size` is its width or height in pixels. */
export function axis(size: number, more: uPlot.Axis = {}): uPlot.Axis {
  return {
    size,
    gap: 2,
    font: FONT,
    stroke: () => color("--soft"),
    grid: { stroke: () => color("--faint"), width: 1 },
    ticks: { stroke: () => color("--faint"), width: 1, size: 3 },
    ...more,
  };
}

/** A uPlot that is made when its place is first seen, and follows the size of the place and the theme. */
export class Chart {
  private plot: uPlot | undefined;
  private theme: string | undefined;
  private data: uPlot.AlignedData | undefined;

  constructor(
    private readonly place: HTMLElement,
    private readonly options: ChartOptions,
  ) {}

  /** Shows data, unless the place is hidden; the same table again costs nothing. */
  draw(data: uPlot.AlignedData): void {
    const size = { width: this.place.clientWidth, height: this.place.clientHeight };
    if (size.width === 0 || size.height === 0) return;
    const { theme } = document.documentElement.dataset;
    if (!this.plot) this.plot = new uPlot({ ...this.options, ...size }, data, this.place);
    else if (this.plot.width !== size.width || this.plot.height !== size.height) this.plot.setSize(size);
    if (this.data !== data) this.plot.setData(data);
    else if (this.theme !== theme) this.plot.redraw(false, true);
    this.data = data;
    this.theme = theme;
  }

  /** Index of the data under the cursor; undefined while the cursor is elsewhere. */
  get index(): number | undefined {
    return this.plot && indexUnder(this.plot);
  }

  /** The cursor in values of the axes; undefined while it is elsewhere. */
  get pointed(): [number, number] | undefined {
    const { left = -1, top = -1 } = this.plot?.cursor ?? {};
    return this.plot && left >= 0 && top >= 0
      ? [this.plot.posToVal(left, "x"), this.plot.posToVal(top, "y")]
      : undefined;
  }
}

/** Index of the data under the cursor of a plot. */
export function indexUnder(plot: uPlot): number | undefined {
  const { idx, left = -1 } = plot.cursor;
  return left >= 0 ? (idx ?? undefined) : undefined;
}
