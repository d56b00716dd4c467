// Measures the page for bench/page.py: bytes of its first load, first paint, opening and scrolling a long conversation.
// Arguments: the server's URL, its token, the id of the conversation. Prints the values of each round.
import { launch } from "./browser.mjs";
import { countBytes } from "./bytes.mjs";

const [, , url, token, id] = process.argv;
const ROUNDS = 7;
const FLAGS = ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking", "--disable-sync"];

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
  const context = await logIn();
  const page = await context.newPage();
  const counted = await countBytes(page);
  const load = async () => {
    counted.clear();
    await page.goto(`${url}/`);
    await page.locator(".example").first().waitFor();
    await page.waitForLoadState("networkidle");
    return [...counted.values()].reduce((sum, size) => sum + size, 0) / 1000;
  };
  const bytes = await load();
  const paint = await page.evaluate(() => performance.getEntriesByName("first-contentful-paint")[0]?.startTime ?? 0);
  const again = await load();
  await context.close();
  return { bytes, paint, again };
}

/** Time until the newest message is visible, longest blocking tasks, and frame times. */
async function measureConversation() {
  const context = await logIn();
  const page = await context.newPage();
  const start = performance.now();
  await page.goto(`${url}/c/${id}`, { waitUntil: "commit" });
  await page.locator(".message-last").waitFor();
  const opened = performance.now() - start;
  await page.waitForTimeout(500); // tasks after it, such as decoding pictures, count as blocking
  const tasks = await page.evaluate(() => window.__tasks.splice(0));
  const p95 = await page.evaluate(scroll);
  await context.close();
  return { opened, blocked: Math.max(0, ...tasks), p95 };
}

/** Runs in the page: scrolls from the end to the start, one screen every other frame, and measures each frame. */
async function scroll() {
  const list = document.querySelector(".talk");
  const frames = [];
  const nextFrame = () => new Promise((next) => requestAnimationFrame(next));
  let last = await nextFrame();
  for (let step = 0; (list.scrollTop > 0 || document.querySelector(".earlier")) && step < 5000; step++) {
    if (step % 2 === 0) {
      window.dispatchEvent(new Event("wheel")); // as a user does it: otherwise the view stays at the end
      list.scrollTop -= list.clientHeight;
    }
    const now = await nextFrame();
    frames.push(now - last);
    last = now;
  }
  if (list.scrollTop > 0) throw new Error("the start of the conversation was not reached");
  frames.sort((a, b) => a - b);
  return frames[Math.floor(frames.length * 0.95)];
}

const rounds = [];
for (let round = 0; round < ROUNDS; round++) rounds.push({ ...(await measureStart()), ...(await measureConversation()) });
await browser.close();
const values = Object.fromEntries(Object.keys(rounds[0]).map((key) => [key, rounds.map((round) => round[key])]));
process.stdout.write(`${JSON.stringify(values)}\n`);
