// How the selected model will receive a file, shown before it is sent.
import type { Model } from "../../types";
import type { Attachment } from "../attachment";
import type { Kind } from "../kind";

type Outcome = { isRefused: boolean; words: string };

const names: Record<Kind, string> = {
  image: "an image",
  document: "a document",
  audio: "a sound",
  video: "a film",
  text: "a text",
  other: "a file of this kind",
};

/** Notes by kind and outcome. Native files and the text of text files need none. */
const notes: Partial<Record<Kind, Partial<Record<string, string>>>> = {
  image: { converted: "given in another format", words: "described in words by another model" },
  document: { converted: "given as pictures of its pages", words: "given as its text" },
  audio: { converted: "given in another format", words: "given as what is said in it, written down" },
  video: { converted: "given as pictures of it", words: "given as what is said in it, written down" },
};

/** Null if there is nothing to note: the file is sent unchanged, or the outcome is unknown. */
export function outcomeOf({ kind }: Pick<Attachment, "kind">, model: Model | undefined): Outcome | null {
  const outcome = model?.takes[kind];
  if (!model || !outcome) return null;
  if (outcome === "refused") {
    const remedy = kind === "other" ? "Take it out." : "Choose another model, or take it out.";
    return { isRefused: true, words: `${model.name} can’t be shown ${names[kind]}. ${remedy}` };
  }
  const words = notes[kind]?.[outcome];
  return words ? { isRefused: false, words } : null;
}
