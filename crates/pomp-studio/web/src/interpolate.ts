// Frames between frames, for slow motion.
import type { Frame } from "./protocol";

function mix(a: Float32Array, b: Float32Array, t: number): Float32Array {
  return a.map((value, i) => value + (b[i]! - value) * t);
}

function mixRotations(a: Float32Array, b: Float32Array, t: number): Float32Array {
  const out = new Float32Array(a.length);
  for (let i = 0; i < a.length; i += 4) {
    let dot = 0;
    for (let k = 0; k < 4; k++) dot += a[i + k]! * b[i + k]!;
    let norm = 0;
    for (let k = 0; k < 4; k++) {
      const value = a[i + k]! * (1 - t) + b[i + k]! * t * Math.sign(dot || 1);
      out[i + k] = value;
      norm += value * value;
    }
    const scale = 1 / Math.sqrt(norm || 1);
    for (let k = 0; k < 4; k++) out[i + k]! *= scale;
  }
  return out;
}

/** The pose `t` of the way from `a` to `b`; what is no pose is that of `b`. */
export function between(a: Frame, b: Frame, t: number): Frame {
  const mixed: Frame = {
    ...b,
    positions: mix(a.positions, b.positions, t),
    rotations: mixRotations(a.rotations, b.rotations, t),
  };
  if (a.target_positions && b.target_positions) mixed.target_positions = mix(a.target_positions, b.target_positions, t);
  if (a.target_rotations && b.target_rotations)
    mixed.target_rotations = mixRotations(a.target_rotations, b.target_rotations, t);
  return mixed;
}
