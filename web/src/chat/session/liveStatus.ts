// State that lasts only while an answer is streaming: tool progress, provider retries, and whether it has a worker.
import { createContext } from "preact";
import type { Data } from "../../types";

export type Live = { progress: Readonly<Record<string, Data["progress"]>>; retry: Data["retry"] | null; isWorkerLost: boolean };

export const idle: Live = { progress: {}, retry: null, isWorkerLost: false };

export const LiveContext = createContext<Live>(idle);

/** The state after a stream part. Progress is updated; any part ends the wait for a retry. */
export function applyPart(live: Live, part: { type: string; data: unknown }): Live {
  if (part.type === "data-worker") return { ...live, isWorkerLost: (part.data as Data["worker"]).state === "lost" };
  if (part.type === "data-retry") return { ...live, retry: part.data as Data["retry"] };
  if (part.type !== "data-progress") return live.retry ? { ...live, retry: null } : live;
  const progress = part.data as Data["progress"];
  const before = live.progress[progress.tool_call_id]; // a preview stays until the next one
  return { ...live, retry: null, progress: { ...live.progress, [progress.tool_call_id]: { ...before, ...progress } } };
}
