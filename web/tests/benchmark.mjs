// Measures the page for bench/page.py: bytes of its first load, first paint, opening and scrolling a long conversation,
// and using a longer one. Arguments: the server's URL, its token, the ids of both. Prints the values of each round.
import { launch } from "./browser.mjs";
import { countBytes } from "./bytes.mjs";

const [, , url, token, id, longer] = process.argv;
const ROUNDS = 7;
const FLAGS = ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking", "--disable-sync"];

const browser = await launch(FLAGS);

/** A fresh browser that is logged in. */
async function logIn() {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
  await context.addInitScript(record);
  const page = await context.newPage();
  await page.goto(`${url}/settings?token=${token}`);
  await page.close();
  return context;
}

/** Runs in the page from the start. */
function record() {
  const each = (type, note, more) =>
    new PerformanceObserver((list) => list.getEntries().forEach(note)).observe({ type, buffered: true, ...more });
  window.__tasks = [];
  each("longtask", (task) => window.__tasks.push(task.duration));
  window.__shifts = [];
  each("layout-shift", ({ startTime, value, hadRecentInput }) => hadRecentInput || window.__shifts.push([startTime, value]));
  window.__events = [];
  each("event", (event) => event.interactionId && window.__events.push(event.duration), { durationThreshold: 16 });
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

/** The longest time from an input to the next frame, with the whole conversation on the page, and how much moved that
 * nobody touched: while it opened, was scrolled, and was used. */
async function measureUse() {
  const context = await logIn();
  const page = await context.newPage();
  await page.goto(`${url}/c/${longer}`);
  await page.locator(".message-last").waitFor();
  await page.mouse.move(640, 400);
  while (!(await page.evaluate(isAtStart))) {
    await page.mouse.wheel(0, -600);
    await page.waitForTimeout(40);
  }
  await page.waitForTimeout(1000); // the last pictures are decoded
  await page.evaluate(() => window.__events.splice(0));
  const box = page.getByRole("textbox", { name: "Message" });
  await box.click();
  await box.pressSequentially("What is in image 399, and in image 5?", { delay: 30 });
  await page.keyboard.press("Escape");
  await page.getByRole("button", { name: /^Model/ }).first().click();
  await page.keyboard.press("Escape");
  await page.waitForTimeout(300);
  const copy = page.getByRole("button", { name: "Copy the answer" }).last();
  await copy.scrollIntoViewIfNeeded(); // from the start to the end, which is no answer to an input
  await page.waitForTimeout(300);
  await copy.click();
  await page.locator(".message .file-picture").last().click();
  await page.getByRole("dialog").waitFor();
  await page.keyboard.press("Escape");
  await page.waitForTimeout(300);
  const { answered, shifts } = await page.evaluate(() => ({ answered: Math.max(16, ...window.__events), shifts: window.__shifts }));
  await context.close();
  return { answered, moved: largestWindow(shifts) };
}

/** The cumulative layout shift as browsers' vendors define it (https://web.dev/articles/cls): the most within a window of
 * at most 5 seconds, without a gap of more than one. */
function largestWindow(shifts) {
  let [largest, sum, first, last] = [0, 0, -Infinity, -Infinity];
  for (const [at, value] of shifts) {
    if (at - last > 1000 || at - first > 5000) [sum, first] = [0, at];
    [sum, last] = [sum + value, at];
    largest = Math.max(largest, sum);
  }
  return largest;
}

/** Runs in the page: whether the first message of the conversation is in view. */
function isAtStart() {
  return document.querySelector(".talk").scrollTop === 0 && !document.querySelector("button.earlier");
}

/** Runs in the page: scrolls from the end to the start, one screen every other frame, and measures each frame. */
async function scroll() {
  const list = document.querySelector(".talk");
  const frames = [];
  const nextFrame = () => new Promise((next) => requestAnimationFrame(next));
  let last = await nextFrame();
  for (let step = 0; (list.scrollTop > 0 || document.querySelector("button.earlier")) && step < 5000; step++) {
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
for (let round = 0; round < ROUNDS; round++) rounds.push({ ...(await measureStart()), ...(await measureConversation()), ...(await measureUse()) });
await browser.close();
const values = Object.fromEntries(Object.keys(rounds[0]).map((key) => [key, rounds.map((round) => round[key])]));
process.stdout.write(`${JSON.stringify(values)}\n`);
