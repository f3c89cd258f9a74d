// What the browser tests share: a studio per run, a page of it per test, and what the page says of its world.
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type BrowserContextOptions, test as base, expect, type Page } from "@playwright/test";
import { missing, type Studio, studio } from "./programs";

export { expect };

/** Pictures of what was seen, and files that were taken away. */
export const out = fileURLToPath(new URL("../out/", import.meta.url));
mkdirSync(out, { recursive: true });

export interface Status {
  frame: number;
  epoch: number;
  x: number;
  y: number;
  z: number;
  ground: number;
  boxes: number;
  fallen: boolean;
}

interface Tools {
  /** Opens a page, whose console may hold no error; the studio's own one where no address is given. */
  open: (url?: string, more?: BrowserContextOptions) => Promise<Page>;
  /** A page of the studio whose world runs. */
  world: Page;
  /** Errors in the consoles; the test fails where there are any at its end. */
  complaints: string[];
}

export const test = base.extend<Tools, { served: Studio }>({
  served: [
    // biome-ignore lint/correctness/noEmptyPattern: Playwright reads the fixtures that are asked for from this pattern.
    async ({}, use) => {
      const served = await studio("--seed", "3");
      await use(served);
      served.process.kill();
    },
    { scope: "worker" },
  ],
  // biome-ignore lint/correctness/noEmptyPattern: as above.
  complaints: async ({}, use) => {
    const complaints: string[] = [];
    await use(complaints);
    expect(complaints, "errors in the console").toEqual([]);
  },
  open: async ({ browser, served, complaints, contextOptions, viewport }, use) => {
    const pages: Page[] = [];
    await use(async (url = served.url, more = {}) => {
      const context = await browser.newContext({ ...contextOptions, viewport, ...more });
      const page = await context.newPage();
      page.on("console", (message) => {
        if (message.type() === "error") complaints.push(message.text());
      });
      page.on("pageerror", (error) => complaints.push(String(error)));
      pages.push(page);
      await page.goto(url);
      return page;
    });
    for (const page of pages) await page.context().close();
  },
  world: async ({ open }, use) => {
    const page = await open();
    await frameAfter(page, 1);
    await use(page);
  },
});

test.skip(() => missing() !== "", missing() || "never");

/** What the page says of its world. */
export async function status(page: Page): Promise<Status> {
  const data = await page.locator("#status").evaluate((element) => ({ ...element.dataset }));
  const number = (name: string): number => Number(data[name]);
  return {
    frame: number("frame"),
    epoch: number("epoch"),
    x: number("x"),
    y: number("y"),
    z: number("z"),
    ground: number("ground"),
    boxes: number("boxes"),
    fallen: data.fallen === "true",
  };
}

/** Waits until the page's world is as asked for, and says what it then is. */
export async function until(page: Page, what: string, holds: (status: Status) => boolean): Promise<Status> {
  let last = await status(page);
  await expect
    .poll(
      async () => {
        last = await status(page);
        return holds(last);
      },
      { message: what, timeout: 90_000, intervals: [50] },
    )
    .toBe(true);
  return last;
}

export const frameAfter = (page: Page, frame: number): Promise<Status> =>
  until(page, `frame ${frame}`, (now) => now.frame >= frame);

/** Waits for so many frames more. */
export async function frames(page: Page, more: number): Promise<Status> {
  return frameAfter(page, (await status(page)).frame + more);
}

export const apart = (a: Status, b: Status): number => Math.hypot(a.x - b.x, a.z - b.z);

/** How far it goes in so many frames, metres. */
export async function walked(page: Page, count: number): Promise<number> {
  const before = await status(page);
  const after = await frames(page, count);
  return apart(before, after) * (count / (after.frame - before.frame));
}

/** Stops the clock, and waits until the page shows the frame in which it stands. */
export async function pause(page: Page): Promise<Status> {
  await page.click("#pause");
  await expect(page.locator("#status")).toHaveText(/^paused/);
  return status(page);
}

/** A place on the picture where the pointer is over the body. */
export async function onBody(page: Page): Promise<[number, number]> {
  for (let y = 240; y < 440; y += 8) {
    for (const x of [640, 628, 652]) {
      await page.mouse.move(x, y);
      // That of the next picture still tells of where the pointer was.
      const over = await page.evaluate(
        () =>
          new Promise<boolean>((told) =>
            requestAnimationFrame(() =>
              requestAnimationFrame(() =>
                told(document.getElementById("view")?.classList.contains("over-body") ?? false),
              ),
            ),
          ),
      );
      if (over) return [x, y];
    }
  }
  throw new Error("no body was found under the pointer");
}

/** Takes a file of the world away; where it was put. */
export async function take(page: Page, button: string, name: string): Promise<string> {
  const download = page.waitForEvent("download", { timeout: 170_000 });
  await page.click(button);
  const path = join(out, name);
  await (await download).saveAs(path);
  return path;
}

export const picture = (page: Page, name: string): Promise<Buffer> =>
  page.screenshot({ path: join(out, `${name}.png`) });
