// Scenes in the address of the page: JSON, compressed, in URL-safe base64.
import type { SceneRequest } from "./protocol";

const PREFIX = "#scene=";

async function through(
  bytes: Uint8Array<ArrayBuffer>,
  transform: CompressionStream | DecompressionStream,
): Promise<Uint8Array<ArrayBuffer>> {
  const stream = new Blob([bytes]).stream().pipeThrough(transform);
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

export async function sceneLink(scene: SceneRequest): Promise<string> {
  const zipped = await through(new TextEncoder().encode(JSON.stringify(scene)), new CompressionStream("deflate-raw"));
  let text = "";
  for (const byte of zipped) text += String.fromCharCode(byte);
  const safe = btoa(text).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
  return `${location.origin}${location.pathname}${PREFIX}${safe}`;
}

/** The scene in the page's address, if there is one. */
export async function sceneOfAddress(): Promise<SceneRequest | undefined> {
  if (!location.hash.startsWith(PREFIX)) return undefined;
  try {
    const text = atob(location.hash.slice(PREFIX.length).replaceAll("-", "+").replaceAll("_", "/"));
    const zipped = Uint8Array.from(text, (letter) => letter.charCodeAt(0));
    const json = await through(zipped, new DecompressionStream("deflate-raw"));
    return JSON.parse(new TextDecoder().decode(json)) as SceneRequest;
  } catch {
    throw new Error("The scene in this address is damaged: copy the whole link.");
  }
}
