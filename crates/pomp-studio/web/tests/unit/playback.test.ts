import { describe, expect, test } from "vitest";
import { advance, frameAt, stepped } from "../../src/playback";
import type { Frame } from "../../src/protocol";

describe("advance", () => {
  test("time goes on at its pace", () => {
    expect(advance(1, 0.1, 0.5, 4, true)).toEqual({ at: 1.05, playing: true });
  });

  test("at the end it begins anew, or stops at the last frame", () => {
    expect(advance(3.95, 0.1, 1, 4, true)).toEqual({ at: 0, playing: true });
    expect(advance(3.95, 0.1, 1, 4, false)).toEqual({ at: 4, playing: false });
  });
});

describe("stepped", () => {
  test("goes from frame to frame, also from between two", () => {
    expect(stepped(1, 1, 50, 4)).toBeCloseTo(1.02, 9);
    expect(stepped(1.012, -1, 50, 4)).toBeCloseTo(1, 9);
  });

  test("stays within the clip", () => {
    expect(stepped(0, -1, 50, 4)).toBe(0);
    expect(stepped(4, 1, 50, 4)).toBe(4);
  });
});

describe("frameAt", () => {
  const clip = {
    frames: 3,
    about: { frame_rate_hz: 10 },
    frame: (i: number): Frame => ({
      frame: i,
      positions: new Float32Array([i, 0, 0]),
      rotations: new Float32Array([0, 0, 0, 1]),
    }),
  };
  const x = (seconds: number): number => frameAt(clip, seconds).positions[0]!;

  test("between two frames it is a mixture, on them it is they themselves", () => {
    expect(x(0.1)).toBe(1);
    expect(x(0.15)).toBeCloseTo(1.5, 6);
    expect(x(0.1005)).toBe(1);
  });

  test("after the end it is the last frame", () => {
    expect(x(0.2)).toBe(2);
    expect(x(7)).toBe(2);
  });
});
