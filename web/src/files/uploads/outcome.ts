// How the selected model will receive a file, shown before it is sent.
import { type PlainKey, t } from "../../language";
import type { Model } from "../../types";
import type { Attachment } from "../attachment";
import type { Kind } from "../kind";

type Outcome = { isRefused: boolean; words: string };

/** Notes by kind and outcome. Native files and the text of text files need none. */
const notes: Partial<Record<Kind, Partial<Record<string, PlainKey>>>> = {
  image: { converted: "uploads.otherFormat", words: "uploads.described" },
  document: { converted: "uploads.asPages", words: "uploads.asText" },
  audio: { converted: "uploads.otherFormat", words: "uploads.asSpeech" },
  video: { converted: "uploads.asPictures", words: "uploads.asSpeech" },
  other: { for_tools: "uploads.forTools" },
};

/** Null if there is nothing to note: the file is sent unchanged, or the outcome is unknown. */
export function outcomeOf({ kind }: Pick<Attachment, "kind">, model: Model | undefined): Outcome | null {
  const outcome = model?.takes[kind];
  if (!model || !outcome) return null;
  if (outcome === "refused") {
    return { isRefused: true, words: t("uploads.refused", { model: model.name, kind }) };
  }
  const note = notes[kind]?.[outcome];
  return note ? { isRefused: false, words: t(note) } : null;
}
