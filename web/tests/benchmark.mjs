// Measures the page: bytes of JavaScript at startup, first paint, and opening and scrolling a long conversation.
// Arguments: the server's URL, its token, the id of the conversation.
import { gzipSync } from "node:zlib";
import { launch } from "./browser.mjs";

const [, , url, token, id] = process.argv;
const ROUNDS = 5;
const FLAGS = ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking", "--disable-sync"];

const median = (values) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)];
const browser = await launch(FLAGS);

/** A fresh browser that is logged in. */
async function logIn() {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
  await context.addInitScript(recordLongTasks);
  const page = await context.newPage();
  await page.goto(`${url}/settings?token=${token}`);
  await page.close();
  return context;
}

/** Runs in the page from the start. */
function recordLongTasks() {
  window.__tasks = [];
  new PerformanceObserver((list) => {
    for (const task of list.getEntries()) window.__tasks.push(task.duration);
  }).observe({ type: "longtask", buffered: true });
}

async function measureStart() {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
  const page = await context.newPage();
  const scripts = [];
  page.on("response", (response) => {
    if (/javascript/.test(response.headers()["content-type"] ?? "")) scripts.push(response);
  });
  await page.goto(`${url}/?token=${token}`);
  await page.locator(".example").first().waitFor();
  const sizes = await Promise.all(scripts.map(async (script) => gzipSync(await script.body(), { level: 9 }).length));
  const paint = await page.evaluate(() => performance.getEntriesByName("first-contentful-paint")[0]?.startTime ?? 0);
  await context.close();
  return { bytes: sizes.reduce((sum, size) => sum + size, 0), paint };
}

/** Time until the newest message is visible, longest blocking tasks, frame times and memory. */
async function measureConversation() {
  const context = await logIn();
  const page = await context.newPage();
  const start = performance.now();
  await page.goto(`${url}/c/${id}`, { waitUntil: "commit" });
  await page.locator(".message-last").waitFor();
  const opened = performance.now() - start;
  await page.waitForTimeout(500); // tasks after it, such as decoding pictures, count as blocking
  const tasks = await page.evaluate(() => window.__tasks.splice(0));
  const scrolled = await page.evaluate(scroll);
  const tasksWhileScrolling = await page.evaluate(() => window.__tasks);
  const heap = await page.evaluate(() => performance.memory?.usedJSHeapSize ?? 0);
  await context.close();
  return { opened, blocked: Math.max(0, ...tasks), ...scrolled, stuck: Math.max(0, ...tasksWhileScrolling), heap };
}

/** Runs in the page: scrolls from the end to the start, one screen every other frame, and measures each frame. */
async function scroll() {
  const list = document.querySelector(".talk");
  const frames = [];
  const nextFrame = () => new Promise((next) => requestAnimationFrame(next));
  let last = await nextFrame();
  for (let step = 0; list.scrollTop > 0 && step < 2000; step++) {
    if (step % 2 === 0) list.scrollTop -= list.clientHeight;
    const now = await nextFrame();
    frames.push(now - last);
    last = now;
  }
  frames.sort((a, b) => a - b);
  return { frames: frames.length, p95: frames[Math.floor(frames.length * 0.95)] ?? 0, top: list.scrollTop };
}

const starts = [];
const opens = [];
for (let round = 0; round < ROUNDS; round++) {
  starts.push(await measureStart());
  opens.push(await measureConversation());
}
await browser.close();
const medians = (rounds) => Object.fromEntries(Object.keys(rounds[0]).map((key) => [key, median(rounds.map((round) => round[key]))]));
process.stdout.write(`${JSON.stringify({ ...medians(starts), ...medians(opens) })}\n`);
