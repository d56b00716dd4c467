// highlight.js with its common languages, as a tree in place of HTML.
import type { Root } from "hast";
import { common, createLowlight } from "lowlight";

const lowlight = createLowlight(common);

/** The code as a tree of spans; null for a language that isn't known. */
export function highlight(language: string, code: string): Root | null {
  return lowlight.registered(language) ? lowlight.highlight(language, code) : null;
}
