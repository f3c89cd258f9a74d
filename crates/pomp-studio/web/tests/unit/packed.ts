// What the server packs.
import { ExtensionCodec, encode } from "@msgpack/msgpack";
import { FLOATS_EXTENSION } from "../../src/generated/protocol";

const codec = new ExtensionCodec();
codec.register({
  type: FLOATS_EXTENSION,
  encode: (value) => (value instanceof Float32Array ? new Uint8Array(value.buffer) : null),
  decode: () => null,
});

/** A message whose `Float32Array`s are rows of numbers. */
export function message(value: object): ArrayBuffer {
  return encode(value, { extensionCodec: codec }).slice().buffer;
}

/** A clip with these facts and arrays. */
export function packed(about: object, arrays: Record<string, number[]>): ArrayBuffer {
  const rows = Object.entries(arrays).map(([name, values]) => [name, new Float32Array(values)] as const);
  return message({ bodies: [], body_mass_kg: [], pushes: [], ...about, arrays: Object.fromEntries(rows) });
}
