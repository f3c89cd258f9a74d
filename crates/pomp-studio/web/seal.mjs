// Puts the built script and style into one page, notes the hash of the sources in it, and writes it, compressed, to where
// the program embeds it. The same sources give the same page. With --check nothing is written: it fails where the page in
// the repository is another one.
import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { gunzipSync, gzipSync } from "node:zlib";

const here = dirname(fileURLToPath(import.meta.url));
const bundle = join(here, "../bundle/studio.html.gz");

/**
 * Paths of all files under a folder of this one.
 * @param {string} folder
 * @returns {string[]}
 */
function under(folder) {
  return readdirSync(join(here, folder), { withFileTypes: true }).flatMap((item) => {
    const path = `${folder}/${item.name}`;
    return item.isDirectory() ? under(path) : [path];
  });
}

/** Hash of every file that the page is built from, in the order of names. A test of the crate reads the same list. */
function hashOfSources() {
  const files = ["index.html", "package-lock.json", "package.json", "seal.mjs", "tsconfig.json", "vite.config.ts"];
  const digest = createHash("sha256");
  for (const path of [...files, ...under("src")].sort()) {
    // Line ends as in the repository, whatever a checkout made of them.
    const text = readFileSync(join(here, path), "utf8").replaceAll("\r\n", "\n");
    digest.update(`${path}\n${Buffer.byteLength(text)}\n${text}`);
  }
  return digest.digest("hex");
}

/**
 * The built page with its script and style inside.
 * @param {string} hash
 */
function sealed(hash) {
  const built = readFileSync(join(here, "dist/index.html"), "utf8");
  const script = built.match(/<script type="module" crossorigin src="\/(assets\/[^"]+\.js)"><\/script>/);
  const style = built.match(/<link rel="stylesheet" crossorigin href="\/(assets\/[^"]+\.css)">/);
  if (!script?.[1] || !style?.[1]) throw new Error("dist/index.html names no script or no style");
  const code = readFileSync(join(here, "dist", script[1]), "utf8").trim();
  const css = readFileSync(join(here, "dist", style[1]), "utf8").trim();
  if (/<\/script/i.test(code) || /<\/style/i.test(css))
    throw new Error("the script or the style holds its own end tag");
  /** @param {string} id */
  const place = (id) => `<script id="${id}" type="application/octet-stream"></script>`;
  const clips = `${place("pomp-clip")}\n${place("pomp-clip-beside")}`;
  // Functions as replacements: the code holds dollar signs of its own.
  return built
    .replace(script[0], "")
    .replace(style[0], () => `<meta name="pomp-sources" content="${hash}">\n<style>${css}</style>`)
    .replace("</body>", () => `${clips}\n<script type="module">${code}</script>\n</body>`);
}

const hash = hashOfSources();
const page = sealed(hash);
if (process.argv.includes("--check")) {
  // The page is compared, not the compressed bytes: those differ between versions of zlib.
  if (gunzipSync(readFileSync(bundle)).toString() !== page) {
    console.error(`${bundle} is not what the sources build: run npm run build in ${here} and commit it`);
    process.exit(1);
  }
  console.log(`${bundle} is what the sources build, sources ${hash.slice(0, 12)}`);
} else {
  const zipped = gzipSync(page, { level: 9 });
  zipped[9] = 255; // The system it was made on says nothing.
  mkdirSync(dirname(bundle), { recursive: true });
  writeFileSync(bundle, zipped);
  const kib = (/** @type {number} */ bytes) => `${(bytes / 1024).toFixed(0)} KiB`;
  console.log(`${bundle}: ${kib(page.length)}, ${kib(zipped.length)} compressed, sources ${hash.slice(0, 12)}`);
}
