// How soon the studio shows a first frame, how many a second, and how soon a key is in one:
// `node --experimental-websocket tests/pace.mjs`, after `cargo build --release` of the program. It is a page without pictures,
// so that no browser's drawing is measured.
import { spawn } from "node:child_process";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { decode, ExtensionCodec, encode } from "@msgpack/msgpack";

const program = process.env.POMP ?? join(dirname(fileURLToPath(import.meta.url)), "../../../../target/release/pomp");
const SECONDS = 12;
/** The extension type of a row of f32; src/generated/protocol.ts has it for the page. */
const FLOATS = 1;

const began = performance.now();
const child = spawn(program, ["studio", "--seed", "3"], { stdio: ["ignore", "pipe", "inherit"] });
process.on("exit", () => child.kill());
child.on("exit", () => process.exit(1));
const address = await new Promise((resolve) => {
  let said = "";
  child.stdout.on("data", (data) => {
    said += data;
    const found = /http:\/\/\S+/.exec(said);
    if (found) resolve(found[0]);
  });
});

const socket = new WebSocket(`${address.replace("http", "ws").replace(/\/$/, "")}/socket`);
socket.binaryType = "arraybuffer";
let sequence = 0;
let sent;
const steer = (ahead) => {
  socket.send(encode({ do: "steer", sequence: ++sequence, direction: [0, ahead], gait: "walk" }));
  sent = performance.now();
};

const codec = new ExtensionCodec();
codec.register({ type: FLOATS, encode: () => null, decode: (data) => new Float32Array(data.slice().buffer) });
const steps = [];
const inputs = [];
const decoding = [];
const sizes = [];
let first;
socket.onmessage = ({ data }) => {
  const before = performance.now();
  const frame = decode(data, { extensionCodec: codec });
  if (frame.kind !== "frame") return;
  const now = performance.now();
  first ??= now;
  decoding.push((now - before) * 1000);
  sizes.push(data.byteLength);
  steps.push(frame.step_ms);
  if (sent !== undefined && frame.input_sequence >= sequence) {
    inputs.push(now - sent);
    sent = undefined;
  }
  // At any moment between two frames.
  if (steps.length % 40 === 0) setTimeout(() => steer(steps.length % 80 === 0 ? 1 : 0), Math.random() * 16);
  if (now - first < SECONDS * 1000) return;
  const sorted = (values) => values.sort((a, b) => a - b);
  const at = (values, share) => values[Math.floor(share * (values.length - 1))].toFixed(1);
  const rate = (steps.length - 1) / ((now - first) / 1000);
  sorted(steps);
  sorted(inputs);
  sorted(decoding);
  sorted(sizes);
  console.log(`first frame ${(first - began).toFixed(0)} ms after the command; ${rate.toFixed(1)} frames a second`);
  console.log(
    `a frame takes ${at(steps, 0.5)} ms, at most ${at(steps, 0.99)} in 99 of 100; input is in one after ${at(inputs, 0.5)} ms, at most ${at(inputs, 1)}`,
  );
  console.log(`a frame's message has ${at(sizes, 0.5)} bytes and is decoded in ${at(decoding, 0.5)} µs`);
  process.exit(0);
};
