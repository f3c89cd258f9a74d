// Messages between page and server: MessagePack, whose types are generated from the program's.
import { decode, ExtensionCodec, encode } from "@msgpack/msgpack";
import { FLOATS_EXTENSION, type FrameMessage, type FromPage, type ToPage } from "./generated/protocol";

export type * from "./generated/protocol";

export type Vec3 = [number, number, number];

/** One frame of a world or of a clip; what is not known is absent. */
export type Frame = Pick<FrameMessage, "frame" | "positions" | "rotations"> &
  Partial<FrameMessage> & {
    /** Vertical force per foot, body weights: plates left and right, predicted left and right. */
    plates?: Float32Array;
  };

const codec = new ExtensionCodec();
codec.register({
  type: FLOATS_EXTENSION,
  encode: () => null,
  // A copy: within the message the numbers need not lie where an array of them may begin.
  decode: (data) => new Float32Array(data.slice().buffer),
});

/** Reads what the server has packed; the server's own types say what it is. */
export function unpack(bytes: ArrayBuffer): object {
  let value: unknown;
  try {
    value = decode(bytes, { extensionCodec: codec });
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(`The server sent something that this page cannot read (${reason}): reload the page.`);
  }
  if (typeof value !== "object" || value === null) {
    throw new Error(`The server sent ${JSON.stringify(value)} in place of a message: reload the page.`);
  }
  return value;
}

export function fromServer(bytes: ArrayBuffer): ToPage {
  const message = unpack(bytes);
  if (!("kind" in message)) throw new Error("The server sent something of no kind: reload the page.");
  return message as ToPage;
}

export function toServer(message: FromPage): Uint8Array<ArrayBuffer> {
  return encode(message, { forceFloat32: true, ignoreUndefined: true });
}
