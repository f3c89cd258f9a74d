import { describe, expect, test } from "vitest";
import { type Hands, type Pad, steers, wishOf } from "../../src/input/wish";

const ALL = ["stand", "walk", "jog", "crouch", "jump"];
const hands = (more: Partial<Hands> = {}): Hands => ({
  keys: new Set(),
  stick: [0, 0],
  buttons: new Set(),
  pads: [],
  ...more,
});
const pad = (axes: number[], pressed: number[] = [], more: Partial<Pad> = {}): Pad => ({
  connected: true,
  mapping: "standard",
  axes,
  buttons: Array.from({ length: 17 }, (_, i) => ({ pressed: pressed.includes(i) })),
  ...more,
});

describe("directions", () => {
  test("hands at rest ask for nothing", () => {
    expect(wishOf(hands(), ALL)).toEqual({ right: 0, ahead: 0, gait: "walk", look: [0, 0], faces: false, lacking: "" });
  });

  test.each([
    [["KeyW"], 0, 1],
    [["ArrowDown"], 0, -1],
    [["KeyA"], -1, 0],
    [["ArrowRight"], 1, 0],
    [["KeyA", "KeyD"], 0, 0],
    [["KeyW", "KeyD"], Math.SQRT1_2, Math.SQRT1_2],
    [["KeyW", "ArrowUp"], 0, 1],
  ])("%s", (keys, right, ahead) => {
    const wish = wishOf(hands({ keys: new Set(keys) }), ALL);
    expect(wish.right).toBeCloseTo(right, 9);
    expect(wish.ahead).toBeCloseTo(ahead, 9);
  });

  test("a stick that is half out walks at half the speed", () => {
    expect(wishOf(hands({ stick: [0, 0.5] }), ALL).ahead).toBeCloseTo(0.5, 9);
  });

  test("a stick that barely moves is at rest", () => {
    expect(wishOf(hands({ stick: [0.03, 0.03] }), ALL)).toMatchObject({ right: 0, ahead: 0 });
  });

  test("a gamepad's left stick walks and its right one looks", () => {
    const wish = wishOf(hands({ pads: [null, pad([0.6, -0.8, 0.5, -0.3])] }), ALL);
    expect(wish.right).toBeCloseTo(0.6, 9);
    expect(wish.ahead).toBeCloseTo(0.8, 9);
    expect(wish.look).toEqual([0.5, -0.3]);
  });

  test("a gamepad that drifts, has gone or is of another kind does nothing", () => {
    const pads = [pad([0.17, -0.17, 0.1, 0.1]), pad([0, -1, 1, 1], [0], { connected: false })];
    const other = pad([0, -1, 1, 1], [0], { mapping: "" });
    expect(wishOf(hands({ pads: [...pads, other] }), ALL)).toEqual(wishOf(hands(), ALL));
  });
});

describe("gaits", () => {
  test.each([
    [["ShiftLeft"], [], [], "jog"],
    [["ShiftRight"], [], [], "jog"],
    [["KeyC"], [], [], "crouch"],
    [["Space"], [], [], "jump"],
    [["Space", "KeyC", "ShiftLeft"], [], [], "jump"],
    [["KeyC", "ShiftLeft"], [], [], "crouch"],
    [[], ["jog"], [], "jog"],
    [[], [], [7], "jog"],
    [[], [], [5], "jog"],
    [[], [], [1], "crouch"],
    [[], [], [0], "jump"],
  ])("keys %s, touch %s and pad %s ask for %s", (keys, buttons, pressed, gait) => {
    const asked = hands({ keys: new Set(keys), buttons: new Set(buttons), pads: [pad([0, 0, 0, 0], pressed)] });
    expect(wishOf(asked, ALL)).toMatchObject({ gait, lacking: "" });
  });

  test("a gait that the model lacks is named, and it walks", () => {
    expect(wishOf(hands({ keys: new Set(["Space"]) }), ["stand", "walk"])).toMatchObject({
      gait: "walk",
      lacking: "jump",
    });
  });

  test("of two gaits that are asked for, the one that the model has is taken", () => {
    const wish = wishOf(hands({ keys: new Set(["Space", "ShiftLeft"]) }), ["walk", "jog"]);
    expect(wish).toMatchObject({ gait: "jog", lacking: "jump" });
  });

  test("a model that cannot walk does what it can", () => {
    expect(wishOf(hands(), ["stand"]).gait).toBe("stand");
  });
});

test.each([
  [["KeyF"], [], [], true],
  [[], ["face"], [], true],
  [[], [], [6], true],
  [["KeyW"], ["jog"], [7], false],
])("keys %s, touch %s and pad %s face ahead: %s", (keys, buttons, pressed, faces) => {
  const asked = hands({ keys: new Set(keys), buttons: new Set(buttons), pads: [pad([0, 0, 0, 0], pressed)] });
  expect(wishOf(asked, ALL).faces).toBe(faces);
});

test("keys that steer", () => {
  for (const code of ["KeyW", "ArrowLeft", "ShiftRight", "KeyC", "KeyF", "Space"])
    expect(steers(code), code).toBe(true);
  for (const code of ["KeyP", "Enter", "Tab", "toString"]) expect(steers(code), code).toBe(false);
});
