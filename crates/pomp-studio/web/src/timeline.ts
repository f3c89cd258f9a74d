// The strip of time below a clip: gaits, contacts, pushes, and where we are.
import type { Clip } from "./clip";
import { GAIT_COLORS } from "./palette";
import { bandOf, keyTarget, secondsUnder } from "./timeline_bands";

/** Contact below this is not drawn. */
const LEAST_CONTACT = 0.02;

export interface Track {
  clip: Clip;
  label: string;
}

export class Timeline {
  private still: ImageData | undefined;
  private seconds = 1;
  private tracks: Track[] = [];
  private now = 0;

  constructor(
    private readonly canvas: HTMLCanvasElement,
    private readonly moved: (seconds: number) => void,
  ) {
    const seek = (event: PointerEvent): void => {
      const box = canvas.getBoundingClientRect();
      moved(secondsUnder(event.clientX - box.left, box.width, this.seconds));
    };
    canvas.addEventListener("pointerdown", (event) => {
      canvas.setPointerCapture(event.pointerId);
      seek(event);
    });
    canvas.addEventListener("pointermove", (event) => {
      if (canvas.hasPointerCapture(event.pointerId)) seek(event);
    });
    canvas.addEventListener("keydown", (event) => {
      const rate = this.tracks[0]?.clip.about.frame_rate_hz ?? 60;
      const at = keyTarget(event.code, event.shiftKey, this.now, this.seconds, rate);
      if (at === undefined) return;
      event.preventDefault();
      event.stopPropagation();
      this.moved(at);
    });
  }

  setTracks(tracks: Track[]): void {
    this.tracks = tracks;
    this.seconds = Math.max(...tracks.map((track) => track.clip.seconds), 1e-3);
    this.canvas.setAttribute("aria-valuemax", this.seconds.toFixed(2));
    this.redraw();
  }

  /** Forgets what was drawn: the window or the colours have changed. */
  redraw(): void {
    this.still = undefined;
  }

  draw(now: number): void {
    this.now = now;
    const ratio = Math.min(devicePixelRatio, 2);
    const [width, height] = [this.canvas.clientWidth, this.canvas.clientHeight];
    const g = this.canvas.getContext("2d", { willReadFrequently: true });
    if (!g || width === 0) return;
    if (this.canvas.width !== Math.round(width * ratio) || this.canvas.height !== Math.round(height * ratio)) {
      this.canvas.width = Math.round(width * ratio);
      this.canvas.height = Math.round(height * ratio);
      this.still = undefined;
    }
    g.setTransform(ratio, 0, 0, ratio, 0, 0);
    if (!this.still) {
      this.drawBands(g, width, height);
      this.still = g.getImageData(0, 0, this.canvas.width, this.canvas.height);
    }
    g.putImageData(this.still, 0, 0);
    const x = (now / this.seconds) * width;
    g.fillStyle = style(this.canvas, "--ink");
    g.fillRect(x - 1, 0, 2, height);
    g.beginPath();
    g.moveTo(x - 5, 0);
    g.lineTo(x + 5, 0);
    g.lineTo(x, 7);
    g.fill();
    this.canvas.setAttribute("aria-valuenow", now.toFixed(2));
    this.canvas.setAttribute("aria-valuetext", `${now.toFixed(2)} seconds`);
  }

  private drawBands(g: CanvasRenderingContext2D, width: number, height: number): void {
    g.clearRect(0, 0, width, height);
    const [soft, faint] = [style(this.canvas, "--soft"), style(this.canvas, "--faint")];
    const sides = [style(this.canvas, "--left"), style(this.canvas, "--right")];
    const tall = height / Math.max(this.tracks.length, 1);
    this.tracks.forEach(({ clip, label }, t) => {
      const top = t * tall;
      const rows = (tall - 4) / 3;
      const band = bandOf(clip, width, this.seconds);
      g.fillStyle = faint;
      g.fillRect(0, top + 2, band.width, tall - 4);
      band.gaits.forEach((gait, x) => {
        g.fillStyle = GAIT_COLORS[gait] ?? soft;
        g.fillRect(x, top + 2, 1.2, rows);
      });
      for (const [foot, side] of sides.entries()) {
        g.fillStyle = side;
        band.contacts.forEach((shares, x) => {
          const share = shares[foot]!;
          if (share <= LEAST_CONTACT) return;
          const bar = (rows - 2) * (0.25 + 0.75 * share);
          g.fillRect(x, top + 2 + rows * (foot + 2) - bar, 1.2, bar);
        });
      }
      g.font = "600 10px ui-sans-serif, system-ui, sans-serif";
      g.fillStyle = "#fff";
      for (const [gait, x] of band.names) {
        g.fillText(clip.about.gait_names[gait]?.replace("_", " ") ?? "", x + 4, top + rows - 2);
      }
      g.fillStyle = style(this.canvas, "--bad");
      for (const push of clip.about.pushes ?? []) {
        const x = (push.time_s / this.seconds) * width;
        g.fillRect(x - 1, top + 2, 2, tall - 4);
        g.fillText(`${Math.hypot(...push.impulse_ns).toFixed(0)} N·s`, x + 4, top + rows + 10);
      }
      if (this.tracks.length > 1) {
        g.fillStyle = "#fff";
        g.textAlign = "right";
        g.fillText(label, band.width - 5, top + rows - 2);
        g.textAlign = "left";
      }
    });
  }
}

function style(element: Element, name: string): string {
  return getComputedStyle(element).getPropertyValue(name).trim();
}
