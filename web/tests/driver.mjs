// Plays scenarios in one chromium for as long as its input lasts. A line in is {play, given}, a line out is
// {played, error?, complaints, picture?}; in between a scenario may ask whoever started it: {ask, given} is answered
// by {answer} or {refused}.
import { createServer } from "node:net";
import { readdirSync } from "node:fs";
import { createInterface } from "node:readline";
import { launch } from "./browser.mjs";
import { Scene } from "./scene.mjs";

const folder = new URL("./scenarios/", import.meta.url);
const scenarios = {};
for (const name of readdirSync(folder).filter((one) => one.endsWith(".mjs")))
  Object.assign(scenarios, await import(new URL(name, folder).href));

/** Whatever is asked of other hosts comes here, by whichever way a browser asks: it is noted, and closed. */
const strays = [];
const net = createServer((socket) => {
  const stray = { first: "nothing" };
  strays.push(stray);
  socket.on("error", () => {});
  socket.once("data", (data) => {
    stray.first = hostIn(data.toString("latin1"));
    socket.destroy();
  });
});
await new Promise((ready) => net.listen(0, "127.0.0.1", ready));

/** The host that a request or a TLS hello names. */
function hostIn(first) {
  return /^host: *(\S+)/im.exec(first)?.[1] ?? /[a-z0-9-]+(\.[a-z0-9-]+)+/i.exec(first)?.[0] ?? "it said no name";
}

/** What the browser itself asks its maker for isn't the page's doing. */
const makers = ["*.google.com", "*.googleapis.com", "*.gstatic.com", "*.gvt1.com"].map((one) => `MAP ${one} ~NOTFOUND`);

const browser = await launch([
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
  "--disable-dev-shm-usage",
  `--host-resolver-rules=${makers.join(", ")}, MAP * 127.0.0.1:${net.address().port}, EXCLUDE 127.0.0.1`,
]);

const lines = createInterface({ input: process.stdin, crlfDelay: Infinity })[Symbol.asyncIterator]();
const tell = (line) => process.stdout.write(`${JSON.stringify(line)}\n`);
const hear = async () => {
  const { value, done } = await lines.next();
  return done ? null : JSON.parse(value);
};

/** Asks Python, one question after the other. */
let asking = Promise.resolve();
function ask(what, given = {}) {
  const asked = asking.then(async () => {
    tell({ ask: what, given });
    const said = await hear();
    if (said?.refused) throw new Error(`${what}: ${said.refused}`);
    return said?.answer;
  });
  asking = asked.catch(() => {});
  return asked;
}

async function play(name, given) {
  strays.length = 0;
  const scene = new Scene(browser, given, ask);
  let error = null;
  let pictures = [];
  try {
    if (!scenarios[name]) throw new Error(`there is no scenario ${name}`);
    await within(given.seconds ?? 30, scenarios[name](scene));
  } catch (thrown) {
    error = String(thrown?.stack ?? thrown);
    pictures = await scene.photograph(name).catch(() => []);
  }
  await scene.close();
  const complaints = [...scene.complaints, ...strays.map((one) => `another host was reached: ${one.first}`)];
  if (complaints.length && !error) error = "the page did what it mustn't";
  return { played: name, error, complaints, pictures, told: scene.told };
}

function within(seconds, work) {
  let timer;
  const late = new Promise((_, fail) => {
    timer = setTimeout(() => fail(new Error(`not done after ${seconds} s`)), seconds * 1000);
  });
  return Promise.race([work, late]).finally(() => clearTimeout(timer));
}

tell({ ready: Object.keys(scenarios), version: browser.version() });
for (let line = await hear(); line !== null; line = await hear()) tell(await play(line.play, line.given));
await browser.close();
process.exit(0);
