// Formulas in a text: `\(…\)`, `\[…\]` and `$…$` become `$$…$$`, the one form that the markdown parser is given.
const MAX_FORMULAS = 2000;
const MAX_LENGTH = 10_000;
/** What may begin something: a fence, a code span, an escaped character or bracket, dollars. */
const BEGINNING = /(?<fence>(?<=^|\n)[ \t>]*(?:`{3,}|~{3,}))|(?<ticks>`+)|(?<escaped>\\[^])|(?<dollars>\$+)/g;

/** A text for the parser. Code, prices and what has no end stay as they are. */
export function markFormulas(text: string): string {
  if (!/[\\$]/.test(text)) return text;
  const find = finder(text);
  let marked = "";
  let done = 0;
  let count = 0;
  let from = 0;
  while (count < MAX_FORMULAS) {
    BEGINNING.lastIndex = from;
    const found = BEGINNING.exec(text);
    if (!found) break;
    const { fence, ticks, escaped, dollars } = found.groups ?? {};
    from = BEGINNING.lastIndex;
    if (fence) from = find(`\n${fence}`, from) ?? find(`\n${fence.replace(/^[>\s]+/, "")}`, from) ?? text.length;
    else if (ticks) from = find(ticks, from) ?? from;
    else {
      const begin = escaped ?? dollars ?? "";
      const close = ENDS[begin];
      const end = close ? find(close, from) : null;
      if (!close || end === null) continue;
      const formula = text.slice(from, end - close.length);
      if (begin === "$$") from = end;
      if (!isFormula(formula, begin, text[end])) continue;
      marked += text.slice(done, found.index) + written(formula, begin, text, found.index, end);
      done = from = end;
      count += 1;
    }
  }
  return marked + text.slice(done);
}

const ENDS: Record<string, string> = { "\\(": "\\)", "\\[": "\\]", $: "$", $$: "$$" };

/** Searches for what ends something, and gives the place behind it. What was not found once isn't searched again. */
function finder(text: string) {
  const missing = new Set<string>();
  return (end: string, from: number): number | null => {
    const at = missing.has(end) ? -1 : text.indexOf(end, from);
    if (at < 0) missing.add(end);
    return at < 0 ? null : at + end.length;
  };
}

/** A single dollar may be a price: pandoc's rule is that no space follows the first, none precedes the last, and no
 *  digit follows it. https://pandoc.org/MANUAL.html#extension-tex_math_dollars */
function isFormula(formula: string, begin: string, next: string | undefined): boolean {
  if (!formula.trim() || formula.length > MAX_LENGTH || /\n[ \t]*\n/.test(formula)) return false;
  return begin !== "$" || (/^\S(?:[^\n]*\S)?$/.test(formula) && !/[\d$]/.test(next ?? ""));
}

/** A formula as markdown: on lines of its own if it had them, each with what its first line begins with. */
function written(formula: string, begin: string, text: string, at: number, end: number): string {
  const line = text.slice(text.lastIndexOf("\n", at - 1) + 1, at);
  const isAlone = begin === "\\[" || (begin === "$$" && /^[ \t]*(?:\n|$)/.test(text.slice(end, end + 80)));
  const lines = formula.split("\n").map((one) => one.trim().replace(/^>\s?/, ""));
  if (!isAlone || !/^[ \t>]*$/.test(line)) return `$$${lines.join(" ").trim()}$$`;
  return ["$$", ...lines.filter(Boolean), "$$"].join(`\n${line}`) + (text[end] === "\n" ? "" : `\n${line}`);
}
