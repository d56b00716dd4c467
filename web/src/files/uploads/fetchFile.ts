// Attaches the file at an address: the server downloads it, and reports progress in lines of JSON.
import { ApiError, errorOf, readError, unreachable } from "../../api";
import { at } from "../../prefix";
import type { Attachment } from "../attachment";
import type { Job } from "./send";

type Line = { received?: number; size?: number | null; attachment?: Attachment; status?: number };

export const fetchFile = (url: string): Job => (listener) => {
  const abort = new AbortController();
  const run = async () => {
    for await (const line of linesOf(url, abort.signal)) {
      const { received, size = null, attachment, status } = JSON.parse(line) as Line;
      if (received !== undefined) listener.progress(received, size);
      else if (attachment) return listener.ready(attachment);
      else throw errorOf(status ?? 0, line);
    }
    throw unreachable();
  };
  run().catch((error: unknown) => {
    if (abort.signal.aborted) return;
    const known = error instanceof ApiError ? error : unreachable();
    listener.failed(known, known.status === 403 || known.status === 413);
  });
  return () => abort.abort();
};

async function* linesOf(url: string, signal: AbortSignal): AsyncGenerator<string> {
  const headers = { "accept": "application/x-ndjson", "content-type": "application/json" };
  const response = await fetch(at("/api/attachments/fetch"), { method: "POST", headers, body: JSON.stringify({ url }), signal });
  if (response.status === 401) window.dispatchEvent(new Event("signed-out"));
  if (!response.ok || !response.body) throw await readError(response);
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    const lines = (rest + value).split("\n");
    rest = lines.pop() ?? "";
    yield* lines;
  }
}
