// Records what the canvas shows as a video, by the browser's own encoder.
import { element, save, say } from "./ui";

/** Kinds of video, the best first, and the rate of pictures. */
const KINDS = ["video/webm;codecs=vp9", "video/webm;codecs=vp8", "video/webm", "video/mp4"];
const PICTURES_PER_S = 30;
const BITS_PER_S = 8_000_000;
/** Longest video; what is recorded waits in memory. */
const LONGEST_MS = 5 * 60_000;

export class Video {
  private recorder: MediaRecorder | undefined;
  private pieces: Blob[] = [];
  private began = 0;
  private clock = 0;
  private readonly button = element<HTMLButtonElement>("video");

  constructor(private readonly canvas: HTMLCanvasElement) {
    this.button.onclick = () => (this.recorder ? this.stop() : this.start());
  }

  private start(): void {
    const kind =
      typeof MediaRecorder === "undefined"
        ? undefined
        : KINDS.find((candidate) => MediaRecorder.isTypeSupported(candidate));
    if (!kind || !this.canvas.captureStream) {
      say({ level: "warning", text: "This browser records no video. Take a GIF, which the studio draws itself." });
      return;
    }
    const recorder = new MediaRecorder(this.canvas.captureStream(PICTURES_PER_S), {
      mimeType: kind,
      videoBitsPerSecond: BITS_PER_S,
    });
    this.pieces = [];
    recorder.ondataavailable = (event) => {
      if (event.data.size > 0) this.pieces.push(event.data);
    };
    recorder.onerror = () => say({ level: "error", text: "The browser has stopped the video." });
    recorder.onstop = () => {
      this.recorder = undefined;
      clearInterval(this.clock);
      for (const track of recorder.stream.getTracks()) track.stop();
      this.button.textContent = "Video";
      this.button.setAttribute("aria-pressed", "false");
      const plain = kind.split(";")[0]!;
      if (this.pieces.length > 0)
        save(`pomp.${plain.endsWith("mp4") ? "mp4" : "webm"}`, new Blob(this.pieces, { type: plain }));
      else say({ level: "warning", text: "The video is empty; record a little longer." });
      this.pieces = [];
    };
    recorder.start(1000);
    this.recorder = recorder;
    this.began = performance.now();
    this.button.setAttribute("aria-pressed", "true");
    this.tell();
    this.clock = window.setInterval(() => this.tell(), 500);
  }

  private tell(): void {
    const ms = performance.now() - this.began;
    this.button.textContent = `Stop, ${(ms / 1000).toFixed(0)} s`;
    if (ms > LONGEST_MS) this.stop();
  }

  private stop(): void {
    this.recorder?.stop();
  }
}
