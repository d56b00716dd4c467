// Takes the pictures of the README and the docs: a real server with the model `inspector`, a real browser, no key.
// `make pictures` runs it. PYTHON sets the path of the interpreter.
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { launch } from "../web/tests/browser.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));
const folder = join(root, "docs", "pictures");
const sample = (name) => join(root, "src", "showandtell", "samples", name);
const python = process.env.PYTHON ?? join(root, ".venv", "bin", "python");
const token = "a-token-for-pictures";

const desktop = { viewport: { width: 1280, height: 900 } };
const phone = { viewport: { width: 390, height: 844 }, deviceScaleFactor: 2, isMobile: true, hasTouch: true };

/** Reduces pictures to 256 colors, so that each has at most 200 kB. */
const shrink = `
import sys
from PIL import Image
for path in sys.argv[1:]:
    Image.open(path).convert("RGB").quantize(256, dither=Image.Dither.NONE).save(path, optimize=True)
`;

const data = mkdtempSync(join(tmpdir(), "pictures-"));
const server = await serve();
const browser = await launch(["--no-sandbox"]);
try {
  await takeConversation("desktop-light", { ...desktop, colorScheme: "light" });
  await takeMatrix("desktop-dark", { viewport: { width: 1440, height: 900 }, colorScheme: "dark" });
  await takeComparison("phone-light", { ...phone, colorScheme: "light" });
  await takePanel("phone-dark", { ...phone, colorScheme: "dark" });
} finally {
  await browser.close();
  server.program.kill();
  await once(server.program, "exit");
  rmSync(data, { recursive: true });
}
const shrunk = spawnSync(python, ["-c", shrink, ...server.taken], { stdio: "inherit" });
process.exit(shrunk.status ?? 1);

/** The server on a port that is free; it is ready when it says so. */
async function serve() {
  const port = await new Promise((found) => {
    const probe = createServer().listen(0, "127.0.0.1", () => {
      const { port } = probe.address();
      probe.close(() => found(port));
    });
  });
  const program = spawn(python, ["-m", "showandtell", "serve", "--port", `${port}`, "--data", data], {
    env: { ...process.env, SHOWANDTELL_TOKEN: token },
    stdio: ["ignore", "pipe", "inherit"],
  });
  await new Promise((ready, fail) => {
    program.stdout.on("data", (words) => /is ready/.test(words) && ready());
    program.on("exit", (code) => fail(new Error(`the server ended with ${code}`)));
  });
  return { url: `http://127.0.0.1:${port}`, program, taken: [] };
}

async function visit(path, settings, model = null) {
  const context = await browser.newContext({ ...settings, reducedMotion: "reduce" });
  const page = await context.newPage();
  await page.goto(`${server.url}${path}?token=${token}`);
  const kept = await fetch(`${server.url}/api/settings`, {
    method: "PATCH",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    body: JSON.stringify({ model, instructions: "", theme: "system" }),
  });
  if (!kept.ok) throw new Error(await kept.text());
  await page.reload();
  return page;
}

async function ask(page, words, ...files) {
  const answers = page.getByRole("listitem", { name: "Answer", exact: true });
  const before = await answers.count();
  if (files.length) await page.getByLabel("Files to attach").setInputFiles(files.map(sample));
  await page.getByRole("textbox", { name: "Message", exact: true }).fill(words);
  await page.locator("button.send:enabled").click();
  await answers.nth(before).getByRole("button", { name: /What the model saw/ }).waitFor();
  await page.waitForFunction(() => [...document.images].every((one) => one.complete));
}

async function take(page, name) {
  await page.mouse.move(0, 0);
  await page.evaluate(() => document.activeElement?.blur());
  const path = join(folder, `${name}.png`);
  await page.screenshot({ path });
  server.taken.push(path);
  await page.context().close();
}

/** An upload, and a chart that a tool drew: both have their numbers. */
async function takeConversation(name, settings) {
  const page = await visit("/", settings);
  await ask(page, "What does the sign say?", "harbour.png");
  await ask(page, 'Draw a bar chart titled "Visitors at the pier" with the values 120, 95, 140, 180 and 230.');
  await take(page, name);
}

/** An API without images in tool results: the panel shows that the chart was sent in a follow-up message. */
async function takePanel(name, settings) {
  const page = await visit("/", settings, "inspector:openai-chat");
  await ask(page, 'Draw a bar chart titled "Visitors at the pier" with the values 120, 95, 140, 180 and 230.');
  await page.getByRole("button", { name: /What the model saw/ }).click();
  await page.getByRole("heading", { name: /^Step 2/ }).evaluate((one) => one.scrollIntoView());
  await page.waitForFunction(() => [...document.images].every((one) => one.complete));
  await take(page, name);
}

async function takeComparison(name, settings) {
  const page = await visit("/", settings);
  await ask(page, "Compare these two pictures.", "harbour.png", "kiwi.jpg");
  await take(page, name);
}

async function takeMatrix(name, settings) {
  const page = await visit("/matrix", settings);
  await page.getByText("families of models").waitFor();
  await take(page, name);
}
