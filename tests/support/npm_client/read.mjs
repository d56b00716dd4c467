// Reads streams as the stock client does: each line of stdin is a case, {sse, message?}, and is answered by one line,
// {message, errors, chunks}. The first argument is the folder of node_modules that holds `ai`.
import { join } from "node:path";
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";

const { DefaultChatTransport, readUIMessageStream, safeValidateUIMessages } = await import(
  pathToFileURL(join(process.argv[2], "ai", "dist", "index.js")).href
);

/** The last state of the message, and whatever the client complained of. */
async function read({ sse, message }) {
  const errors = [];
  const complain = error => errors.push(`${error}`.slice(0, 300));
  const fetch = async () => new Response(sse, { headers: { "content-type": "text/event-stream" } });
  const transport = new DefaultChatTransport({ api: "http://nowhere/", fetch });
  const messages = message ? [message] : [];
  const chunks = await transport.sendMessages({ chatId: "c", messages, trigger: "submit-message" });
  let count = 0;
  const counted = chunks.pipeThrough(
    new TransformStream({
      transform(chunk, controller) {
        count += 1;
        controller.enqueue(chunk);
      },
    }),
  );
  let last = message ?? null;
  for await (const state of readUIMessageStream({ stream: counted, message, onError: complain })) last = state;
  return { message: last, errors, chunks: count };
}

/** What is wrong with messages that a page is given, if anything is. */
async function check({ messages }) {
  const found = await safeValidateUIMessages({ messages });
  return { errors: found.success ? [] : [`${found.error}`.slice(0, 300)] };
}

for await (const line of createInterface({ input: process.stdin, crlfDelay: Infinity })) {
  const asked = JSON.parse(line);
  const answer = await (asked.messages ? check(asked) : read(asked));
  process.stdout.write(`${JSON.stringify(answer)}\n`);
}
