// What the strip of time shows, column by column, and what a hand on it asks for.
import type { Clip } from "./clip";

export interface Band {
  /** Pixels that the clip takes. */
  width: number;
  /** Per pixel: the strongest gait, and how much the left and the right foot touch the ground, 0 to 1. */
  gaits: number[];
  contacts: [number, number][];
  /** First pixel of each gait. */
  names: Map<number, number>;
}

/** Time under a pixel of a strip that shows `seconds`. */
export function secondsUnder(x: number, width: number, seconds: number): number {
  return Math.min(Math.max(x / width, 0), 1) * seconds;
}

/** Where a key takes the time from `now`; undefined where it takes it nowhere. */
export function keyTarget(
  code: string,
  shift: boolean,
  now: number,
  seconds: number,
  rateHz: number,
): number | undefined {
  const step = (shift ? 10 : 1) / rateHz;
  const to: Record<string, number> = { ArrowRight: now + step, ArrowLeft: now - step, Home: 0, End: seconds };
  const at = to[code];
  return at === undefined ? undefined : Math.min(Math.max(at, 0), seconds);
}

/** A clip's band in a strip of `width` pixels that shows `seconds`. */
export function bandOf(
  clip: Pick<Clip, "seconds" | "frames" | "gait" | "contact"> & { about: { frame_rate_hz: number } },
  width: number,
  seconds: number,
): Band {
  const band: Band = { width: (clip.seconds / seconds) * width, gaits: [], contacts: [], names: new Map() };
  for (let x = 0; x < band.width; x++) {
    const frame = Math.min(Math.round((x / width) * seconds * clip.about.frame_rate_hz), clip.frames - 1);
    const gait = clip.gait(frame);
    if (!band.names.has(gait)) band.names.set(gait, x);
    band.gaits.push(gait);
    band.contacts.push(clip.contact(frame));
  }
  return band;
}
