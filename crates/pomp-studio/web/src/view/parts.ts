// Parts of the mannequin in the frames of their joints: tapered volumes, lengths in body heights, thicknesses drawn by eye.
import { type BufferGeometry, LatheGeometry, Matrix4, Quaternion, Vector2, Vector3 } from "three";

export type Side = "left" | "right" | "torso" | "head" | "visor";

export interface Part {
  joint: string;
  side: Side;
  from: [number, number, number];
  to: [number, number, number];
  radii: [number, number];
  /** Widths along x, y and z as shares. */
  flatten?: [number, number, number];
}

/** A rounded cone around the y axis from the origin to `length`. */
function taperedCapsule(length: number, a: number, b: number): BufferGeometry {
  const points: Vector2[] = [];
  const arc = 8;
  // Where the cone touches both spheres.
  const tilt = length > 1e-6 ? Math.asin(Math.min(Math.max((a - b) / length, -1), 1)) : 0;
  for (let i = 0; i <= arc; i++) {
    const angle = -Math.PI / 2 + ((Math.PI / 2 + tilt) * i) / arc;
    points.push(new Vector2(a * Math.cos(angle), a * Math.sin(angle)));
  }
  for (let i = 0; i <= arc; i++) {
    const angle = tilt + ((Math.PI / 2 - tilt) * i) / arc;
    points.push(new Vector2(b * Math.cos(angle), length + b * Math.sin(angle)));
  }
  return new LatheGeometry(points, 20);
}

/** The geometry of a part for a person of `height`. */
export function partGeometry(part: Part, height: number): BufferGeometry {
  const from = new Vector3(...part.from).multiplyScalar(height);
  const to = new Vector3(...part.to).multiplyScalar(height);
  const along = to.clone().sub(from);
  const length = along.length();
  const geometry = taperedCapsule(length, part.radii[0] * height, part.radii[1] * height);
  const turn = new Quaternion();
  if (length > 1e-6) turn.setFromUnitVectors(new Vector3(0, 1, 0), along.normalize());
  geometry.applyMatrix4(new Matrix4().compose(new Vector3(), turn, new Vector3(1, 1, 1)));
  if (part.flatten) geometry.scale(...part.flatten);
  // Flattened about the part's own middle line, which the scaling above has shortened when it is not along the bone.
  geometry.translate(from.x, from.y, from.z);
  geometry.computeVertexNormals();
  return geometry;
}

type Offset = (joint: string) => [number, number, number];

/** Limbs as long as the bones: a joint's part ends where its child begins. */
function limbs(side: "Left" | "Right", offset: Offset): Part[] {
  const s = side === "Left" ? 1 : -1;
  const color: Side = side === "Left" ? "left" : "right";
  const [knee, ankle, toe] = [offset(`${side}Leg`), offset(`${side}Foot`), offset(`${side}Toe`)];
  const [elbow, wrist] = [offset(`${side}ForeArm`), offset(`${side}Hand`)];
  const calf: [number, number, number] = [ankle[0] * 0.3, ankle[1] * 0.3, ankle[2] * 0.3 - 0.008];
  return [
    { joint: `${side}UpLeg`, side: color, from: [0, 0, 0], to: knee, radii: [0.052, 0.035] },
    { joint: `${side}Leg`, side: color, from: [0, 0, 0], to: calf, radii: [0.034, 0.037] },
    { joint: `${side}Leg`, side: color, from: calf, to: ankle, radii: [0.037, 0.022] },
    {
      joint: `${side}Foot`,
      side: color,
      from: [0, -0.0205, -0.024],
      to: [toe[0], toe[1] + 0.002, toe[2]],
      radii: [0.027, 0.022],
      flatten: [1, 0.72, 1],
    },
    {
      joint: `${side}Foot`,
      side: color,
      from: [0, 0, 0],
      to: [toe[0], toe[1] + 0.004, toe[2] - 0.01],
      radii: [0.023, 0.013],
    },
    {
      joint: `${side}Toe`,
      side: color,
      from: [0, 0.003, 0],
      to: [0, 0.002, 0.034],
      radii: [0.023, 0.016],
      flatten: [1, 0.68, 1],
    },
    { joint: `${side}Arm`, side: color, from: [0, 0, 0], to: elbow, radii: [0.037, 0.026] },
    { joint: `${side}ForeArm`, side: color, from: [0, 0, 0], to: wrist, radii: [0.027, 0.018] },
    {
      joint: `${side}Hand`,
      side: color,
      from: [0.014 * s, 0, 0],
      to: [0.062 * s, 0, 0],
      radii: [0.024, 0.019],
      flatten: [1, 0.62, 1],
    },
  ];
}

/** The body of the project skeleton, whose joints' frames are the world's in the rest pose; `offset` is in body heights. */
export function mannequin(offset: Offset): Part[] {
  const waist = offset("Spine1")[1];
  const neck = offset("Neck")[1];
  const shoulders = offset("LeftShoulder")[1] + offset("LeftArm")[1];
  return [
    {
      joint: "Hips",
      side: "torso",
      from: [-0.034, -0.006, 0],
      to: [0.034, -0.006, 0],
      radii: [0.062, 0.062],
      flatten: [1, 1, 0.88],
    },
    {
      joint: "Spine",
      side: "torso",
      from: [0, 0.02 - offset("Spine")[1], 0],
      to: [0, waist, 0],
      radii: [0.084, 0.074],
      flatten: [1, 0.92, 0.66],
    },
    {
      joint: "Spine2",
      side: "torso",
      from: [0, 0.012 - offset("Spine2")[1], 0],
      to: [0, shoulders - 0.036, 0],
      radii: [0.076, 0.094],
      flatten: [1, 0.86, 0.66],
    },
    {
      joint: "Spine2",
      side: "torso",
      from: [0, shoulders - 0.02, 0],
      to: [0, neck + 0.004, 0],
      radii: [0.056, 0.03],
      flatten: [1.1, 1, 0.74],
    },
    { joint: "Neck", side: "torso", from: [0, -0.01, 0], to: offset("Head"), radii: [0.029, 0.027] },
    {
      joint: "Head",
      side: "head",
      from: [0, 0.012, 0.008],
      to: [0, 0.036, -0.006],
      radii: [0.046, 0.058],
      flatten: [0.86, 1, 1],
    },
    {
      joint: "Head",
      side: "visor",
      from: [-0.016, 0.026, 0.033],
      to: [0.016, 0.026, 0.033],
      radii: [0.0235, 0.0235],
      flatten: [1, 0.86, 1],
    },
    ...limbs("Left", offset),
    ...limbs("Right", offset),
  ];
}

/** The joints of the project skeleton that the mannequin needs. */
export const MANNEQUIN_JOINTS = ["Hips", "Spine", "Spine1", "Spine2", "Neck", "Head"].concat(
  ["Left", "Right"].flatMap((side) =>
    ["UpLeg", "Leg", "Foot", "Toe", "Shoulder", "Arm", "ForeArm", "Hand"].map((joint) => side + joint),
  ),
);
