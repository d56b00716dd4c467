// Bundles modules of the page for Node, and helpers for their unit tests.
import { mkdtemp, rm } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";

const web = resolve(import.meta.dirname, "../../../web");
const { rolldown } = createRequire(join(web, "package.json"))("rolldown");

/** The exports of a module under web/src. */
export async function load(path) {
  const folder = await mkdtemp(join(tmpdir(), "page-"));
  try {
    const bundle = await rolldown({ input: join(web, "src", path), logLevel: "silent" });
    await bundle.write({ file: join(folder, "module.mjs"), format: "esm" });
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
