// The state of the answer for screen readers.
import { t } from "../language";
import { blocksOf } from "../messages/blocks";
import type { Message } from "../types";

type AnswerState = {
  /** The stream's state on this page. */
  status: "submitted" | "streaming" | "ready" | "error";
  /** Whether the server writes an answer that this page may not follow yet, as after a reload. */
  running: boolean;
  problem: string | null;
  last: Message | undefined;
};

/** An answer is there once it has ended, if there is anything of it to see. */
export function statusText({ status, running, problem, last }: AnswerState): string {
  if (status === "submitted" || status === "streaming") return t("chat.writing");
  if (problem) return "";
  if (running) return t("chat.writing");
  return last?.role === "assistant" && blocksOf(last.parts).length > 0 ? t("chat.there") : "";
}
