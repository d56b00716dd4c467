// Indents JSON character by character, so that numbers and strings stay exactly as written.

export function formatJson(json: string): string {
  let [out, depth] = ["", 0];
  const broken = () => `\n${"  ".repeat(depth)}`;
  for (const token of json.match(/"(?:[^"\\]|\\.)*"?|[{}[\],:]|[^\s{}[\],:"]+/gs) ?? []) {
    if (token === "{" || token === "[") {
      depth += 1;
      out += token + broken();
    } else if (token === "}" || token === "]") {
      depth = Math.max(0, depth - 1);
      const before = out.trimEnd();
      out = before.endsWith(token === "}" ? "{" : "[") ? before + token : before + broken() + token;
    } else if (token === ",") out += token + broken();
    else out += token === ":" ? ": " : token;
  }
  return out;
}
