// The phase manifold seen along its two principal axes: where the last seconds went round, and where the motion is now.

/** Frames that are remembered, and how often the axes are found anew. */
const WINDOW = 600;
const AXES_EVERY = 20;
const TURNS = 24;

export class Manifold {
  private codes: Float32Array[] = [];
  private mean: number[] = [];
  private axes: number[][] = [];
  private share = 0;
  private sinceAxes = 0;

  constructor(readonly canvas: HTMLCanvasElement) {}

  clear(): void {
    this.codes = [];
    this.axes = [];
  }

  drop(frames: number): void {
    this.codes.length = Math.max(this.codes.length - frames, 0);
  }

  push(code: Float32Array): void {
    if (this.codes[0] && this.codes[0].length !== code.length) this.clear();
    this.codes.push(code);
    if (this.codes.length > WINDOW) this.codes.shift();
    this.sinceAxes++;
  }

  /** Share of the variance along both axes, 0 to 1; undefined while there is too little to see. */
  get seen(): number | undefined {
    return this.axes.length === 2 ? this.share : undefined;
  }

  /** Two principal axes of the window by turns of the power method, from where they were: they do not jump. */
  private findAxes(): void {
    const count = this.codes.length;
    const width = this.codes[0]!.length;
    const mean = new Array<number>(width).fill(0);
    for (const code of this.codes) {
      for (let i = 0; i < width; i++) mean[i]! += code[i]! / count;
    }
    const covariance = Array.from({ length: width }, () => new Array<number>(width).fill(0));
    for (const code of this.codes) {
      for (let i = 0; i < width; i++) {
        const a = code[i]! - mean[i]!;
        for (let j = 0; j < width; j++) covariance[i]![j]! += (a * (code[j]! - mean[j]!)) / count;
      }
    }
    const total = covariance.reduce((sum, row, i) => sum + row[i]!, 0);
    const dot = (a: number[], b: number[]): number => a.reduce((sum, value, i) => sum + value * b[i]!, 0);
    const axes: number[][] = [];
    let along = 0;
    for (let k = 0; k < 2; k++) {
      let axis =
        this.axes[k]?.length === width
          ? [...this.axes[k]!]
          : Array.from({ length: width }, (_, i) => Math.cos(1 + i * (k + 1)));
      let variance = 0;
      for (let turn = 0; turn < TURNS; turn++) {
        let next = covariance.map((row) => dot(row, axis));
        for (const other of axes) {
          const part = dot(next, other);
          next = next.map((value, i) => value - part * other[i]!);
        }
        variance = Math.sqrt(dot(next, next));
        if (variance < 1e-12) break;
        axis = next.map((value) => value / variance);
      }
      if (variance < 1e-12) {
        this.axes = [];
        return;
      }
      axes.push(axis);
      along += variance;
    }
    this.mean = mean;
    this.axes = axes;
    this.share = total > 0 ? along / total : 0;
    this.sinceAxes = 0;
  }

  draw(): void {
    const { canvas } = this;
    const ratio = Math.min(devicePixelRatio, 2);
    const [width, height] = [canvas.clientWidth, canvas.clientHeight];
    if (width === 0) return;
    if (canvas.width !== Math.round(width * ratio)) canvas.width = Math.round(width * ratio);
    if (canvas.height !== Math.round(height * ratio)) canvas.height = Math.round(height * ratio);
    const pen = canvas.getContext("2d")!;
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    pen.clearRect(0, 0, width, height);
    if (this.codes.length < 30) return;
    if (this.axes.length < 2 || this.sinceAxes >= AXES_EVERY) this.findAxes();
    if (this.axes.length < 2) return;
    const points = this.codes.map((code) =>
      this.axes.map((axis) => axis.reduce((sum, value, i) => sum + value * (code[i]! - this.mean[i]!), 0)),
    );
    const reach = Math.max(1e-6, ...points.map((point) => Math.max(Math.abs(point[0]!), Math.abs(point[1]!) * 1.6)));
    const scale = (width / 2 - 8) / reach;
    const place = (point: number[]): [number, number] => [
      width / 2 + point[0]! * scale,
      height / 2 - point[1]! * Math.min(scale, (height / 2 - 6) / (reach / 1.6)),
    ];
    const style = getComputedStyle(document.documentElement);
    pen.strokeStyle = style.getPropertyValue("--faint");
    pen.beginPath();
    pen.moveTo(width / 2, 4);
    pen.lineTo(width / 2, height - 4);
    pen.moveTo(4, height / 2);
    pen.lineTo(width - 4, height / 2);
    pen.stroke();
    pen.strokeStyle = style.getPropertyValue("--accent");
    pen.lineWidth = 1.5;
    pen.lineJoin = "round";
    // Older pieces are fainter.
    const pieces = 12;
    for (let piece = 0; piece < pieces; piece++) {
      const from = Math.floor((piece * (points.length - 1)) / pieces);
      const to = Math.floor(((piece + 1) * (points.length - 1)) / pieces);
      pen.globalAlpha = 0.12 + (0.78 * (piece + 1)) / pieces;
      pen.beginPath();
      for (let i = from; i <= to; i++) pen.lineTo(...place(points[i]!));
      pen.stroke();
    }
    pen.globalAlpha = 1;
    const now = place(points[points.length - 1]!);
    pen.fillStyle = style.getPropertyValue("--right");
    pen.beginPath();
    pen.arc(now[0], now[1], 4.5, 0, 2 * Math.PI);
    pen.fill();
    pen.strokeStyle = style.getPropertyValue("--solid");
    pen.stroke();
  }
}
