// A circle per phase channel: the hand's angle is the phase, its length the amplitude.
import { color } from "./chart";

/** How much of its largest amplitude a channel keeps as its scale from frame to frame. */
const FADES = 0.9995;

/** Largest recent amplitude of each channel, with that of a new code. */
export function scaleWith(scale: number[], phase: Float32Array): number[] {
  return Array.from({ length: phase.length / 2 }, (_, c) =>
    Math.max((scale[c] ?? 0) * FADES, Math.hypot(phase[2 * c]!, phase[2 * c + 1]!), 1e-3),
  );
}

export class Dials {
  private scale: number[] = [];

  constructor(private readonly canvas: HTMLCanvasElement) {}

  clear(): void {
    this.scale = [];
  }

  draw(phase: Float32Array): void {
    const { canvas } = this;
    const [width, height] = [canvas.clientWidth, canvas.clientHeight];
    const pen = canvas.getContext("2d");
    if (!pen || width === 0 || height === 0) return;
    this.scale = scaleWith(this.scale, phase);
    const ratio = Math.min(devicePixelRatio, 2);
    const pixels = [Math.round(width * ratio), Math.round(height * ratio)] as const;
    if (canvas.width !== pixels[0] || canvas.height !== pixels[1]) [canvas.width, canvas.height] = pixels;
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    pen.clearRect(0, 0, width, height);
    const channels = this.scale.length;
    const radius = Math.min(width / channels / 2 - 2, height / 2 - 2);
    const [faint, ink] = [color("--faint"), color("--accent")];
    this.scale.forEach((scale, c) => {
      const [x, y] = [(width * (c + 0.5)) / channels, height / 2];
      const tip = [x + (phase[2 * c]! / scale) * radius, y - (phase[2 * c + 1]! / scale) * radius] as const;
      pen.strokeStyle = faint;
      pen.lineWidth = 1.5;
      pen.beginPath();
      pen.arc(x, y, radius, 0, 2 * Math.PI);
      pen.stroke();
      pen.strokeStyle = pen.fillStyle = ink;
      pen.lineWidth = 2;
      pen.beginPath();
      pen.moveTo(x, y);
      pen.lineTo(...tip);
      pen.stroke();
      pen.beginPath();
      pen.arc(...tip, 3, 0, 2 * Math.PI);
      pen.fill();
    });
  }
}
