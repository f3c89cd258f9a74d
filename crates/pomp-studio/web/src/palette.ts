// Colours that people with any colour vision can tell apart (after Okabe and Ito); left is blue and right orange everywhere.
import { Color } from "three";

export interface Palette {
  sky: Color;
  horizon: Color;
  ground: Color;
  grid: Color;
  torso: Color;
  head: Color;
  visor: Color;
  left: Color;
  right: Color;
  ghost: Color;
  push: Color;
  path: Color;
  wanted: Color;
  center: Color;
  support: Color;
  crate: Color;
  sun: number;
  ambient: number;
}

const c = (hex: number): Color => new Color(hex);

export const light: Palette = {
  sky: c(0xc9d9e8),
  horizon: c(0xe9eef3),
  ground: c(0xccd3da),
  grid: c(0xffffff),
  torso: c(0xe4e0d8),
  head: c(0xf2efe9),
  visor: c(0x20242b),
  left: c(0x2470b3),
  right: c(0xe0642a),
  ghost: c(0x009e73),
  push: c(0xcc3311),
  path: c(0x009e73),
  wanted: c(0x8a6fae),
  center: c(0x8a3ffc),
  support: c(0x009e73),
  crate: c(0xc79a5b),
  sun: 1.9,
  ambient: 1.35,
};

export const dark: Palette = {
  ...light,
  sky: c(0x0d1218),
  horizon: c(0x1a222c),
  ground: c(0x2b343f),
  grid: c(0x56657a),
  torso: c(0xc9c5bd),
  head: c(0xd8d4cc),
  left: c(0x3f8fd6),
  right: c(0xf07a3c),
  ghost: c(0x2fd3a2),
  path: c(0x2fd3a2),
  wanted: c(0xb79be0),
  center: c(0xc9a6ff),
  support: c(0x2fd3a2),
  crate: c(0xb98d52),
  sun: 1.7,
  ambient: 0.9,
};

/** One colour per gait, in the order of the protocol; none is that of a side. */
export const GAIT_COLORS = ["#8d99a6", "#4d8a63", "#8a6fae", "#a37c10", "#b5527f", "#b3261e", "#5b4636", "#3d8088"];
