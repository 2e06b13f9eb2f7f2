// Bundle the page: `node build.mjs [folder]` writes explorer.js, explorer.css and index.html there; with --plain after it the script
// as it was written, with its map, to see which lines of it tests run.

import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";
import { minify } from "terser";

const here = dirname(fileURLToPath(import.meta.url));
const out = process.argv[2] ?? join(here, "..", "src", "consilience", "explorer", "static");
const plain = process.argv.includes("--plain");
mkdirSync(out, { recursive: true });
await build({
  entryPoints: { explorer: join(here, "src", "index.js") },
  outdir: out,
  bundle: true,
  format: "esm",
  target: "es2022",
  minify: !plain,
  sourcemap: plain,
  legalComments: "none",
  charset: "utf8",
  jsx: "automatic",
  jsxImportSource: "preact",
});
copyFileSync(join(here, "src", "index.html"), join(out, "index.html"));
// esbuild bundles, terser goes over it again: 4 % less to load
const script = join(out, "explorer.js");
if (!plain) {
  const { code } = await minify(readFileSync(script, "utf8"), {
    module: true,
    ecma: 2020,
    compress: { passes: 3, keep_fargs: false, pure_getters: false }, // reading a signal is an effect
  });
  writeFileSync(script, code ?? "");
}
const size = gzipSync(readFileSync(script), { level: 9 }).length;
console.log(`explorer.js: ${(size / 1000).toFixed(1)} kB gzip`);
