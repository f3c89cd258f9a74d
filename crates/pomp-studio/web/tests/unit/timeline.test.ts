import { describe, expect, test } from "vitest";
import { bandOf, keyTarget, secondsUnder } from "../../src/timeline_bands";

describe("secondsUnder", () => {
  test.each([
    [0, 0],
    [50, 2],
    [200, 8],
    [-30, 0],
    [900, 8],
  ])("pixel %d of 200 is at %d s of 8", (x, seconds) => {
    expect(secondsUnder(x, 200, 8)).toBe(seconds);
  });
});

describe("keyTarget", () => {
  const at = (code: string, shift = false, now = 1): number | undefined => keyTarget(code, shift, now, 4, 50);

  test("arrows go a frame, with Shift ten", () => {
    expect(at("ArrowRight")).toBeCloseTo(1.02, 9);
    expect(at("ArrowLeft")).toBeCloseTo(0.98, 9);
    expect(at("ArrowRight", true)).toBeCloseTo(1.2, 9);
  });

  test("Home and End go to the ends, and no key goes beyond them", () => {
    expect(at("Home")).toBe(0);
    expect(at("End")).toBe(4);
    expect(at("ArrowLeft", false, 0)).toBe(0);
    expect(at("ArrowRight", true, 3.95)).toBe(4);
  });

  test("other keys go nowhere", () => {
    expect(at("KeyW")).toBeUndefined();
  });
});

describe("bandOf", () => {
  /** 61 frames at 60 Hz; gait 1 begins in frame 30, and the left foot lifts there. */
  const clip = {
    seconds: 1,
    frames: 61,
    about: { frame_rate_hz: 60 },
    gait: (i: number): number => (i < 30 ? 0 : 1),
    contact: (i: number): [number, number] => (i < 30 ? [1, 0] : [0, 0.5]),
  };

  test("a column per pixel, with the frame that is under it", () => {
    const band = bandOf(clip, 120, 1);
    expect(band.gaits).toHaveLength(120);
    expect(band.names).toEqual(
      new Map([
        [0, 0],
        [1, 59],
      ]),
    );
    expect(band.contacts[10]).toEqual([1, 0]);
    expect(band.contacts[119]).toEqual([0, 0.5]);
  });

  test("beside a longer clip it takes its share of the strip", () => {
    const band = bandOf(clip, 120, 4);
    expect(band.width).toBe(30);
    expect(band.gaits).toHaveLength(30);
    expect(band.names.get(1)).toBe(15);
  });
});
