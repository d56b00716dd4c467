// The stock client of npm's `ai`, told what to do line by line: {do, ...}. Each is answered by
// {messages, status, error, end, notices}: `end` is how the last stream ended, `notices` are the transient data parts since.
// The first argument is the folder of node_modules that holds `ai`, the second the server's address, the third a cookie.
import { join } from "node:path";
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";

const [, , modules, url, cookie] = process.argv;
const { AbstractChat, DefaultChatTransport, lastAssistantMessageIsCompleteWithApprovalResponses } = await import(
  pathToFileURL(join(modules, "ai", "dist", "index.js")).href
);
const headers = { cookie, origin: url };

/** What a page keeps, without a page. */
class Kept {
  status = "ready";
  error = undefined;
  messages = [];
  pushMessage = message => void this.messages.push(message);
  popMessage = () => void this.messages.pop();
  replaceMessage = (index, message) => void (this.messages[index] = message);
  snapshot = thing => structuredClone(thing);
}

class Chat extends AbstractChat {
  constructor(id, messages) {
    super({
      id,
      state: Object.assign(new Kept(), { messages }),
      transport: new DefaultChatTransport({ api: `${url}/api/chat`, headers }),
      sendAutomaticallyWhen: lastAssistantMessageIsCompleteWithApprovalResponses,
      onData: ({ type, data }) => void notices.push({ type, data }),
      onFinish: ({ isAbort, isDisconnect, isError, finishReason = null }) => void (end = { isAbort, isDisconnect, isError, finishReason }),
    });
  }
}

let chat;
let end = null;
let notices = [];
const deeds = {
  open: ({ id, messages }) => void (chat = new Chat(id, messages)),
  send: ({ text, message_id }) => chat.sendMessage({ text, messageId: message_id }),
  regenerate: () => chat.regenerate(),
  approve: async ({ id, approved }) => {
    await chat.addToolApprovalResponse({ id, approved });
    while (chat.status === "submitted" || chat.status === "streaming") await new Promise(done => setTimeout(done, 5));
  },
  resume: () => chat.resumeStream(),
};

for await (const line of createInterface({ input: process.stdin, crlfDelay: Infinity })) {
  const asked = JSON.parse(line);
  notices = [];
  await deeds[asked.do](asked);
  const { messages, status, error } = chat;
  process.stdout.write(`${JSON.stringify({ messages, status, error: error ? `${error}` : null, end, notices })}\n`);
}
