// An answer that ended early, and how it is gone on with.
import type { Message } from "../../types";

/** Whether it goes on without a word: its last step called tools, and may be followed by another. Else words were cut. */
export function goesOnByItself({ parts, metadata }: Message): boolean {
  const last = parts.findLast((part) => part.type === "data-step");
  return last?.data["stop"] === "tool_calls" && metadata?.reason !== "steps";
}
