// What opening the page costs: bytes of JavaScript at its start, the first paint, and a long conversation that is opened
// and scrolled through. Arguments: the server's address, its token, a conversation's id.
import { gzipSync } from "node:zlib";
import { launch } from "./browser.mjs";

const [, , url, token, id] = process.argv;
const ROUNDS = 5;
const FLAGS = ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking", "--disable-sync"];

const median = (values) => values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)];
const browser = await launch(FLAGS);

/** A browser that knows the server and nothing else; every visit's cache is empty but for what is said. */
async function enter() {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
  await context.addInitScript(watch);
  const page = await context.newPage();
  await page.goto(`${url}/settings?token=${token}`);
  await page.close();
  return context;
}

/** Notes long tasks and frames from the start. */
function watch() {
  window.__tasks = [];
  new PerformanceObserver((list) => {
    for (const task of list.getEntries()) window.__tasks.push(task.duration);
  }).observe({ type: "longtask", buffered: true });
}

async function start() {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
  const page = await context.newPage();
  const scripts = [];
  page.on("response", (answer) => {
    if (/javascript/.test(answer.headers()["content-type"] ?? "")) scripts.push(answer);
  });
  await page.goto(`${url}/?token=${token}`);
  await page.locator(".example").first().waitFor();
  const sizes = await Promise.all(scripts.map(async (one) => gzipSync(await one.body(), { level: 9 }).length));
  const paint = await page.evaluate(() => performance.getEntriesByName("first-contentful-paint")[0]?.startTime ?? 0);
  await context.close();
  return { bytes: sizes.reduce((sum, one) => sum + one, 0), paint };
}

/** Opens the long conversation: until its newest message is to be seen, and what was blocked meanwhile. */
async function open() {
  const context = await enter();
  const page = await context.newPage();
  const begun = performance.now();
  await page.goto(`${url}/c/${id}`, { waitUntil: "commit" });
  await page.locator(".message-last").waitFor();
  const opened = performance.now() - begun;
  await page.waitForTimeout(500); // what follows, such as pictures, is counted as tasks
  const tasks = await page.evaluate(() => window.__tasks.splice(0));
  const scrolled = await page.evaluate(scroll);
  const later = await page.evaluate(() => window.__tasks);
  const heap = await page.evaluate(() => performance.memory?.usedJSHeapSize ?? 0);
  await context.close();
  return { opened, blocked: Math.max(0, ...tasks), ...scrolled, stuck: Math.max(0, ...later), heap };
}

/** From the end to the start, a screen every other frame; how long each frame took. */
async function scroll() {
  const box = document.querySelector(".talk");
  const frames = [];
  const frame = () => new Promise((next) => requestAnimationFrame(next));
  let last = await frame();
  for (let step = 0; box.scrollTop > 0 && step < 2000; step++) {
    if (step % 2 === 0) box.scrollTop -= box.clientHeight;
    const now = await frame();
    frames.push(now - last);
    last = now;
  }
  frames.sort((one, other) => one - other);
  return { frames: frames.length, p95: frames[Math.floor(frames.length * 0.95)] ?? 0, top: box.scrollTop };
}

const starts = [];
const opens = [];
for (let round = 0; round < ROUNDS; round++) {
  starts.push(await start());
  opens.push(await open());
}
await browser.close();
const all = (rounds) => Object.fromEntries(Object.keys(rounds[0]).map((key) => [key, median(rounds.map((one) => one[key]))]));
process.stdout.write(`${JSON.stringify({ ...all(starts), ...all(opens) })}\n`);
