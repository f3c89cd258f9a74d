// A real browser and the program, for the tests beside this file.
//
// POMP names the program, CHROMIUM the browser; without a browser the tests are skipped, and say so. ONLY is a regular
// expression of the names of those to run. Pictures of what was seen are kept in tests/out.
import { spawn } from "node:child_process";
import { existsSync, mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { chromium } from "playwright-core";

const here = dirname(fileURLToPath(import.meta.url));
export const repository = join(here, "../../../..");
export const program = process.env.POMP ?? join(repository, "target/release/pomp");
const browserPath = [process.env.CHROMIUM, "/usr/bin/chromium", "/usr/bin/google-chrome"].find(
  (path) => path && existsSync(path),
);
export const out = join(here, "out");
mkdirSync(out, { recursive: true });

if (!browserPath) {
  console.log("skipped: no Chromium is installed (CHROMIUM names one)");
  process.exit(0);
}
if (!existsSync(program)) {
  console.log(`skipped: ${program} is not built (cargo build --release)`);
  process.exit(0);
}

const children = [];
process.on("exit", () => {
  for (const child of children) child.kill();
});

/** Starts the program and waits for its address. */
export async function studio(...shown) {
  const child = spawn(program, ["studio", ...shown], { stdio: ["ignore", "pipe", "pipe"] });
  let said = "";
  const url = await new Promise((resolve, reject) => {
    child.stdout.on("data", (data) => {
      said += data;
      const found = /http:\/\/\S+/.exec(said);
      if (found) resolve(found[0]);
    });
    child.stderr.on("data", (data) => (said += data));
    child.on("exit", (code) => reject(new Error(`the program ended with ${code}: ${said}`)));
  });
  children.push(child);
  return { url, end: () => child.kill() };
}

const browser = await chromium.launch({
  executablePath: browserPath,
  args: [
    "--headless",
    "--no-sandbox",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--use-gl=angle",
    "--use-angle=swiftshader",
    "--enable-unsafe-swiftshader",
  ],
});

const wanted = new RegExp(process.env.ONLY ?? "");
let failed = 0;
export const complaints = [];
export async function open(url, size = { width: 1280, height: 720 }, more = {}) {
  const context = await browser.newContext({ viewport: size, acceptDownloads: true, ...more });
  const page = await context.newPage();
  page.on("console", (message) => {
    if (message.type() === "error") complaints.push(message.text());
  });
  page.on("pageerror", (error) => complaints.push(String(error)));
  page.setDefaultTimeout(60_000);
  await page.goto(url);
  return page;
}

export const status = (page) => page.evaluate(() => ({ ...document.getElementById("status").dataset }));
export const frameAfter = (page, frame) =>
  page.waitForFunction((least) => Number(document.getElementById("status").dataset.frame) >= least, frame, {
    timeout: 90_000,
  });

/** Whether the pointer is over a body in the picture after next: that of the present still tells of where it was. */
export const overBody = (page) =>
  page.evaluate(
    () =>
      new Promise((told) =>
        requestAnimationFrame(() =>
          requestAnimationFrame(() => told(document.getElementById("view").classList.contains("over-body"))),
        ),
      ),
  );

export async function check(name, body) {
  if (!wanted.test(name)) return;
  const began = Date.now();
  complaints.length = 0;
  try {
    await body();
    if (complaints.length > 0) throw new Error(`the console has errors: ${complaints.join("; ")}`);
    console.log(`ok      ${name} (${((Date.now() - began) / 1000).toFixed(1)} s)`);
  } catch (error) {
    failed++;
    console.log(`FAILED  ${name}: ${error.stack}`);
  }
}

export function holds(fact, text) {
  if (!fact) throw new Error(text);
}

/** Ends the browser and the program with what was found. */
export async function finish() {
  // A browser on a busy machine may take its time to go.
  await Promise.race([browser.close(), new Promise((resolve) => setTimeout(resolve, 20_000))]);
  console.log(failed === 0 ? `all well; pictures are in ${out}` : `${failed} failed; pictures are in ${out}`);
  process.exit(failed === 0 ? 0 : 1);
}
