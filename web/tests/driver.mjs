// Runs scenarios in one browser, as tests/support/browser.py asks on stdin, one JSON object a line: {scenario, input} is
// answered by {scenario, error, violations, screenshots, result}. A running scenario can call a Python function:
// {call, args} is answered by {returned} or {error}.
import { createServer } from "node:net";
import { readdirSync } from "node:fs";
import { createInterface } from "node:readline";
import { launch } from "./browser.mjs";
import { ScenarioContext } from "./context.mjs";

const folder = new URL("./scenarios/", import.meta.url);
const scenarios = {};
for (const name of readdirSync(folder).filter((name) => name.endsWith(".mjs")))
  Object.assign(scenarios, await import(new URL(name, folder).href));

/** Connections to other hosts, of whatever protocol: the browser resolves them all to this server, which closes them. */
const strayConnections = [];
const trap = createServer((socket) => {
  const connection = { host: "a connection without data" };
  strayConnections.push(connection);
  socket.on("error", () => {});
  socket.once("data", (data) => {
    connection.host = hostIn(data.toString("latin1"));
    socket.destroy();
  });
});
await new Promise((ready) => trap.listen(0, "127.0.0.1", ready));

/** The host that an HTTP request or a TLS hello names. */
function hostIn(firstBytes) {
  return /^host: *(\S+)/im.exec(firstBytes)?.[1] ?? /[a-z0-9-]+(\.[a-z0-9-]+)+/i.exec(firstBytes)?.[0] ?? "no host named";
}

/** The browser's own requests to its vendor, which aren't the page's. */
const VENDOR_RULES = ["*.google.com", "*.googleapis.com", "*.gstatic.com", "*.gvt1.com"].map((host) => `MAP ${host} ~NOTFOUND`);

const browser = await launch([
  "--no-sandbox",
  "--site-per-process", // as on desktops: sandboxed frames run beside the page
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
  "--disable-dev-shm-usage",
  `--host-resolver-rules=${VENDOR_RULES.join(", ")}, MAP * 127.0.0.1:${trap.address().port}, EXCLUDE 127.0.0.1`,
]);

const lines = createInterface({ input: process.stdin, crlfDelay: Infinity })[Symbol.asyncIterator]();
const write = (message) => process.stdout.write(`${JSON.stringify(message)}\n`);
const read = async () => {
  const { value, done } = await lines.next();
  return done ? null : JSON.parse(value);
};

let lastCall = Promise.resolve();

/** Calls a function of the Python test; calls wait for each other. */
function call(name, args = {}) {
  const current = lastCall.then(async () => {
    write({ call: name, args });
    const reply = await read();
    if (reply?.error) throw new Error(`${name}: ${reply.error}`);
    return reply?.returned;
  });
  lastCall = current.catch(() => {});
  return current;
}

async function run(name, input) {
  strayConnections.length = 0;
  const context = new ScenarioContext(browser, input, call);
  let error = null;
  let screenshots = [];
  try {
    if (!scenarios[name]) throw new Error(`there is no scenario ${name}`);
    await withTimeout(input.seconds ?? 30, scenarios[name](context));
  } catch (thrown) {
    error = `${thrown?.stack ?? thrown}\n${await context.textOfPages().catch(() => "")}`;
    screenshots = await context.takeScreenshots(name).catch(() => []);
  }
  await context.close();
  const violations = [...context.violations, ...strayConnections.map(({ host }) => `another host was reached: ${host}`)];
  if (violations.length && !error) error = "the page broke a rule";
  return { scenario: name, error, violations, screenshots, result: context.result };
}

function withTimeout(seconds, promise) {
  let timer;
  const timeout = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`not finished after ${seconds} s`)), seconds * 1000);
  });
  return Promise.race([promise, timeout]).finally(() => clearTimeout(timer));
}

write({ ready: Object.keys(scenarios), version: browser.version() });
for (let request = await read(); request !== null; request = await read()) write(await run(request.scenario, request.input));
await browser.close();
process.exit(0);
