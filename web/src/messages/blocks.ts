// The visible parts of an answer: without empty and technical ones, files grouped, each file once. A file
// that the model places in its text moves there when the text is rendered.
import type { ToolUIPart } from "ai";
import type { Attachment } from "../files";
import type { Part } from "../types";
import { endOf, type Footnote, isSource, noteOf, type SourcePart, withMarks } from "./sources";

/** `marked` is the text with the marks of its footnotes. `isCited`: a source is that of a complete text. */
type TextBlock = { is: "text"; key: string; text: string; marked: string; notes: Footnote[]; open: boolean; isCited: boolean };

type Block =
  | TextBlock
  | { is: "reasoning"; key: string; text: string; open: boolean }
  | { is: "tool"; key: string; part: ToolUIPart }
  | { is: "userText"; key: string; text: string }
  | { is: "files"; key: string; files: Attachment[] };

export function blocksOf(parts: readonly Part[]): Block[] {
  const seen = new Set<string>();
  const blocks: Block[] = [];
  const notes: Footnote[] = [];
  parts.forEach((part, index) => {
    const key = String(index);
    if (part.type === "text" || (isSource(part) && !isAfterText(parts, index))) {
      addText(textBlockOf(parts, index, notes), blocks, isAfterText(parts, index));
    } else if (part.type === "reasoning") {
      if (part.text.trim()) blocks.push({ is: part.type, key, text: part.text, open: part.state === "streaming" });
    } else if (part.type === "data-user-text") {
      if (part.data.text.trim()) blocks.push({ is: "userText", key, text: part.data.text });
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
  return wordsFirst(blocks);
}

/** A text in which the model places files stands before the files that it leaves out. */
function wordsFirst(blocks: Block[]): Block[] {
  const at = blocks.findIndex((block) => block.is === "text" && block.text.includes("](file:"));
  const before = blocks.slice(0, at + 1);
  const files = before.filter((block) => block.is === "files");
  return [...before.filter((block) => block.is !== "files"), ...files, ...blocks.slice(at + 1)];
}

/** Whether only sources are between a part and a text, or other sources, before it. */
function isAfterText(parts: readonly Part[], index: number): boolean {
  const before = parts[index - 1];
  return before !== undefined && (before.type === "text" || isSource(before));
}

/** A text, or nothing, with the sources that follow it. */
function textBlockOf(parts: readonly Part[], index: number, notes: Footnote[]): TextBlock {
  const part = parts[index];
  const [text, from] = part?.type === "text" ? [part.text, index + 1] : ["", index];
  const sources: SourcePart[] = [];
  for (let place = from, each = parts[place]; each && isSource(each); each = parts[++place]) sources.push(each);
  const marks = new Map(
    sources.map((source) => {
      const mark = { end: endOf(source) ?? Infinity, number: noteOf(source, notes).number };
      return [`${mark.end} ${mark.number}`, mark];
    }),
  );
  const own = notes.filter((note) => [...marks.values()].some((mark) => mark.number === note.number));
  const isCited = sources.some((source) => endOf(source) === null);
  const open = part?.type === "text" && part.state === "streaming";
  const marked = text ? withMarks(text, [...marks.values()]) : text;
  return { is: "text", key: String(index), text, marked, notes: own, open, isCited };
}

/** Adds a text. APIs that cite complete texts cut a paragraph into several: these are joined again. */
function addText(block: TextBlock, blocks: Block[], isAdjacent: boolean): void {
  const last = blocks.at(-1);
  if (isAdjacent && last?.is === "text" && (last.isCited || block.isCited)) {
    const notes = [...new Set([...last.notes, ...block.notes])].toSorted((one, other) => one.number - other.number);
    const [text, marked] = [last.text + block.text, last.marked + block.marked];
    blocks[blocks.length - 1] = { ...last, text, marked, notes, open: block.open, isCited: true };
  } else if (block.text.trim() || block.notes.length > 0) blocks.push(block);
}
