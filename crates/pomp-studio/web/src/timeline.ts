// The strip of time below a clip: gaits, contacts, pushes, and where we are.
import type { Clip } from "./clip";
import { GAIT_COLORS } from "./palette";

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
      moved(Math.min(Math.max((event.clientX - box.left) / box.width, 0), 1) * this.seconds);
    };
    canvas.addEventListener("pointerdown", (event) => {
      canvas.setPointerCapture(event.pointerId);
      seek(event);
    });
    canvas.addEventListener("pointermove", (event) => {
      if (canvas.hasPointerCapture(event.pointerId)) seek(event);
    });
    canvas.addEventListener("keydown", (event) => {
      const step = (event.shiftKey ? 10 : 1) / (this.tracks[0]?.clip.about.frame_rate_hz ?? 60);
      const to: Record<string, number> = {
        ArrowRight: this.now + step,
        ArrowLeft: this.now - step,
        Home: 0,
        End: this.seconds,
      };
      const at = to[event.code];
      if (at === undefined) return;
      event.preventDefault();
      event.stopPropagation();
      this.moved(Math.min(Math.max(at, 0), this.seconds));
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
    const tall = height / Math.max(this.tracks.length, 1);
    this.tracks.forEach(({ clip, label }, t) => {
      const top = t * tall;
      const rows = (tall - 4) / 3;
      const names = new Map<number, number>();
      g.fillStyle = faint;
      const end = (clip.seconds / this.seconds) * width;
      g.fillRect(0, top + 2, end, tall - 4);
      for (let x = 0; x < end; x++) {
        const i = Math.min(Math.round((x / width) * this.seconds * clip.about.frame_rate_hz), clip.frames - 1);
        const gait = clip.gait(i);
        if (!names.has(gait)) names.set(gait, x);
        g.fillStyle = GAIT_COLORS[gait] ?? soft;
        g.fillRect(x, top + 2, 1.2, rows);
        const [left, right] = clip.contact(i);
        for (const [foot, share, color] of [
          [0, left, "--left"],
          [1, right, "--right"],
        ] as const) {
          if (share <= 0.02) continue;
          g.fillStyle = style(this.canvas, color);
          const bar = (rows - 2) * (0.25 + 0.75 * share);
          g.fillRect(x, top + 2 + rows * (foot + 2) - bar, 1.2, bar);
        }
      }
      g.font = "600 10px ui-sans-serif, system-ui, sans-serif";
      g.fillStyle = "#fff";
      for (const [gait, x] of names) {
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
        g.fillText(label, end - 5, top + rows - 2);
        g.textAlign = "left";
      }
    });
  }
}

function style(element: Element, name: string): string {
  return getComputedStyle(element).getPropertyValue(name).trim();
}
