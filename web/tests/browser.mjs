// The browser of the tests and the pictures: one version on every machine, from the package that package-lock.json pins.
// It is for Linux on x86-64; anywhere else, or to try another one, CHROMIUM names a browser.
// `node browser.mjs` unpacks it, with the libraries and the fonts that it needs, into the folder .browser.
import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { chromium } from "playwright-core";

const folder = fileURLToPath(new URL("./.browser/", import.meta.url));
const own = join(folder, "chromium");
const runsHere = process.platform === "linux" && process.arch === "x64";

/** Starts the browser. */
export async function launch(args) {
  const named = process.env.CHROMIUM;
  if (!named && !existsSync(own)) throw new Error("the browser isn't here: run `make browser`, or name one by CHROMIUM");
  if (named) return chromium.launch({ executablePath: named, args });
  const env = { ...process.env, LD_LIBRARY_PATH: join(folder, "al2023", "lib"), FONTCONFIG_PATH: join(folder, "fonts") };
  return chromium.launch({ executablePath: own, args, env });
}

async function unpack() {
  if (!runsHere || process.env.CHROMIUM) return;
  rmSync(folder, { recursive: true, force: true });
  const begun = `${folder.slice(0, -1)}.new`;
  rmSync(begun, { recursive: true, force: true });
  mkdirSync(begun);
  process.env.TMPDIR = begun; // where the package puts what it unpacks
  process.env.AWS_LAMBDA_JS_RUNTIME = "nodejs24.x"; // makes it bring its libraries, too
  const { default: packed } = await import("@sparticuz/chromium");
  await packed.executablePath();
  const fonts = `<dir>${join(folder, "fonts")}</dir><cachedir>${join(folder, "fonts-cache")}</cachedir>`;
  writeFileSync(join(begun, "fonts", "fonts.conf"), `<?xml version="1.0"?><!DOCTYPE fontconfig SYSTEM "fonts.dtd"><fontconfig>${fonts}</fontconfig>\n`);
  renameSync(begun, folder);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await unpack();
