// Clips as the server packs them.

/** A package with these facts and arrays. */
export function packed(about: object, arrays: Record<string, number[]>): ArrayBuffer {
  const places: Record<string, [number, number]> = {};
  const values: number[] = [];
  for (const [name, array] of Object.entries(arrays)) {
    places[name] = [values.length, array.length];
    values.push(...array);
  }
  const text = JSON.stringify({ ...about, arrays: places });
  // Padded, so that the floats are aligned.
  const json = new TextEncoder().encode(text + " ".repeat((4 - (text.length % 4)) % 4));
  const bytes = new Uint8Array(16 + json.length + 4 * values.length);
  bytes.set(new TextEncoder().encode("POMPCLIP"));
  const view = new DataView(bytes.buffer);
  view.setUint32(8, 1, true);
  view.setUint32(12, json.length, true);
  bytes.set(json, 16);
  bytes.set(new Uint8Array(new Float32Array(values).buffer), 16 + json.length);
  return bytes.buffer;
}
