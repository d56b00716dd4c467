// The visible parts of an answer: without empty and technical ones, files grouped, each file once. A file
// that the model places in its text moves there when the text is rendered.
import type { ToolUIPart } from "ai";
import type { Attachment } from "../files";
import type { Part } from "../types";

type Block =
  | { is: "text"; key: string; text: string; open: boolean }
  | { is: "reasoning"; key: string; text: string; open: boolean }
  | { is: "tool"; key: string; part: ToolUIPart }
  | { is: "files"; key: string; files: Attachment[] };

export function blocksOf(parts: readonly Part[]): Block[] {
  const seen = new Set<string>();
  const blocks: Block[] = [];
  parts.forEach((part, index) => {
    const key = String(index);
    if (part.type === "text" || part.type === "reasoning") {
      if (part.text.trim()) blocks.push({ is: part.type, key, text: part.text, open: part.state === "streaming" });
    } else if (part.type === "data-attachment") {
      const file = part.data;
      if (seen.has(file.id) || file.audience === "assistant") return;
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
