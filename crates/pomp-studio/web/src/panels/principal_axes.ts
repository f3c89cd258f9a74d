// The two principal axes of codes, by the power method.

const TURNS = 24;

export interface PrincipalAxes {
  mean: number[];
  axes: [number[], number[]];
  /** Share of the variance along both axes, 0 to 1. */
  share: number;
}

const dot = (a: ArrayLike<number>, b: ArrayLike<number>): number => {
  let sum = 0;
  for (let i = 0; i < a.length; i++) sum += a[i]! * b[i]!;
  return sum;
};

/** The axes of largest variance; they begin where `before` was, so that they do not jump. Undefined where codes have less than two. */
export function principalAxes(codes: Float32Array[], before?: PrincipalAxes): PrincipalAxes | undefined {
  const width = codes[0]?.length ?? 0;
  const mean = new Array<number>(width).fill(0);
  for (const code of codes) {
    for (let i = 0; i < width; i++) mean[i]! += code[i]! / codes.length;
  }
  const covariance = Array.from({ length: width }, () => new Array<number>(width).fill(0));
  for (const code of codes) {
    for (let i = 0; i < width; i++) {
      const a = code[i]! - mean[i]!;
      for (let j = 0; j < width; j++) covariance[i]![j]! += (a * (code[j]! - mean[j]!)) / codes.length;
    }
  }
  const total = covariance.reduce((sum, row, i) => sum + row[i]!, 0);
  const axes: number[][] = [];
  let along = 0;
  for (let k = 0; k < 2; k++) {
    const old = before?.axes[k];
    let axis = old?.length === width ? old : Array.from({ length: width }, (_, i) => Math.cos(1 + i * (k + 1)));
    let variance = 0;
    for (let turn = 0; turn < TURNS; turn++) {
      let next = covariance.map((row) => dot(row, axis));
      for (const other of axes) {
        const part = dot(next, other);
        next = next.map((value, i) => value - part * other[i]!);
      }
      variance = Math.sqrt(dot(next, next));
      if (variance < 1e-12) return undefined;
      axis = next.map((value) => value / variance);
    }
    axes.push(axis);
    along += variance;
  }
  return { mean, axes: axes as [number[], number[]], share: along / total };
}

/** A code along both axes. */
export function along(code: Float32Array, { mean, axes }: PrincipalAxes): [number, number] {
  const centred = mean.map((value, i) => code[i]! - value);
  return [dot(centred, axes[0]), dot(centred, axes[1])];
}

/** Index of the point that is nearest to a place, where a length along the second axis counts `ratio` times. */
export function nearestTo(place: [number, number], points: [number, number][], ratio = 1): number {
  const distance = ([x, y]: [number, number]): number => Math.hypot(x - place[0], ratio * (y - place[1]));
  let nearest = 0;
  points.forEach((point, i) => {
    if (distance(point) < distance(points[nearest]!)) nearest = i;
  });
  return nearest;
}
