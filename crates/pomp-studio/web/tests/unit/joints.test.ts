import { expect, test } from "vitest";
import { hasJoints, nearestJoint, restated, uploadAddress } from "../../src/joints";

const joints = [
  { name: "hip", parent: null, place: [0, 0] as [number, number] },
  { name: "knee", parent: 0, place: [0.02, -0.4] as [number, number] },
];
const roles = [
  { name: "LeftUpLeg", joint: "hip", confidence: 0.4, reason: "limb below the hips" },
  { name: "LeftLeg", joint: "knee", confidence: 0.4, reason: "limb below the hips" },
  { name: "LeftToe", joint: null, confidence: 0, reason: "" },
];

test("a name is dropped on the nearest joint, or on none", () => {
  expect(nearestJoint(joints, [0.01, -0.38])?.name).toBe("knee");
  expect(nearestJoint(joints, [0.01, -0.2])).toBeUndefined();
});

test("a joint that is given to another role leaves its own", () => {
  expect(restated({}, roles, "LeftLeg", "hip")).toEqual({ LeftLeg: "hip", LeftUpLeg: null });
  expect(restated({ LeftLeg: "hip", LeftUpLeg: null }, roles, "LeftToe", "hip")).toEqual({
    LeftLeg: null,
    LeftUpLeg: null,
    LeftToe: "hip",
  });
  expect(restated({}, roles, "LeftLeg", null)).toEqual({ LeftLeg: null });
});

test("what is stated is part of the address", () => {
  const file = new File([], "a b.bvh");
  expect(uploadAddress("clip", { file, stated: {} })).toBe("/clip?name=a+b.bvh");
  const address = new URL(uploadAddress("rig", { file, stated: { LeftToe: null } }), "http://localhost");
  expect(JSON.parse(address.searchParams.get("joints") ?? "")).toEqual({ LeftToe: null });
});

test("recordings have no joints to state", () => {
  for (const name of ["a.bvh", "b.GLB"]) expect(hasJoints(new File([], name))).toBe(true);
  for (const name of ["a.npz", "bvh"]) expect(hasJoints(new File([], name))).toBe(false);
});
