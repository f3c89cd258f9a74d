// Directions of the view in the world.
import type { Vec3 } from "../protocol";

/** From a direction in the view to one on the ground of the world, x and z; `yaw` is the camera's, radians, 0 looks along +Z. */
export function inWorld(right: number, ahead: number, yaw: number): [number, number] {
  return [ahead * Math.sin(yaw) - right * Math.cos(yaw), ahead * Math.cos(yaw) + right * Math.sin(yaw)];
}

/** A ball's velocity at the start, m/s, that takes it from one place to another; `speed` m/s tells how long it flies. */
export function throwVelocity(from: Vec3, to: Vec3, speed: number, longestFlightS: number, gravity = 9.81): Vec3 {
  const way: Vec3 = [to[0] - from[0], to[1] - from[1], to[2] - from[2]];
  const flight = Math.min(Math.hypot(...way) / speed, longestFlightS);
  return [way[0] / flight, way[1] / flight + 0.5 * gravity * flight, way[2] / flight];
}
