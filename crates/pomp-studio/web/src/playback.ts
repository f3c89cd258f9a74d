// The clock of a clip that plays.
import type { Clip } from "./clip";
import { between } from "./interpolate";
import type { Frame } from "./protocol";

/** Shares of a frame below this are not worth a mixture. */
const LEAST_SHARE = 0.02;

/** The time after `elapsed` seconds of playing, and whether it goes on: at the end it begins anew or stops. */
export function advance(
  at: number,
  elapsed: number,
  pace: number,
  seconds: number,
  loop: boolean,
): { at: number; playing: boolean } {
  const next = at + elapsed * pace;
  if (next <= seconds) return { at: next, playing: true };
  return loop ? { at: 0, playing: true } : { at: seconds, playing: false };
}

/** The time of the frame that lies `frames` from that of a time. */
export function stepped(at: number, frames: number, rateHz: number, seconds: number): number {
  return Math.min(Math.max((Math.round(at * rateHz) + frames) / rateHz, 0), seconds);
}

/** A clip at a time: a frame, or what lies between two. */
export function frameAt(
  clip: Pick<Clip, "frames" | "frame"> & { about: { frame_rate_hz: number } },
  seconds: number,
): Frame {
  const at = Math.min(seconds * clip.about.frame_rate_hz, clip.frames - 1);
  const [first, share] = [Math.floor(at), at - Math.floor(at)];
  const frame = clip.frame(first);
  return share < LEAST_SHARE || first + 1 >= clip.frames ? frame : between(frame, clip.frame(first + 1), share);
}
