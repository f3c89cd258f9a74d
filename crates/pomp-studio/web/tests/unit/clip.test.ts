import { describe, expect, test } from "vitest";
import { Clip } from "../../src/clip";
import { packed } from "./packed";

const FRAMES = 4;
const column = (width: number, value: (frame: number, k: number) => number): number[] =>
  Array.from({ length: FRAMES * width }, (_, i) => value(Math.floor(i / width), i % width));
const about = {
  name: "walk",
  frame_rate_hz: 60,
  frames: FRAMES,
  joints: [
    { name: "Hips", parent: null, offset: [0, 0, 0] },
    { name: "LeftFoot", parent: 0, offset: [0.1, -0.9, 0] },
  ],
  shapes: [
    {
      capsule: [
        [0, 0, 0],
        [0, 0.2, 0],
      ],
      radius: 0.1,
    },
    {
      capsule: [
        [0, 0, 0],
        [0, 0, 0.2],
      ],
      radius: 0.03,
    },
  ],
  gait_names: ["stand", "walk"],
  source: "",
  license: "",
  has_contacts: true,
};
const motion = {
  positions: column(6, (frame, k) => (k === 0 ? frame : k < 3 ? 1 : 2)),
  quaternions: column(8, (_, k) => (k % 4 === 3 ? 1 : 0)),
};

describe("a plain clip", () => {
  const clip = new Clip(
    packed(about, { ...motion, foot_contact: column(4, (frame, k) => (frame === 1 && k < 2 ? k : 0)) }),
  );

  test("gives its frames, and the nearest one beyond its ends", () => {
    expect(clip.seconds).toBeCloseTo(3 / 60, 9);
    expect([...clip.frame(2).positions]).toEqual([2, 1, 1, 2, 2, 2]);
    expect(clip.frame(-5).frame).toBe(0);
    expect(clip.frame(99).frame).toBe(3);
  });

  test("has what was packed and nothing else", () => {
    const frame = clip.frame(0);
    expect(clip.has("positions")).toBe(true);
    expect(clip.has("contact_impulse")).toBe(false);
    for (const name of ["impulses", "phase", "gait", "plates"] as const) expect(frame[name], name).toBeUndefined();
  });

  test("labels of the feet are its contacts: the larger of heel and toe", () => {
    expect(clip.contact(1)).toEqual([1, 0]);
    expect(clip.contact(2)).toEqual([0, 0]);
  });

  test("stands on level ground", () => {
    const terrain = clip.terrain();
    expect(terrain.heights.length).toBe(terrain.rows * terrain.columns);
    expect(terrain.heights.every((height) => height === 0)).toBe(true);
  });
});

describe("a recording", () => {
  const clip = new Clip(
    packed(
      { ...about, bodies: ["Hips", "LeftFoot"], body_mass_kg: [60, 20] },
      {
        ...motion,
        sim_positions: column(6, (frame, k) => (k === 0 ? 10 + frame : k === 4 ? 0 : 1)),
        sim_quaternions: motion.quaternions,
        contact_impulse: column(6, (frame, k) => (k === 4 && frame === 3 ? 6.54 : 0)),
        gait: column(2, (frame, k) => (k === (frame < 2 ? 0 : 1) ? 0.8 : 0.2)),
        plates: [1, 2, 3, 4, 5, 6, 7, 8],
      },
    ),
  );

  test("shows what the simulator moved, with the clip as its target", () => {
    const frame = clip.frame(1);
    expect(frame.positions[0]).toBe(11);
    const target = frame.target_positions;
    expect(target?.[0]).toBe(1);
  });

  test("weighs its bodies together", () => {
    expect(clip.person.weight).toBeCloseTo(80 * 9.81, 6);
  });

  test("the centre of mass lies between the bodies, nearer to the heavier one", () => {
    const frame = clip.frame(0);
    const center = frame.center_of_mass!;
    // Hips at y = 1 with their middle 0.1 above, the foot at y = 0 with its middle 0.1 ahead.
    expect(center[1]).toBeCloseTo((60 * 1.1 + 20 * 0) / 80, 5);
    expect(center[2]).toBeCloseTo((60 * 1 + 20 * 1.1) / 80, 5);
  });

  test("the simulator's impulses are its contacts", () => {
    // 6.54 N·s at 60 Hz are half of 784.8 N, and 1.2 body weights are full contact.
    expect(clip.contact(3)[0]).toBeCloseTo(0.5 / 1.2, 5);
    expect(clip.contact(0)).toEqual([0, 0]);
  });

  test("knows the strongest gait", () => {
    expect([0, 1, 2, 3].map((i) => clip.gait(i))).toEqual([0, 0, 1, 1]);
  });

  test("plates end before the clip does", () => {
    expect([...clip.frame(1).plates!]).toEqual([5, 6, 7, 8]);
    expect(clip.frame(2).plates).toBeUndefined();
  });
});

test("rejects_bytes_that_are_no_clip", () => {
  expect(() => new Clip(new TextEncoder().encode("HIERARCHY\nROOT Hips and so on").buffer as ArrayBuffer)).toThrow(
    /cannot read/,
  );
});
