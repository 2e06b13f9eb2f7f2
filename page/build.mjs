// Bundle the page: `node build.mjs [folder]` writes explorer.js, explorer.css and index.html there.

import { copyFileSync, mkdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";

const here = dirname(fileURLToPath(import.meta.url));
const out = process.argv[2] ?? join(here, "..", "src", "consilience", "explorer", "static");
mkdirSync(out, { recursive: true });
await build({
  entryPoints: { explorer: join(here, "src", "index.js") },
  outdir: out,
  bundle: true,
  format: "esm",
  target: "es2022",
  minify: true,
  legalComments: "none",
  charset: "utf8",
  jsx: "automatic",
  jsxImportSource: "preact",
  alias: { "d3-interpolate": join(here, "src", "core", "interpolate_numbers.js") }, // 7 kB of colors that are not used
});
copyFileSync(join(here, "src", "index.html"), join(out, "index.html"));
const size = gzipSync(readFileSync(join(out, "explorer.js")), { level: 9 }).length;
console.log(`explorer.js: ${(size / 1000).toFixed(1)} kB gzip`);
