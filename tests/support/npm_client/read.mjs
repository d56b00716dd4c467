// Reads streams as the stock client does: each line of stdin is a case, {sse, message?}, and is answered by one line,
// {message, errors, chunks}. The first argument is the folder of node_modules that holds `ai`.
import { join } from "node:path";
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";

const { DefaultChatTransport, convertToModelMessages, generateText, readUIMessageStream, safeValidateUIMessages } = await import(
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

/** A model that takes what it gets, and keeps it. */
class Model {
  specificationVersion = "v4";
  provider = modelId;
  modelId = modelId;
  supportedUrls = { "*/*": [/.*/] };

  doGenerate = async ({ prompt }) => {
    this.prompt = prompt;
    return { content: [{ type: "text", text: "Yes." }], finishReason: { unified: "stop" }, usage, warnings: [] };
  };
}
const modelId = "none";
const usage = { inputTokens: { total: 1 }, outputTokens: { total: 1 } };

/** What a program of `ai` gives a model of messages: `model` is its own form, `prompt` what the model gets. */
async function convert({ convert: messages }) {
  const asked = new Model();
  let model = null;
  try {
    model = await convertToModelMessages(messages);
    await generateText({ model: asked, messages: [...model, { role: "user", content: "Go on." }], maxRetries: 0 });
    return { errors: [], model, prompt: asked.prompt };
  } catch (error) {
    return { errors: [`${error}`.slice(0, 300)], model };
  }
}

for await (const line of createInterface({ input: process.stdin, crlfDelay: Infinity })) {
  const asked = JSON.parse(line);
  const answer = await ("echo" in asked ? asked : asked.messages ? check(asked) : asked.convert ? convert(asked) : read(asked));
  process.stdout.write(`${JSON.stringify(answer)}\n`);
}
