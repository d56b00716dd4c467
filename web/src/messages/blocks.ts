// The parts of an answer as they are shown: empty and technical ones left out, files gathered, each file once.
import type { ToolUIPart } from "ai";
import type { Attachment } from "../files";
import type { Part } from "../types";

export type Block =
  | { is: "text"; key: string; text: string; open: boolean }
  | { is: "reasoning"; key: string; text: string; open: boolean }
  | { is: "tool"; key: string; part: ToolUIPart }
  | { is: "files"; key: string; files: Attachment[] };

export function blocksOf(parts: readonly Part[]): Block[] {
  const placed = placedInText(parts);
  const seen = new Set<string>();
  const blocks: Block[] = [];
  parts.forEach((part, index) => {
    const key = String(index);
    if (part.type === "text" || part.type === "reasoning") {
      if (part.text.trim()) blocks.push({ is: part.type, key, text: part.text, open: part.state === "streaming" });
    } else if (part.type === "data-attachment") {
      const file = part.data;
      if (seen.has(file.id) || (file.number !== null && placed.has(file.number))) return;
      seen.add(file.id);
      const last = blocks.at(-1);
      if (last?.is === "files") last.files.push(file);
      else blocks.push({ is: "files", key: file.id, files: [file] });
    } else if (part.type.startsWith("tool-")) {
      const tool = part as ToolUIPart;
      blocks.push({ is: "tool", key: tool.toolCallId, part: tool });
    }
  });
  return blocks;
}

/** The numbers of files that the model placed itself, by `![caption](file:5)`. */
function placedInText(parts: readonly Part[]): Set<number> {
  const found = new Set<number>();
  for (const part of parts) {
    if (part.type !== "text") continue;
    for (const [, number] of part.text.matchAll(/!\[[^\]]*\]\(\s*file:(\d{1,6})[^)]*\)/g)) found.add(Number(number));
  }
  return found;
}
