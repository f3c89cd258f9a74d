// The studio under all kinds of hands: keys, gamepad, touch, several tabs; a fall and what comes after; what is taken away.
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import {
  check,
  complaints,
  finish,
  frameAfter,
  holds,
  open,
  out,
  overBody,
  program,
  status,
  studio,
} from "./browser.mjs";

const served = await studio("--seed", "3");
const page = await open(served.url);
await frameAfter(page, 1);

/** How far it goes in `frames` frames. */
async function walked(at, frames) {
  const before = await status(at);
  await frameAfter(at, Number(before.frame) + frames);
  const after = await status(at);
  return Math.hypot(after.x - before.x, after.z - before.z) * (frames / (after.frame - before.frame));
}

/** Begins the scene anew. */
async function anew() {
  const before = Number((await status(page)).epoch);
  await page.keyboard.press("r");
  await page.waitForFunction((epoch) => Number(document.getElementById("status").dataset.epoch) > epoch, before);
}

await check("every control can be reached with Tab, and shows that it is", async () => {
  await frameAfter(page, 10);
  const wanted = await page.evaluate(
    () =>
      [...document.querySelectorAll("button, input, select, canvas[tabindex]")].filter(
        (e) => e.checkVisibility() && !e.disabled,
      ).length,
  );
  const reached = new Set();
  const unseen = [];
  for (let i = 0; i < wanted + 4; i++) {
    await page.keyboard.press("Tab");
    const at = await page.evaluate(() => {
      const e = document.activeElement;
      const name = e.id || e.dataset.push || e.dataset.take || e.dataset.brush || e.dataset.show || e.textContent;
      return { name, seen: getComputedStyle(e).outlineStyle !== "none", body: e === document.body };
    });
    if (at.body) continue;
    reached.add(at.name);
    if (!at.seen) unseen.push(at.name);
  }
  holds(unseen.length === 0, `no outline on ${unseen.join(", ")}`);
  holds(reached.size >= wanted - 1, `${reached.size} of ${wanted} controls were reached`);
  await page.focus("#throw");
  await page.keyboard.press("Shift+Tab");
  await page.screenshot({ path: join(out, "focus.png") });
});

await check("a field that was set with the pointer hands the keyboard back", async () => {
  await page.evaluate(() => {
    const field = document.getElementById("terrain");
    field.dispatchEvent(new PointerEvent("pointerdown", { bubbles: true }));
    field.focus();
    field.value = "slope";
    field.dispatchEvent(new Event("change", { bubbles: true }));
  });
  await page.waitForFunction(() => Number(document.getElementById("status").dataset.epoch) === 1);
  await frameAfter(page, 10);
  await page.keyboard.press("s");
  await page.keyboard.down("w");
  const went = await walked(page, 240);
  await page.keyboard.up("w");
  holds(went > 1, `it went ${went.toFixed(2)} m`);
  holds((await page.inputValue("#terrain")) === "slope", "S chose no other ground");
  await page.selectOption("#terrain", "flat");
  await frameAfter(page, 5);
  await page.focus("#view");
});

await check("C crouches and Space jumps", async () => {
  await anew();
  await frameAfter(page, 60);
  const standing = Number((await status(page)).y);
  const does = (gait) =>
    page.waitForFunction((gait) => document.getElementById("value-gait").textContent === gait, gait);
  await page.keyboard.down("c");
  await does("crouch");
  await page.waitForFunction((least) => Number(document.getElementById("status").dataset.y) < least, standing - 0.12);
  await page.screenshot({ path: join(out, "crouch.png") });
  await page.keyboard.up("c");
  await does("stand");
  await page.keyboard.down(" ");
  await does("jump");
  await page.screenshot({ path: join(out, "jump.png") });
  await page.keyboard.up(" ");
  await does("stand");
});

await check("Shift jogs faster than it walks, and a gamepad's stick walks", async () => {
  await page.keyboard.down("w");
  await walked(page, 120);
  const slow = await walked(page, 90);
  await page.keyboard.down("Shift");
  await walked(page, 180);
  const fast = await walked(page, 90);
  await page.keyboard.up("Shift");
  await page.keyboard.up("w");
  holds(fast > 1.25 * slow, `${slow.toFixed(2)} m walking, ${fast.toFixed(2)} m jogging in a second and a half`);
  await anew();
  await frameAfter(page, 10);
  await page.evaluate(() => {
    const buttons = Array.from({ length: 17 }, () => ({ pressed: false, value: 0 }));
    navigator.getGamepads = () => [{ connected: true, mapping: "standard", axes: [0, -1, 0, 0], buttons }];
  });
  const padded = await walked(page, 180);
  await page.evaluate(() => (navigator.getGamepads = () => []));
  holds(padded > 1.2, `the gamepad led it ${padded.toFixed(2)} m in three seconds`);
});

await check("a click on the body pushes it", async () => {
  const link = async () => {
    await page.evaluate(() => history.replaceState(null, "", "/"));
    await page.click("#link");
    await page.waitForFunction(() => location.hash.startsWith("#scene="));
    return page.evaluate(async () => {
      const zipped = Uint8Array.from(atob(location.hash.slice(7).replaceAll("-", "+").replaceAll("_", "/")), (c) =>
        c.charCodeAt(0),
      );
      const json = await new Response(
        new Blob([zipped]).stream().pipeThrough(new DecompressionStream("deflate-raw")),
      ).json();
      return json.events.filter((event) => event.push).map((event) => Math.hypot(...event.push[2]));
    });
  };
  const before = await link();
  let at;
  for (let y = 240; y < 440 && !at; y += 8) {
    await page.mouse.move(640, y);
    if (await overBody(page)) at = [640, y];
  }
  holds(at, "no body was found under the pointer");
  await page.mouse.click(...at);
  await frameAfter(page, Number((await status(page)).frame) + 20);
  const after = await link();
  holds(after.length === before.length + 1 && Math.abs(after.at(-1) - 80) < 1, `pushes ${before} and then ${after}`);
  await page.evaluate(() => history.replaceState(null, "", "/"));
});

await check("slow motion, pause and single frames", async () => {
  await page.click("#pause");
  await page.waitForFunction(() => document.getElementById("pause").textContent === "Go on");
  const stood = await status(page);
  await page.click("#step");
  await page.waitForFunction(
    (frame) => Number(document.getElementById("status").dataset.frame) === frame + 1,
    Number(stood.frame),
  );
  await page.selectOption("#pace", "0.25");
  await page.click("#pause");
  const before = await status(page);
  const began = Date.now();
  await frameAfter(page, Number(before.frame) + 30);
  const rate = (Number((await status(page)).frame) - before.frame) / ((Date.now() - began) / 1000);
  holds(rate < 20, `${rate.toFixed(1)} frames a second at a quarter of the pace`);
  await page.selectOption("#pace", "1");
});

await check("after a heavy push it falls, lies, gets up and walks on", async () => {
  await anew();
  await page.keyboard.down("w");
  await frameAfter(page, 120);
  await page.evaluate(() => {
    const size = document.getElementById("push-size");
    size.value = "300";
    size.dispatchEvent(new Event("input"));
  });
  await page.selectOption("#pace", "0.25");
  await page.focus("#view");
  await page.click('[data-push="right"]');
  await page.waitForFunction(() => document.getElementById("status").dataset.fallen === "true", undefined, {
    timeout: 60_000,
  });
  const fell = await status(page);
  await frameAfter(page, Number(fell.frame) + 45);
  await page.screenshot({ path: join(out, "lies.png") });
  await page.waitForFunction(() => document.getElementById("status").textContent.startsWith("getting up"), undefined, {
    timeout: 60_000,
  });
  await frameAfter(page, Number((await status(page)).frame) + 60);
  await page.screenshot({ path: join(out, "gets_up.png") });
  await page.selectOption("#pace", "1");
  await page.waitForFunction(() => document.getElementById("status").dataset.fallen === "false", undefined, {
    timeout: 60_000,
  });
  const up = await status(page);
  console.log(`        fell in frame ${fell.frame}, stood again by frame ${up.frame}`);
  await frameAfter(page, Number(up.frame) + 60);
  const went = await walked(page, 120);
  await page.keyboard.up("w");
  holds(went > 1, `it walked ${went.toFixed(2)} m in the two seconds after`);
  await page.screenshot({ path: join(out, "walks_on.png") });
});

await check("what was taken away is replayed bit for bit, pushes, boxes, bumps and ways back included", async () => {
  await anew();
  await page.keyboard.down("w");
  await frameAfter(page, 100);
  await page.click('[data-push="left"]');
  await page.keyboard.press("b");
  await frameAfter(page, 160);
  await page.keyboard.press("z");
  await page.waitForFunction(() => document.getElementById("pause").textContent === "Go on");
  await page.click("#pause");
  await page.click('[data-brush="raise"]');
  await page.mouse.move(640, 560);
  await page.mouse.down();
  await page.waitForFunction(() => Number(document.getElementById("status").dataset.ground) > 0.02);
  await page.mouse.up();
  await page.keyboard.press("Escape");
  await frameAfter(page, 240);
  await page.keyboard.up("w");
  const [download] = await Promise.all([page.waitForEvent("download"), page.click('[data-take="rollout.npz"]')]);
  const path = join(out, "eventful.npz");
  await download.saveAs(path);
  const said = execFileSync(program, ["replay", path]).toString();
  console.log(`        ${said.trim().split("/").pop()}`);
  holds(said.includes("every number the same"), said);
});

await check("files that are dropped on the page play, a GLB too", async () => {
  const [glb] = await Promise.all([page.waitForEvent("download"), page.click('[data-take="motion.glb"]')]);
  await glb.saveAs(join(out, "eventful.glb"));
  for (const [index, name] of ["eventful.glb", "eventful.npz"].entries()) {
    const bytes = readFileSync(join(out, name)).toString("base64");
    const dropped = await page.evaluateHandle(
      ([name, bytes]) => {
        const transfer = new DataTransfer();
        transfer.items.add(new File([Uint8Array.from(atob(bytes), (c) => c.charCodeAt(0))], name));
        return transfer;
      },
      [name, bytes],
    );
    await page.dispatchEvent("#view", "drop", { dataTransfer: dropped });
    await page.waitForFunction((count) => document.querySelectorAll(".clip").length === count, index + 1);
  }
  const text = await page.textContent("#loaded");
  holds(text.includes("eventful") && text.includes("rollout"), text);
  await page.waitForTimeout(1000);
  await page.screenshot({ path: join(out, "dropped.png") });
  await page.focus("#timeline");
  await page.keyboard.press("End");
  await page.waitForFunction(() => Number(document.getElementById("timeline").getAttribute("aria-valuenow")) > 3);
  await page.click("#tab-live");
});

await check("left and right differ for eyes without red, green or blue", async () => {
  const eyes = await page.context().newCDPSession(page);
  await page.keyboard.down("w");
  await frameAfter(page, Number((await status(page)).frame) + 100);
  for (const type of ["protanopia", "deuteranopia", "tritanopia"]) {
    await eyes.send("Emulation.setEmulatedVisionDeficiency", { type });
    await page.screenshot({ path: join(out, `${type}.png`) });
  }
  await eyes.send("Emulation.setEmulatedVisionDeficiency", { type: "none" });
  await page.keyboard.up("w");
  complaints.length = 0;
});

await check("each tab has a world of its own", async () => {
  await anew();
  // Two pages are drawn without a graphics card: small ones.
  const size = { width: 480, height: 320 };
  await page.setViewportSize(size);
  const other = await open(served.url, size);
  await frameAfter(other, 20);
  const [there, here] = [await status(other), await status(page)];
  await other.keyboard.down("w");
  // Not after so many frames: on a busy machine the page hears of few of them.
  await other.waitForFunction(
    ([x, z]) => {
      const now = document.getElementById("status").dataset;
      return Math.hypot(now.x - x, now.z - z) > 1;
    },
    [there.x, there.z],
  );
  await other.keyboard.up("w");
  const after = await status(page);
  await frameAfter(page, Number(here.frame) + 1);
  const stayed = Math.hypot(after.x - here.x, after.z - here.z);
  holds(stayed < 0.3, `this tab's person went along, ${stayed.toFixed(2)} m`);
  await other.context().close();
});

await page.context().close();

await check("a thumb walks it on a phone, and nothing lies over the edge", async () => {
  const phone = await open(
    served.url,
    { width: 390, height: 844 },
    { hasTouch: true, isMobile: true, deviceScaleFactor: 1 },
  );
  await frameAfter(phone, 10);
  const box = await phone.locator("#stick").boundingBox();
  const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
  const touch = await phone.context().newCDPSession(phone);
  await touch.send("Input.dispatchTouchEvent", { type: "touchStart", touchPoints: [{ x, y }] });
  await touch.send("Input.dispatchTouchEvent", { type: "touchMove", touchPoints: [{ x, y: y - 50 }] });
  const went = await walked(phone, 150);
  await phone.screenshot({ path: join(out, "phone-walk.png") });
  await touch.send("Input.dispatchTouchEvent", { type: "touchEnd", touchPoints: [] });
  holds(went > 1, `the thumb led it ${went.toFixed(2)} m`);
  for (const panel of ["#open-scene", "#open-plots"]) {
    await phone.tap(panel);
    const over = await phone.evaluate(() =>
      [...document.querySelectorAll("button, input, select")]
        .filter((e) => e.checkVisibility())
        .filter((e) => {
          const box = e.getBoundingClientRect();
          return box.left < -1 || box.right > innerWidth + 1;
        })
        .map((e) => e.id || e.textContent),
    );
    holds(over.length === 0, `over the edge: ${over.join(", ")}`);
    await phone.waitForTimeout(300);
    await phone.screenshot({ path: join(out, `phone${panel.slice(1)}.png`) });
    await phone.tap(panel);
  }
  await phone.context().close();
});

served.end();
await finish();
