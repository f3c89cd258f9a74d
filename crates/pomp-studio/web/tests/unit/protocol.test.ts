import { decode } from "@msgpack/msgpack";
import { expect, test } from "vitest";
import { fromServer, toServer } from "../../src/protocol";
import { message } from "./packed";

test("rows of numbers are arrays of them, wherever in the message they lie", () => {
  for (const text of ["", "a", "ab", "abc"]) {
    const read = fromServer(message({ kind: "patch", text, heights: new Float32Array([1.5, -2, 1e6]) }));
    if (read.kind !== "patch") throw new Error(read.kind);
    expect(read.heights).toBeInstanceOf(Float32Array);
    expect([...read.heights]).toEqual([1.5, -2, 1e6]);
  }
});

test("a message to the server has the names of its fields, and nothing for what is absent", () => {
  const bytes = toServer({ do: "steer", sequence: 7, direction: [0.5, -1], gait: "walk" });
  expect(decode(bytes)).toEqual({ do: "steer", sequence: 7, direction: [0.5, -1], gait: "walk" });
  expect(bytes.byteLength).toBeLessThan(60);
  expect(decode(toServer({ do: "reset" }))).toEqual({ do: "reset" });
});

test("rejects_what_is_no_message_and_says_what_it_is", () => {
  const bytes = (...values: number[]): ArrayBuffer => new Uint8Array(values).buffer;
  expect(() => fromServer(bytes(0x07))).toThrow(/sent 7 in place of a message/);
  expect(() => fromServer(bytes(0x80))).toThrow(/of no kind/);
  expect(() => fromServer(bytes(0x81, 0xa4))).toThrow(/cannot read/);
  expect(() => fromServer(bytes(0x80, 0x80))).toThrow(/cannot read/);
});
