// Imports exported conversations: zip files of one, or of all, which are unpacked here and sent one by one.
import { ApiError, api, wordsOf } from "../api";
import { pause, waitOf } from "../state/pause";

/** A conversation to import: its name for people, and its bytes, which are read when it is its turn. */
type Export = { name: string; read: () => Promise<Blob> };

type Imported = { id: string; title: string; new: boolean; added_messages: number; known_messages: number; problems: string[] };

/** How far an import is. `messages` were added to conversations that were here. `failed` has what could not be imported, and why. */
export type Progress = {
  done: number;
  total: number;
  added: number;
  known: number;
  messages: number;
  failed: { name: string; why: string }[];
};

const INNER = /^conversations\/(\d{4,9}.*)\.zip$/;

/** The conversations of a file, from the oldest to the newest. Only the directory of the file is read. */
async function exportsIn(file: File): Promise<Export[]> {
  const { unzip } = await import("unzipit");
  const { entries } = await unzip(file).catch(() => ({ entries: {} }));
  const inner = Object.values(entries).filter(({ name }) => INNER.test(name));
  if (inner.length === 0) return [{ name: file.name, read: () => Promise.resolve(file) }];
  inner.sort((one, other) => (one.name < other.name ? 1 : -1));
  return inner.map((entry) => ({ name: INNER.exec(entry.name)?.[1] ?? entry.name, read: () => entry.blob("application/zip") }));
}

/** Imports files, and reports after each conversation. One that fails doesn't keep the others out. */
export async function importFiles(files: File[], report: (progress: Progress) => void, signal: AbortSignal): Promise<void> {
  const exports = (await Promise.all(files.map(exportsIn))).flat();
  const progress: Progress = { done: 0, total: exports.length, added: 0, known: 0, messages: 0, failed: [] };
  report(progress);
  for (const { name, read } of exports) {
    try {
      const imported = await send(await read(), signal);
      progress[imported.new ? "added" : "known"]++;
      if (!imported.new) progress.messages += imported.added_messages;
    } catch (error) {
      if (signal.aborted) return;
      progress.failed.push({ name, why: wordsOf(error) });
    }
    progress.done++;
    report({ ...progress });
  }
}

/** Sends a conversation. Waits if there are too many requests, and tries again if the server can't be reached. */
async function send(body: Blob, signal: AbortSignal): Promise<Imported> {
  for (let round = 0; ; round++) {
    try {
      return await api.send<Imported>("/api/conversations/import", body, "application/zip", { signal });
    } catch (error) {
      const again = error instanceof ApiError && (error.status === 0 || error.status === 429 || error.status === 503);
      if (!again || (error.status !== 429 && round >= 3)) throw error;
      await pause(Math.max(waitOf(round), 1000 * (error.retryAfter ?? 0)));
      signal.throwIfAborted();
    }
  }
}
