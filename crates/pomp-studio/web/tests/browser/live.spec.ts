// The live world: steering, pushes, boxes, the brush, the clock, falls, and what goes wrong.
import { studio } from "./programs";
import { apart, expect, frameAfter, frames, onBody, pause, picture, status, test, until, walked } from "./world";

/** The scene in a link that the page copies. */
async function linked(page: import("@playwright/test").Page): Promise<{ events: { push?: number[][] }[] }> {
  await page.evaluate(() => history.replaceState(null, "", "/"));
  await page.click("#link");
  await page.waitForFunction(() => location.hash.startsWith("#scene="));
  return page.evaluate(async () => {
    const text = atob(location.hash.slice(7).replaceAll("-", "+").replaceAll("_", "/"));
    const zipped = Uint8Array.from(text, (letter) => letter.charCodeAt(0));
    return new Response(new Blob([zipped]).stream().pipeThrough(new DecompressionStream("deflate-raw"))).json();
  });
}

test("the page loads and W makes the character walk @smoke", async ({ world }) => {
  const first = await frameAfter(world, 20);
  await picture(world, "first");
  await world.keyboard.down("w");
  // A page that draws a picture a second sends the key as much later, and the world does not wait for it.
  await until(world, "the first steps", (now) => apart(first, now) > 0.4);
  const went = await walked(world, 180);
  await picture(world, "walking");
  expect(went, "metres in three seconds").toBeGreaterThan(1.5);
});

test("a push with the mouse moves it, and going back takes the push back", async ({ world }) => {
  await frameAfter(world, 90);
  const before = await pause(world);
  const [x, y] = await onBody(world);
  await world.mouse.down();
  await world.mouse.move(x + 60, y - 5, { steps: 4 });
  await world.mouse.move(x + 150, y - 10, { steps: 4 });
  await expect(world.locator("#aim-text")).toHaveText(/\d+ N·s/);
  await picture(world, "aiming");
  await world.mouse.up();
  await world.click("#pause");
  await frameAfter(world, before.frame + 45);
  const pushed = await pause(world);
  expect(apart(before, pushed), "metres that the push moved it").toBeGreaterThan(0.05);
  await picture(world, "pushed");
  expect((await linked(world)).events.filter((event) => event.push)).toHaveLength(1);
  await world.click("#rewind-10");
  const back = await until(world, "a frame before the push", ({ frame }) => frame <= before.frame);
  // All steps at once: each that waits for its picture takes a second where pictures are drawn on the processor.
  for (let frame = back.frame; frame < before.frame; frame++) await world.keyboard.press("Period");
  const again = await until(world, "the frame before the push", ({ frame }) => frame >= before.frame);
  expect(again.frame).toBe(before.frame);
  expect(apart(before, again), "metres from where the push began").toBeLessThan(0.001);
  expect((await linked(world)).events.filter((event) => event.push)).toHaveLength(0);
  await world.click("#pause");
  await frameAfter(world, before.frame + 5);
});

test("a click on the body pushes it as hard as the panel says", async ({ world }) => {
  await frameAfter(world, 60);
  const at = await onBody(world);
  await world.mouse.click(...at);
  await frames(world, 20);
  const pushes = (await linked(world)).events.flatMap((event) => (event.push ? [event.push] : []));
  expect(pushes).toHaveLength(1);
  expect(Math.hypot(...pushes[0]![2]!)).toBeCloseTo(80, 0);
});

test("a thrown box flies, is drawn and lands", async ({ world }) => {
  await world.selectOption("#push-body", "Spine2");
  await world.click("#throw");
  const before = await until(world, "a box", ({ boxes }) => boxes === 1);
  await frameAfter(world, before.frame + 14);
  await picture(world, "box");
  await frameAfter(world, before.frame + 90);
  await world.keyboard.press("b");
  await until(world, "another box", ({ boxes }) => boxes === 2);
  await picture(world, "boxes");
});

test("the brush raises the ground, and going back levels it", async ({ world }) => {
  await frameAfter(world, 30);
  await world.click('[data-brush="raise"]');
  expect((await status(world)).ground).toBe(0);
  await world.mouse.move(760, 600);
  await world.mouse.down();
  await world.mouse.move(790, 590, { steps: 3 });
  await until(world, "a bump", ({ ground }) => ground > 0.08);
  await world.mouse.up();
  await world.keyboard.press("Escape");
  const before = await pause(world);
  await picture(world, "brush");
  await world.click("#rewind-10");
  await until(world, "level ground of before", ({ frame, ground }) => frame < before.frame && ground === 0);
});

test("another ground begins a new scene", async ({ world }) => {
  const before = await status(world);
  await world.selectOption("#terrain", "hills");
  await until(world, "a new scene", ({ epoch }) => epoch > before.epoch);
  await frameAfter(world, 30);
  await picture(world, "hills");
});

test("C crouches and Space jumps", async ({ world }) => {
  const standing = (await frameAfter(world, 60)).y;
  const gait = world.locator("#value-gait");
  await world.keyboard.down("c");
  await expect(gait).toHaveText("crouch");
  await until(world, "a lower pelvis", ({ y }) => y < standing - 0.12);
  await picture(world, "crouch");
  await world.keyboard.up("c");
  await expect(gait).toHaveText("stand");
  await world.keyboard.down(" ");
  await expect(gait).toHaveText("jump");
  await picture(world, "jump");
  await world.keyboard.up(" ");
  await expect(gait).toHaveText("stand");
});

test("Shift jogs faster than it walks", async ({ world }) => {
  await world.keyboard.down("w");
  await frames(world, 120);
  const slow = await walked(world, 90);
  await world.keyboard.down("Shift");
  await frames(world, 180);
  const fast = await walked(world, 90);
  expect(fast, `${slow.toFixed(2)} m walking in a second and a half`).toBeGreaterThan(1.25 * slow);
});

test("a gamepad's stick walks", async ({ world }) => {
  await frameAfter(world, 10);
  await world.evaluate(() => {
    const buttons = Array.from({ length: 17 }, () => ({ pressed: false, touched: false, value: 0 }));
    const pad = { connected: true, mapping: "standard", axes: [0, -1, 0, 0], buttons } as unknown as Gamepad;
    navigator.getGamepads = () => [pad];
  });
  expect(await walked(world, 180), "metres in three seconds").toBeGreaterThan(1.2);
});

test("slow motion, pause and single frames", async ({ world }) => {
  const stood = await pause(world);
  await world.click("#step");
  await until(world, "one frame more", ({ frame }) => frame === stood.frame + 1);
  await world.selectOption("#pace", "0.25");
  await world.click("#pause");
  const before = await status(world);
  const began = Date.now();
  const after = await frameAfter(world, before.frame + 30);
  const rate = (after.frame - before.frame) / ((Date.now() - began) / 1000);
  expect(rate, "frames a second at a quarter of the pace").toBeLessThan(20);
});

test("after a heavy push it falls, lies, gets up and walks on", async ({ world }) => {
  await world.keyboard.down("w");
  await frameAfter(world, 120);
  await world.locator("#push-size").fill("300");
  await world.selectOption("#pace", "0.25");
  await world.focus("#view");
  await world.click('[data-push="right"]');
  const fell = await until(world, "a fall", ({ fallen }) => fallen);
  await frameAfter(world, fell.frame + 45);
  await picture(world, "lies");
  await expect(world.locator("#status")).toHaveText(/^getting up/, { timeout: 90_000 });
  await frames(world, 60);
  await picture(world, "gets_up");
  await world.selectOption("#pace", "1");
  const up = await until(world, "on its feet", ({ fallen }) => !fallen);
  await frameAfter(world, up.frame + 60);
  expect(await walked(world, 120), "metres in the two seconds after").toBeGreaterThan(1);
  await picture(world, "walks_on");
});

test("a link replays the scene", async ({ world, open }) => {
  await world.selectOption("#terrain", "hills");
  await until(world, "a new scene", ({ epoch, frame }) => epoch > 0 && frame > 10);
  await world.click("#link");
  await world.waitForFunction(() => location.hash.startsWith("#scene="));
  const again = await open(world.url());
  await expect(again.locator("#terrain")).toHaveValue("hills");
  await frameAfter(again, 20);
});

test("each tab has a world of its own", async ({ open }) => {
  // Two pages are drawn without a graphics card: small ones.
  const viewport = { width: 480, height: 320 };
  const [page, other] = [await open(undefined, { viewport }), await open(undefined, { viewport })];
  await frameAfter(page, 20);
  await frameAfter(other, 20);
  const [here, there] = [await status(page), await status(other)];
  await other.keyboard.down("w");
  // Not after so many frames: on a busy machine the page hears of few of them.
  await until(other, "a metre in the other tab", (now) => apart(now, there) > 1);
  await other.keyboard.up("w");
  const after = await frameAfter(page, here.frame + 1);
  expect(apart(after, here), "metres that this tab's character went").toBeLessThan(0.3);
});

test("a lost connection is said on the page", async ({ open, complaints }) => {
  const lone = await studio("--seed", "3");
  const page = await open(lone.url);
  await frameAfter(page, 10);
  lone.process.kill();
  await expect(page.locator("#lost")).toBeVisible();
  await expect(page.locator("#lost-text")).toContainText("connection");
  await picture(page, "lost");
  // The browser itself notes each attempt that failed, until the page is closed.
  await page.context().close();
  complaints.length = 0;
});
