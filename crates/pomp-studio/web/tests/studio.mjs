// Drives the studio in a real browser: `npm test`, after `cargo build --release` of the program.
import { readFileSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
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
  repository,
  status,
  studio,
} from "./browser.mjs";

const served = await studio("--seed", "3");
let page;

await check("the page loads and the world runs", async () => {
  page = await open(served.url);
  await frameAfter(page, 20);
  await page.screenshot({ path: join(out, "first.png") });
});

await check("W makes the person walk", async () => {
  const before = await status(page);
  await page.keyboard.down("w");
  await frameAfter(page, Number(before.frame) + 240);
  const after = await status(page);
  const walked = Math.hypot(after.x - before.x, after.z - before.z);
  holds(walked > 1.5, `it walked ${walked.toFixed(2)} m in four seconds`);
  await page.screenshot({ path: join(out, "walking.png") });
  await page.keyboard.up("w");
});

await check("a push with the mouse moves it, and going back takes the push back", async () => {
  await page.click("#pause");
  await page.waitForFunction(() => document.getElementById("pause").textContent === "Go on");
  const box = { width: 1280, height: 720 };
  // Finds the body where the crosshair shows.
  let at;
  for (let y = 250; y < 420 && !at; y += 10) {
    for (const x of [box.width / 2, box.width / 2 - 12, box.width / 2 + 12]) {
      await page.mouse.move(x, y);
      if (await overBody(page)) {
        at = [x, y];
        break;
      }
    }
  }
  holds(at, "no body was found under the pointer");
  await page.mouse.down();
  await page.mouse.move(at[0] + 60, at[1] - 5, { steps: 4 });
  await page.mouse.move(at[0] + 150, at[1] - 10, { steps: 4 });
  await page.waitForFunction(() => /\d+ N·s/.test(document.getElementById("aim-text").textContent));
  await page.screenshot({ path: join(out, "aiming.png") });
  const before = await status(page);
  await page.mouse.up();
  await page.click("#pause");
  await frameAfter(page, Number(before.frame) + 45);
  await page.screenshot({ path: join(out, "pushed.png") });
  await page.click("#rewind-1");
  await page.waitForFunction(() => document.getElementById("pause").textContent === "Go on");
  const back = await status(page);
  await page.click("#pause");
  await frameAfter(page, Number(back.frame) + 5);
});

await check("a thrown box flies, is drawn and lands", async () => {
  await page.selectOption("#push-body", "Spine2");
  await page.click("#throw");
  await page.waitForFunction(() => Number(document.getElementById("status").dataset.boxes) === 1);
  const before = await status(page);
  await frameAfter(page, Number(before.frame) + 14);
  await page.screenshot({ path: join(out, "box.png") });
  await frameAfter(page, Number(before.frame) + 90);
  await page.keyboard.press("b");
  await page.waitForFunction(() => Number(document.getElementById("status").dataset.boxes) === 2);
  await page.screenshot({ path: join(out, "boxes.png") });
});

await check("the brush raises the ground, and going back levels it", async () => {
  await page.click('[data-brush="raise"]');
  const heights = () => page.evaluate(() => Number(document.getElementById("status").dataset.ground));
  holds((await heights()) === 0, "the ground was level");
  await page.mouse.move(760, 600);
  await page.mouse.down();
  await page.mouse.move(790, 590, { steps: 3 });
  await page.waitForFunction(() => Number(document.getElementById("status").dataset.ground) > 0.08);
  await page.screenshot({ path: join(out, "brush.png") });
  await page.mouse.up();
  await page.keyboard.press("Escape");
  const before = await status(page);
  await page.click("#rewind-10");
  await page.waitForFunction(
    (frame) => Number(document.getElementById("status").dataset.frame) < frame,
    Number(before.frame),
  );
  await page.waitForFunction(() => Number(document.getElementById("status").dataset.ground) === 0);
  await page.click("#pause");
});

await check("another ground begins a new scene", async () => {
  const before = await status(page);
  await page.selectOption("#terrain", "hills");
  await page.waitForFunction(
    (epoch) => Number(document.getElementById("status").dataset.epoch) > epoch,
    Number(before.epoch),
  );
  await frameAfter(page, 30);
  await page.screenshot({ path: join(out, "hills.png") });
});

await check("what is taken away is whole", async () => {
  for (const [file, begins] of [
    ["motion.bvh", "HIERARCHY"],
    ["motion.glb", "glTF"],
    ["rollout.npz", "PK"],
    ["rollout.html", "<!doctype html>"],
  ]) {
    const [download] = await Promise.all([page.waitForEvent("download"), page.click(`[data-take="${file}"]`)]);
    const path = join(out, file);
    await download.saveAs(path);
    holds(readFileSync(path).subarray(0, begins.length).toString() === begins, `${file} begins otherwise`);
    holds(statSync(path).size > 1000, `${file} is small`);
  }
});

await check("a video and an animation are taken of it", async () => {
  await page.click("#video");
  await page.waitForFunction(() => /Stop, [2-9]/.test(document.getElementById("video").textContent));
  const [video] = await Promise.all([page.waitForEvent("download"), page.click("#video")]);
  await video.saveAs(join(out, "pomp.webm"));
  holds(readFileSync(join(out, "pomp.webm")).subarray(0, 4).toString("hex") === "1a45dfa3", "the video is no WebM");
  holds(statSync(join(out, "pomp.webm")).size > 5000, "the video is small");
  const [gif] = await Promise.all([page.waitForEvent("download", { timeout: 180_000 }), page.click("#gif")]);
  await gif.saveAs(join(out, "motion.gif"));
  holds(readFileSync(join(out, "motion.gif")).subarray(0, 6).toString() === "GIF89a", "the animation is no GIF");
});

await check("a link replays the scene", async () => {
  await page.click("#link");
  await page.waitForFunction(() => location.hash.startsWith("#scene="));
  const again = await open(page.url());
  await again.waitForFunction(() => document.querySelector("#terrain")?.value === "hills");
  await frameAfter(again, 20);
  await again.context().close();
});

await check("a dropped clip plays, and a broken one is refused on the page", async () => {
  const broken = join(tmpdir(), "broken.bvh");
  writeFileSync(broken, "HIERARCHY\nROOT Hips\n{ nonsense");
  await page.setInputFiles("#file", broken);
  await page.waitForSelector(".notice.error");
  const text = await page.textContent(".notice.error");
  holds(text.includes("broken.bvh"), text);
  await page.click(".notice.error button");
  // The browser itself notes the refused request.
  complaints.length = 0;
  await page.setInputFiles("#file", join(out, "rollout.npz"));
  await page.waitForSelector(".clip");
  await page.waitForFunction(() => Number(document.getElementById("status").dataset.frame) > 10);
  await page.setInputFiles("#file", join(out, "motion.bvh"));
  await page.waitForFunction(() => document.querySelectorAll(".clip").length === 2);
  await page.waitForTimeout(1500);
  await page.screenshot({ path: join(out, "clips.png") });
});

await check("the library shows pictures and filters, and another model repeats the scene", async () => {
  const shelf = await studio(join(repository, "data/clips"), "--model", join(repository, "data/models/compact"));
  const other = await open(shelf.url);
  await other.waitForSelector(".clip");
  await other.waitForFunction(() => document.querySelectorAll("#library img").length >= 6, undefined, {
    timeout: 120_000,
  });
  const all = await other.evaluate(() => document.querySelectorAll("#library li").length);
  await other.selectOption("#filter-gait", "jog");
  const jogging = await other.evaluate(() => document.querySelectorAll("#library li").length);
  holds(jogging > 0 && jogging < all, `${jogging} of ${all} clips jog`);
  await other.screenshot({ path: join(out, "library.png") });
  await other.click("#tab-live");
  await frameAfter(other, 30);
  holds((await other.inputValue("#model")) === "compact", "the named model moves the character");
  await other.keyboard.press("p");
  await frameAfter(other, 60);
  await other.click("#compare");
  await other.waitForFunction(
    () => document.querySelectorAll(".clip").length === 2 && document.body.classList.contains("clips"),
    undefined,
    { timeout: 120_000 },
  );
  holds((await other.textContent("#loaded")).includes("embedded"), "the other model has repeated it");
  await other.click("#tab-live");
  const before = await status(other);
  await other.selectOption("#model", "embedded");
  await other.waitForFunction(
    (epoch) => Number(document.getElementById("status").dataset.epoch) > epoch,
    Number(before.epoch),
  );
  await frameAfter(other, 10);
  await other.context().close();
  shelf.end();
});

await check("dark, and on a phone", async () => {
  const dark = await open(served.url, { width: 1280, height: 720 }, { colorScheme: "dark" });
  await frameAfter(dark, 20);
  await dark.keyboard.down("w");
  await dark.keyboard.down("Shift");
  await frameAfter(dark, 200);
  await dark.screenshot({ path: join(out, "dark.png") });
  await dark.context().close();
  const phone = await open(
    served.url,
    { width: 390, height: 844 },
    { hasTouch: true, isMobile: true, deviceScaleFactor: 1 },
  );
  await frameAfter(phone, 30);
  await phone.screenshot({ path: join(out, "phone.png") });
  await phone.tap("#open-plots");
  await phone.waitForTimeout(500);
  await phone.screenshot({ path: join(out, "phone-plots.png") });
  const wide = await phone.evaluate(() => document.documentElement.scrollWidth);
  holds(wide <= 390, `the page is ${wide} px wide`);
  await phone.context().close();
});

await check("the standalone page opens without the program", async () => {
  const alone = await open(`file://${join(out, "rollout.html")}`);
  await alone.waitForFunction(() => Number(document.getElementById("status").dataset.frame) > 10);
  await alone.screenshot({ path: join(out, "standalone.png") });
  await alone.context().close();
});

await check("a lost connection is said on the page", async () => {
  const lonely = await open(served.url);
  await frameAfter(lonely, 10);
  served.end();
  await lonely.waitForSelector("#lost:not([hidden])");
  holds((await lonely.textContent("#lost")).includes("connection"), "the page says nothing of the connection");
  await lonely.screenshot({ path: join(out, "lost.png") });
  complaints.length = 0;
});

await finish();
