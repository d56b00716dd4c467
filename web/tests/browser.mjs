// The browser of the tests and the pictures: one version on every machine, from the package that package-lock.json pins.
// It runs on Linux on x86-64. Elsewhere, or to try another browser, set CHROMIUM to the path of one.
// `node browser.mjs` unpacks it into the folder .browser, with the libraries and fonts that it needs.
import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { chromium } from "playwright-core";

const folder = fileURLToPath(new URL("./.browser/", import.meta.url));
const executable = join(folder, "chromium");
const isSupported = process.platform === "linux" && process.arch === "x64";

/** Starts the browser. */
export async function launch(args) {
  const chosen = process.env.CHROMIUM;
  if (!chosen && !existsSync(executable))
    throw new Error("the browser is not installed: run `make browser`, or set CHROMIUM to the path of one");
  if (chosen) return chromium.launch({ executablePath: chosen, args });
  const env = { ...process.env, LD_LIBRARY_PATH: join(folder, "al2023", "lib"), FONTCONFIG_PATH: join(folder, "fonts") };
  return chromium.launch({ executablePath: executable, args, env });
}

async function unpack() {
  if (!isSupported || process.env.CHROMIUM) return;
  rmSync(folder, { recursive: true, force: true });
  const unfinished = `${folder.slice(0, -1)}.new`;
  rmSync(unfinished, { recursive: true, force: true });
  mkdirSync(unfinished);
  process.env.TMPDIR = unfinished; // the package unpacks into it
  process.env.AWS_LAMBDA_JS_RUNTIME = "nodejs24.x"; // makes the package unpack its libraries, too
  const { default: packaged } = await import("@sparticuz/chromium");
  await packaged.executablePath();
  const fonts = `<dir>${join(folder, "fonts")}</dir><cachedir>${join(folder, "fonts-cache")}</cachedir>`;
  writeFileSync(join(unfinished, "fonts", "fonts.conf"), `<?xml version="1.0"?><!DOCTYPE fontconfig SYSTEM "fonts.dtd"><fontconfig>${fonts}</fontconfig>\n`);
  renameSync(unfinished, folder);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await unpack();
