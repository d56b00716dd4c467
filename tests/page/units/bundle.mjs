// Bundles modules of the page for Node, and helpers for their unit tests.
import { mkdtemp, rm } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";

import { catalogues } from "../../../web/catalogues.ts";

const web = resolve(import.meta.dirname, "../../../web");
const requireFromWeb = createRequire(join(web, "package.json"));
const { rolldown } = requireFromWeb("rolldown");
const { viteImportGlobPlugin } = requireFromWeb("rolldown/experimental");

/** A module with the exports of another, which loads a language first. */
const entryOf = (path, language) => ({
  name: "entry",
  resolveId: (id) => (id === "entry" ? id : null),
  load: (id) =>
    id === "entry"
      ? `import { loadRest, speak } from "${join(web, "src/language/index.ts")}";
         ${language ? `await speak("${language}"); await loadRest();` : ""}
         export * from "${join(web, "src", path)}";`
      : null,
});

/** The exports of a module under web/src, in a language; with null in none. */
export async function load(path, language = "en") {
  const folder = await mkdtemp(join(tmpdir(), "page-"));
  try {
    const plugins = [entryOf(path, language), catalogues, viteImportGlobPlugin({ root: web })];
    const bundle = await rolldown({ input: "entry", cwd: web, plugins, logLevel: "silent" });
    await bundle.write({ dir: folder, entryFileNames: "module.mjs", format: "esm" });
    return await import(pathToFileURL(join(folder, "module.mjs")));
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** A random number generator with a seed: `random(limit)` returns an integer below `limit`. */
export function seededRandom(seed) {
  let state = seed;
  return (limit) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * limit);
  };
}
