import { afterEach, expect, test, vi } from "vitest";
import { sceneLink, sceneOfAddress } from "../../src/link";
import type { SceneRequest } from "../../src/protocol";

const scene: SceneRequest = {
  terrain: "hills",
  seed: 4294967295,
  friction: 0.9,
  mass_kg: 75,
  assist: 0.5,
  denoising_steps: 4,
  events: [],
};
const address = (hash: string): void => {
  vi.stubGlobal("location", { origin: "http://127.0.0.1:1234", pathname: "/", hash });
};

afterEach(() => {
  vi.unstubAllGlobals();
});

test("a link gives its scene back, and needs no escapes", async () => {
  address("");
  const link = await sceneLink(scene);
  expect(link).toMatch(/^http:\/\/127\.0\.0\.1:1234\/#scene=[\w-]+$/);
  address(new URL(link).hash);
  expect(await sceneOfAddress()).toEqual(scene);
});

test("an address without a scene has none", async () => {
  address("#help");
  expect(await sceneOfAddress()).toBeUndefined();
});

test.each(["", "!!!", "abcd"])("rejects_a_damaged_link: %s", async (text) => {
  address(`#scene=${text}`);
  await expect(sceneOfAddress()).rejects.toThrow("copy the whole link");
});

test("rejects_a_link_that_was_cut", async () => {
  address("");
  const { hash } = new URL(await sceneLink(scene));
  address(hash.slice(0, -20));
  await expect(sceneOfAddress()).rejects.toThrow("copy the whole link");
});
