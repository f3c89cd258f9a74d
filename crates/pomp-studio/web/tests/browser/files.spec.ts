// Files: what is taken away, replayed, dropped, listed and laid side by side, and the page that stands alone.
import { execFileSync } from "node:child_process";
import { readFileSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pomp, repository, studio } from "./programs";
import { expect, frameAfter, frames, out, pause, picture, status, take, test, until } from "./world";

const begins = (path: string, count: number): Buffer => readFileSync(path).subarray(0, count);

test("what is taken away is whole", async ({ world }) => {
  await frameAfter(world, 90);
  for (const [file, start] of [
    ["motion.bvh", "HIERARCHY"],
    ["motion.glb", "glTF"],
    ["rollout.npz", "PK"],
    ["rollout.html", "<!doctype html>"],
  ] as const) {
    const path = await take(world, `[data-take="${file}"]`, file);
    expect(begins(path, start.length).toString(), file).toBe(start);
    expect(statSync(path).size, file).toBeGreaterThan(1000);
  }
});

test("a picture, a video and an animation are taken of it", async ({ world }) => {
  // The server draws the animation on the processor.
  test.slow();
  await frameAfter(world, 30);
  expect(begins(await take(world, "#picture", "pomp.png"), 4).toString("latin1")).toBe("\x89PNG");
  await world.click("#video");
  await expect(world.locator("#video")).toHaveText(/Stop, [2-9]/);
  const video = await take(world, "#video", "pomp.webm");
  expect(begins(video, 4).toString("hex")).toBe("1a45dfa3");
  expect(statSync(video).size).toBeGreaterThan(5000);
  expect(begins(await take(world, "#gif", "motion.gif"), 6).toString()).toBe("GIF89a");
});

test("what was taken away is replayed bit for bit, pushes, boxes, bumps and ways back included", async ({ world }) => {
  await world.keyboard.down("w");
  await frameAfter(world, 100);
  await world.click('[data-push="left"]');
  await world.keyboard.press("b");
  await frameAfter(world, 160);
  await world.keyboard.press("z");
  await expect(world.locator("#pause")).toHaveText("Go on");
  await world.click("#pause");
  await world.click('[data-brush="raise"]');
  await world.mouse.move(640, 560);
  await world.mouse.down();
  await until(world, "a bump", ({ ground }) => ground > 0.02);
  await world.mouse.up();
  await world.keyboard.press("Escape");
  await frameAfter(world, 240);
  await world.keyboard.up("w");
  const path = await take(world, '[data-take="rollout.npz"]', "eventful.npz");
  expect(execFileSync(pomp, ["replay", path]).toString()).toContain("every number the same");
});

test("files that are dropped on the page play side by side, a GLB too", async ({ world }) => {
  await frameAfter(world, 240);
  const files = [
    await take(world, '[data-take="motion.glb"]', "dropped.glb"),
    await take(world, '[data-take="rollout.npz"]', "dropped.npz"),
  ];
  for (const [index, path] of files.entries()) {
    const dropped = await world.evaluateHandle(
      ([name, bytes]) => {
        const transfer = new DataTransfer();
        transfer.items.add(new File([Uint8Array.from(atob(bytes!), (letter) => letter.charCodeAt(0))], name!));
        return transfer;
      },
      [`dropped.${path.slice(-3)}`, readFileSync(path).toString("base64")],
    );
    await world.dispatchEvent("#view", "drop", { dataTransfer: dropped });
    await expect(world.locator(".clip")).toHaveCount(index + 1);
  }
  await expect(world.locator("#loaded")).toContainText("dropped");
  await expect(world.locator("#loaded")).toContainText("rollout");
  await until(world, "playback", ({ frame }) => frame > 10);
  await picture(world, "dropped");
  await world.focus("#timeline");
  await world.keyboard.press("End");
  await expect.poll(async () => Number(await world.getAttribute("#timeline", "aria-valuenow"))).toBeGreaterThan(3);
});

test("a chosen clip plays, and a broken one is refused on the page", async ({ world, complaints }) => {
  const broken = join(tmpdir(), "broken.bvh");
  writeFileSync(broken, "HIERARCHY\nROOT Hips\n{ nonsense");
  const joints = world.waitForResponse((answer) => answer.url().includes("/rig?"));
  await world.setInputFiles("#file", broken);
  await joints;
  await expect(world.locator(".notice.error")).toContainText("broken.bvh");
  await world.click(".notice.error button");
  // The browser itself notes the refused request.
  complaints.length = 0;
  await frames(world, 30);
  const motion = await take(world, '[data-take="motion.bvh"]', "chosen.bvh");
  await world.setInputFiles("#file", motion);
  await expect(world.locator(".clip")).toHaveCount(1);
  await until(world, "playback", ({ frame }) => frame > 10);
});

test("names are dragged onto the joints of a file that has none", async ({ world }) => {
  const text = readFileSync(join(repository, "data/clips/01_walk.bvh")).toString();
  let number = 0;
  const nameless = join(out, "nameless.bvh");
  writeFileSync(
    nameless,
    text.replace(/\b(ROOT|JOINT) \S+/g, (_, kind) => `${kind} q${++number}`),
  );
  await world.setInputFiles("#file", nameless);
  await expect(world.locator(".clip")).toHaveCount(1);
  await world.click(".clip button:has-text('Joints')");
  const choose = (role: string): import("@playwright/test").Locator =>
    world.locator(`#joints-roles [aria-label="${role}"]`);
  await expect(world.locator("#joints-roles li")).toHaveCount(22);
  const toe = await choose("LeftToe").inputValue();
  const hand = await choose("LeftHand").inputValue();
  expect(toe && hand && toe !== hand).toBeTruthy();
  await picture(world, "joints");
  await world
    .locator("#joints-roles b", { hasText: /^LeftToe$/ })
    .dragTo(world.locator(`circle[data-joint="${hand}"]`));
  await expect(choose("LeftToe")).toHaveValue(hand);
  await expect(choose("LeftHand")).toHaveValue("");
  await choose("LeftToe").selectOption(toe);
  await expect(choose("LeftToe")).toHaveValue(toe);
  const map = readFileSync(await take(world, "#joints-save", "rig.toml")).toString();
  expect(map).toContain(`LeftToe = "${toe}"`);
  expect(map).not.toContain("LeftHand =");
  await world.click("#joints-show");
  await expect(world.locator(".clip")).toHaveCount(1);
  await until(world, "playback", ({ frame }) => frame > 10);
});

test("the library shows pictures and filters", async ({ open }) => {
  const shelf = await studio(join(repository, "data/clips"));
  const page = await open(shelf.url);
  await expect(page.locator(".clip")).toHaveCount(1);
  await expect.poll(() => page.locator("#library img").count(), { timeout: 120_000 }).toBeGreaterThanOrEqual(6);
  const all = await page.locator("#library li").count();
  await page.selectOption("#filter-gait", "jog");
  const jogging = await page.locator("#library li").count();
  expect(jogging).toBeGreaterThan(0);
  expect(jogging).toBeLessThan(all);
  await picture(page, "library");
  await page.context().close();
  shelf.process.kill();
});

test("another model repeats the scene", async ({ open }) => {
  const shelf = await studio("--model", join(repository, "data/models/compact"));
  const page = await open(shelf.url);
  await frameAfter(page, 30);
  await expect(page.locator("#model")).toHaveValue("compact");
  await page.keyboard.press("p");
  await frames(page, 60);
  await page.click("#compare");
  await expect(page.locator(".clip")).toHaveCount(2, { timeout: 120_000 });
  await expect(page.locator("body")).toHaveClass(/clips/);
  await expect(page.locator("#loaded")).toContainText("all directions");
  await page.click("#tab-live");
  const before = await until(page, "the live world", ({ epoch }) => Number.isFinite(epoch));
  await page.selectOption("#model", "embedded");
  await until(page, "a new scene", ({ epoch }) => epoch > before.epoch);
  await frameAfter(page, 10);
  await page.context().close();
  shelf.process.kill();
});

test("two controllers move the same scene side by side, and a link keeps the controller", async ({ open }) => {
  const shelf = await studio();
  const page = await open(shelf.url);
  await frameAfter(page, 30);
  await expect(page.locator("#model-row")).toBeHidden();
  await expect(page.locator("#controller")).toHaveValue("pomp");
  await expect(page.locator("#compare-with option")).toHaveText([
    "phase",
    "pfnn",
    "mann",
    "local-phases",
    "nsm",
    "learned-matching",
  ]);
  await page.click("#compare");
  await expect(page.locator(".clip")).toHaveCount(2, { timeout: 120_000 });
  await expect(page.locator("#loaded")).toContainText("pomp");
  await expect(page.locator("#loaded")).toContainText("phase");
  await page.click("#tab-live");
  const before = await until(page, "the live world", ({ epoch }) => Number.isFinite(epoch));
  await page.selectOption("#controller", "learned-matching");
  await until(page, "a new scene", ({ epoch }) => epoch > before.epoch);
  await frameAfter(page, 30);
  await expect(page.locator("#controller")).toHaveValue("learned-matching");
  await page.click("#link");
  await page.waitForURL(/#scene=/);
  await page.reload();
  await frameAfter(page, 5);
  await expect(page.locator("#controller")).toHaveValue("learned-matching");
  await page.context().close();
  shelf.process.kill();
});

test("the page of pomp render plays without the program @smoke", async ({ open }) => {
  const path = join(out, "rendered.html");
  execFileSync(pomp, ["render", join(repository, "data/clips/01_walk.bvh"), "--out", path]);
  const alone = await open(`file://${path}`);
  await until(alone, "playback", ({ frame }) => frame > 10);
  await pauseClip(alone);
  const seen = (await status(alone)).frame;
  await alone.click("#forth");
  await until(alone, "the next frame", ({ frame }) => frame === seen + 1);
  await expect(alone.locator("#tab-live")).toBeHidden();
  await picture(alone, "standalone");
});

test("the page that is taken away plays without the program", async ({ world, open }) => {
  await frameAfter(world, 60);
  await pause(world);
  const path = await take(world, '[data-take="rollout.html"]', "taken.html");
  const alone = await open(`file://${path}`);
  await until(alone, "playback", ({ frame }) => frame > 10);
});

async function pauseClip(page: import("@playwright/test").Page): Promise<void> {
  await page.click("#play");
  await expect(page.locator("#play")).toHaveText("Play");
}
