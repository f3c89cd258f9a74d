// What keys, touch and gamepads ask for, as a direction in the view and a gait.

export interface Wish {
  /** To the right and ahead in the view, at most of length 1. */
  right: number;
  ahead: number;
  gait: string;
  /** Turns of the view by a gamepad's right stick, per second. */
  look: [number, number];
  /** It faces ahead in the view wherever it goes. */
  faces: boolean;
  /** The gait that is asked for and that the model does not have; empty where there is none. */
  lacking: string;
}

export interface Hands {
  /** Codes of the keys that are down. */
  keys: ReadonlySet<string>;
  /** The touch stick, to the right and ahead, and what the touch buttons ask for: gaits, and to face ahead. */
  stick: [number, number];
  buttons: ReadonlySet<string>;
  pads: readonly (Pad | null)[];
}

export type Pad = Pick<Gamepad, "connected" | "mapping" | "axes"> & { buttons: readonly { pressed: boolean }[] };

/** Stick positions closer to the middle than this are rest, and so are shorter wishes. */
const DEAD_AXIS = 0.18;
const DEAD_WISH = 0.05;

/** Ways of the keys, to the right and ahead. */
export const WAYS: Readonly<Record<string, readonly [number, number]>> = {
  KeyW: [0, 1],
  ArrowUp: [0, 1],
  KeyS: [0, -1],
  ArrowDown: [0, -1],
  KeyA: [-1, 0],
  ArrowLeft: [-1, 0],
  KeyD: [1, 0],
  ArrowRight: [1, 0],
};

/** Keys and gamepad buttons of the gaits; the first that is asked for and known is taken. */
const GAITS = [
  { gait: "jump", keys: ["Space"], pad: [0] },
  { gait: "crouch", keys: ["KeyC"], pad: [1] },
  { gait: "jog", keys: ["ShiftLeft", "ShiftRight"], pad: [5, 7] },
];

/** The key, the touch button and the gamepad buttons with which it faces ahead in the view. */
const FACE = { key: "KeyF", button: "face", pad: [4, 6] };

/** Whether a key steers. */
export function steers(code: string): boolean {
  return Object.hasOwn(WAYS, code) || code === FACE.key || GAITS.some(({ keys }) => keys.includes(code));
}

/** What the hands ask of a model that has these gaits. */
export function wishOf(hands: Hands, gaits: readonly string[]): Wish {
  let [right, ahead] = hands.stick;
  let look: [number, number] = [0, 0];
  for (const key of hands.keys) {
    const way = WAYS[key];
    if (way) [right, ahead] = [right + way[0], ahead + way[1]];
  }
  const pads = hands.pads.filter((pad) => pad !== null).filter((pad) => pad.connected && pad.mapping === "standard");
  for (const pad of pads) {
    const axis = (i: number): number => (Math.abs(pad.axes[i] ?? 0) > DEAD_AXIS ? pad.axes[i]! : 0);
    [right, ahead] = [right + axis(0), ahead - axis(1)];
    look = [axis(2), axis(3)];
  }
  const length = Math.hypot(right, ahead);
  const scale = length < DEAD_WISH ? 0 : 1 / Math.max(length, 1);
  const holds = (button: string, keys: readonly string[], pad: readonly number[]): boolean =>
    hands.buttons.has(button) ||
    keys.some((key) => hands.keys.has(key)) ||
    pads.some((one) => pad.some((i) => one.buttons[i]?.pressed));
  const asked = GAITS.filter(({ gait, keys, pad }) => holds(gait, keys, pad)).map(({ gait }) => gait);
  const known = asked.find((gait) => gaits.includes(gait));
  return {
    right: right * scale,
    ahead: ahead * scale,
    gait: known ?? (gaits.includes("walk") ? "walk" : gaits[0]!),
    look,
    faces: holds(FACE.button, [FACE.key], FACE.pad),
    lacking: asked.find((gait) => !gaits.includes(gait)) ?? "",
  };
}
