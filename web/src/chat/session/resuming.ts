// How to continue an answer that ended early.
import type { Message } from "../../types";

/** Whether the run can continue without a new message: the last step called tools. Otherwise text was cut off. */
export function resumesAutomatically({ parts, metadata }: Message): boolean {
  const last = parts.findLast((part) => part.type === "data-step");
  return last?.data["stop"] === "tool_calls" && metadata?.reason !== "steps";
}
