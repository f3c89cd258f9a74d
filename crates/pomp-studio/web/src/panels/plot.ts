// Small plots on canvases: a few seconds of lines, circles of phases, bars.

export interface Line {
  label: string;
  color: string;
  /** Drawn in dashes. */
  dashed?: boolean;
}

/** Resolves `var(--x)` for a canvas, which knows no style sheets. */
function resolved(color: string, element: Element): string {
  const name = /^var\((--[\w-]+)\)$/.exec(color)?.[1];
  return name ? getComputedStyle(element).getPropertyValue(name).trim() || "#888" : color;
}

function prepared(
  canvas: HTMLCanvasElement,
): { g: CanvasRenderingContext2D; width: number; height: number } | undefined {
  const width = canvas.clientWidth;
  const height = canvas.clientHeight;
  const g = canvas.getContext("2d");
  if (!g || width === 0 || height === 0) return undefined;
  const ratio = Math.min(window.devicePixelRatio, 2);
  if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
  }
  g.setTransform(ratio, 0, 0, ratio, 0, 0);
  g.clearRect(0, 0, width, height);
  return { g, width, height };
}

/** Lines over the last frames; the newest is at the right. */
export class TimePlot {
  private readonly values: Float32Array[];
  private filled = 0;
  private next = 0;

  constructor(
    private readonly canvas: HTMLCanvasElement,
    private readonly lines: Line[],
    private readonly least: number,
    private readonly unit: string,
    private readonly mark?: { value: number; label: string },
    /** Values above this are cut off, so that one odd frame does not flatten the rest. */
    private readonly most = Infinity,
    private readonly length = 300,
  ) {
    this.values = lines.map(() => new Float32Array(length));
  }

  clear(): void {
    this.filled = 0;
    this.next = 0;
  }

  push(...values: number[]): void {
    for (const [line, value] of values.entries()) this.values[line]![this.next] = value;
    this.next = (this.next + 1) % this.length;
    this.filled = Math.min(this.filled + 1, this.length);
  }

  /** Forgets the newest frames. */
  drop(frames: number): void {
    const gone = Math.min(frames, this.filled);
    this.filled -= gone;
    this.next = (this.next - gone + this.length) % this.length;
  }

  private at(line: number, i: number): number {
    return this.values[line]![(this.next - this.filled + i + this.length) % this.length]!;
  }

  draw(): void {
    const ready = prepared(this.canvas);
    if (!ready) return;
    const { g, width, height } = ready;
    let top = this.least;
    for (let line = 0; line < this.lines.length; line++) {
      for (let i = 0; i < this.filled; i++) {
        const value = this.at(line, i);
        if (Number.isFinite(value)) top = Math.max(top, value * 1.08);
      }
    }
    top = Math.min(top, this.most);
    const y = (value: number): number => height - 3 - (Math.max(value, 0) / top) * (height - 8);
    const faint = resolved("var(--faint)", this.canvas);
    const soft = resolved("var(--soft)", this.canvas);
    g.font = "10px ui-sans-serif, system-ui, sans-serif";
    g.lineWidth = 1;
    const step = niceStep(top);
    for (let value = 0; value < top; value += step) {
      g.strokeStyle = faint;
      g.beginPath();
      g.moveTo(0, Math.round(y(value)) + 0.5);
      g.lineTo(width, Math.round(y(value)) + 0.5);
      g.stroke();
    }
    if (this.mark) {
      g.strokeStyle = soft;
      g.setLineDash([4, 3]);
      g.beginPath();
      g.moveTo(0, y(this.mark.value));
      g.lineTo(width, y(this.mark.value));
      g.stroke();
      g.setLineDash([]);
    }
    g.lineWidth = 1.6;
    g.lineJoin = "round";
    this.lines.forEach(({ color, dashed }, line) => {
      g.strokeStyle = resolved(color, this.canvas);
      g.setLineDash(dashed ? [3, 2] : []);
      g.beginPath();
      // Where there is no value there is no line.
      let drawing = false;
      for (let i = 0; i < this.filled; i++) {
        const x = width - ((this.filled - i) / this.length) * width;
        const value = this.at(line, i);
        if (!Number.isFinite(value)) drawing = false;
        else if (drawing) g.lineTo(x, y(value));
        else g.moveTo(x, y(value));
        drawing = Number.isFinite(value);
      }
      g.stroke();
    });
    g.setLineDash([]);
    this.label(g, width, top, step, y);
  }

  /** Numbers, over the lines and legible on them. */
  private label(
    g: CanvasRenderingContext2D,
    width: number,
    top: number,
    step: number,
    y: (value: number) => number,
  ): void {
    g.fillStyle = resolved("var(--soft)", this.canvas);
    g.strokeStyle = resolved("var(--solid)", this.canvas);
    g.lineWidth = 3;
    const write = (text: string, x: number, at: number): void => {
      g.strokeText(text, x, at);
      g.fillText(text, x, at);
    };
    for (let value = step; value < top; value += step) {
      write(`${trimmed(value)}${value + step >= top ? ` ${this.unit}` : ""}`, 2, Math.max(y(value) - 2, 9));
    }
    if (this.mark) {
      g.textAlign = "right";
      write(this.mark.label, width - 2, y(this.mark.value) - 3);
      g.textAlign = "left";
    }
  }
}

function niceStep(top: number): number {
  const rough = top / 3;
  const power = 10 ** Math.floor(Math.log10(rough));
  return [1, 2, 5, 10].map((factor) => factor * power).find((step) => step >= rough) ?? 10 * power;
}

function trimmed(value: number): string {
  return String(Number(value.toPrecision(3)));
}

/** A circle per phase channel: the hand's angle is the phase, its length the amplitude. */
export function drawPhases(canvas: HTMLCanvasElement, phase: Float32Array, scale: number[]): void {
  const ready = prepared(canvas);
  if (!ready) return;
  const { g, width, height } = ready;
  const channels = phase.length / 2;
  const radius = Math.min(width / channels / 2 - 2, height / 2 - 2);
  const faint = resolved("var(--faint)", canvas);
  const ink = resolved("var(--accent)", canvas);
  for (let c = 0; c < channels; c++) {
    const x = (width * (c + 0.5)) / channels;
    const [px, py] = [phase[2 * c]!, phase[2 * c + 1]!];
    scale[c] = Math.max((scale[c] ?? 0) * 0.9995, Math.hypot(px, py), 1e-3);
    g.strokeStyle = faint;
    g.lineWidth = 1.5;
    g.beginPath();
    g.arc(x, height / 2, radius, 0, 2 * Math.PI);
    g.stroke();
    const tipX = x + (px / scale[c]!) * radius;
    const tipY = height / 2 - (py / scale[c]!) * radius;
    g.strokeStyle = g.fillStyle = ink;
    g.lineWidth = 2;
    g.beginPath();
    g.moveTo(x, height / 2);
    g.lineTo(tipX, tipY);
    g.stroke();
    g.beginPath();
    g.arc(tipX, tipY, 3, 0, 2 * Math.PI);
    g.fill();
  }
}

/** Bars from 0 to 1 with their numbers. */
export function drawBars(canvas: HTMLCanvasElement, values: Float32Array): void {
  const ready = prepared(canvas);
  if (!ready) return;
  const { g, width, height } = ready;
  const faint = resolved("var(--faint)", canvas);
  const ink = resolved("var(--accent)", canvas);
  const soft = resolved("var(--soft)", canvas);
  g.font = "10px ui-sans-serif, system-ui, sans-serif";
  g.textAlign = "center";
  const slot = width / values.length;
  values.forEach((value, i) => {
    const x = i * slot + slot * 0.18;
    g.fillStyle = faint;
    g.fillRect(x, 0, slot * 0.64, height - 14);
    g.fillStyle = ink;
    const tall = (height - 14) * Math.min(Math.max(value, 0), 1);
    g.fillRect(x, height - 14 - tall, slot * 0.64, tall);
    g.fillStyle = soft;
    g.fillText(String(i + 1), i * slot + slot / 2, height - 3);
  });
  g.textAlign = "left";
}
