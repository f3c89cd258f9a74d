// Puts the built script and style into one page, notes the hash of the sources in it, and writes it, compressed, to where the
// program embeds it. The same sources give the same bytes.
import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";

const here = dirname(fileURLToPath(import.meta.url));

/** Every file that the page is built from, in the order of names. A test of the crate reads the same list. */
function sources() {
  const found = ["index.html", "package-lock.json", "package.json", "seal.mjs", "tsconfig.json", "vite.config.ts"];
  const walk = (folder) => {
    for (const item of readdirSync(join(here, folder), { withFileTypes: true })) {
      const path = `${folder}/${item.name}`;
      if (item.isDirectory()) walk(path);
      else found.push(path);
    }
  };
  walk("src");
  return found.sort();
}

const digest = createHash("sha256");
for (const path of sources()) {
  // Line ends as in the repository, whatever a checkout made of them.
  const bytes = readFileSync(join(here, path), "utf8").replaceAll("\r\n", "\n");
  digest.update(`${path}\n${Buffer.byteLength(bytes)}\n${bytes}`);
}
const hash = digest.digest("hex");

const built = readFileSync(join(here, "dist/index.html"), "utf8");
const script = built.match(/<script type="module" crossorigin src="\/(assets\/[^"]+\.js)"><\/script>/);
const style = built.match(/<link rel="stylesheet" crossorigin href="\/(assets\/[^"]+\.css)">/);
if (!script || !style) throw new Error("the built page has no script or no style");
const code = readFileSync(join(here, "dist", script[1]), "utf8").trim();
const css = readFileSync(join(here, "dist", style[1]), "utf8").trim();
if (/<\/script/i.test(code) || /<\/style/i.test(css)) throw new Error("script or style would end too early");

const clip = '<script id="pomp-clip" type="application/octet-stream"></script>';
// Functions as replacements: the code holds dollar signs of its own.
const page = built
  .replace(script[0], "")
  .replace(style[0], () => `<meta name="pomp-sources" content="${hash}">\n<style>${css}</style>`)
  .replace("</body>", () => `${clip}\n<script type="module">${code}</script>\n</body>`);

const out = join(here, "../bundle/studio.html.gz");
mkdirSync(dirname(out), { recursive: true });
const zipped = gzipSync(page, { level: 9 });
zipped[9] = 255; // The system it was made on says nothing.
writeFileSync(out, zipped);
console.log(`${out}: ${(page.length / 1024).toFixed(0)} KiB, ${(zipped.length / 1024).toFixed(0)} KiB compressed, sources ${hash.slice(0, 12)}`);
