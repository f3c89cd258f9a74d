// The program and the browser that the tests drive: POMP and CHROMIUM name them, else they are where they usually are.
import { type ChildProcess, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const here = fileURLToPath(new URL(".", import.meta.url));
export const repository = join(here, "../../../../..");
export const pomp = process.env.POMP ?? join(repository, "target/release/pomp");
export const chromium = [process.env.CHROMIUM, "/usr/bin/chromium", "/usr/bin/google-chrome"].find(
  (path) => path && existsSync(path),
);

/** Why the tests cannot run here; empty where they can. */
export function missing(): string {
  if (!chromium) return "no Chromium is installed: CHROMIUM names one";
  if (!existsSync(pomp)) return `${pomp} is not built: cargo build --release, or POMP names one`;
  return "";
}

export interface Studio {
  url: string;
  process: ChildProcess;
}

/** Starts `pomp studio` and waits for its address. */
export async function studio(...shown: string[]): Promise<Studio> {
  const child = spawn(pomp, ["studio", ...shown], { stdio: ["ignore", "pipe", "pipe"] });
  const url = await new Promise<string>((resolve, reject) => {
    let said = "";
    child.stdout.on("data", (data) => {
      said += data;
      const found = /http:\/\/\S+/.exec(said);
      if (found) resolve(found[0]);
    });
    child.stderr.on("data", (data) => {
      said += data;
    });
    child.on("exit", (code) => reject(new Error(`pomp studio ended with ${code}: ${said}`)));
  });
  return { url, process: child };
}
