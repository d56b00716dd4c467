// The client of AG-UI's npm package, told what to do line by line: {do: "open" | "say" | "resume", ...}. Each is answered
// by {messages, state, events, interrupts, error}: `events` are those of the run, `error` why it failed.
// The first argument is the module to import, the second the server's address, the third a JSON object of headers.
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";

const [, , modulePath, url, headers] = process.argv;
const { HttpAgent } = await import(pathToFileURL(modulePath).href);
console.error = () => {};
console.warn = text => warnings.push(`${text}`.slice(0, 300));

let agent;
let warnings = [];

const lines = createInterface({ input: process.stdin, crlfDelay: Infinity })[Symbol.asyncIterator]();
const write = value => process.stdout.write(`${JSON.stringify(value)}\n`);

/** Ask for a response, and wait for it. */
async function ask(_, { body }) {
  write({ request: JSON.parse(body) });
  const { sse } = JSON.parse((await lines.next()).value);
  return new Response(sse, { headers: { "content-type": "text/event-stream" } });
}

/** Run once. */
async function run({ input = {} }) {
  const events = [];
  warnings = [];
  let error = null;
  const subscriber = {
    onEvent: ({ event }) => void events.push(event),
    onRunErrorEvent: ({ event }) => void (error = event.message),
  };
  try {
    await agent.runAgent(input, subscriber);
  } catch (caught) {
    error = `${caught}`.slice(0, 500);
  }
  const { messages, state, pendingInterrupts } = agent;
  return { messages, state, events, interrupts: pendingInterrupts, error, warnings };
}

const actions = {
  open: async ({ messages = [], state = {}, threadId = "thread" }) => {
    const initial = { initialMessages: messages, initialState: state };
    agent = new HttpAgent({ url: url || "http://nowhere/", headers: JSON.parse(headers || "{}"), threadId, ...initial });
    if (!url) agent.fetch = ask;
    return {};
  },
  say: async ({ id, content, ...more }) => {
    agent.addMessage({ id, role: "user", content });
    return run(more);
  },
  run,
};

for (let next = await lines.next(); !next.done; next = await lines.next()) {
  const { do: action, ...asked } = JSON.parse(next.value);
  write(await actions[action](asked));
}
