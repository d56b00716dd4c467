// CSV by RFC 4180, with the separator that is most frequent in the first line.

/** At most `maxRows` rows, and whether there are more. Quoted fields may contain separators, quotes and line breaks. */
export function readTable(text: string, separator = separatorOf(text), maxRows = Infinity): { rows: string[][]; more: boolean } {
  const rows: string[][] = [];
  let row: string[] = [];
  let at = text.charCodeAt(0) === 0xfeff ? 1 : 0;
  while (at < text.length) {
    if (rows.length >= maxRows) return { rows, more: true };
    const field = readField(text, at, separator);
    row.push(field.value);
    at = field.end;
    if (text[at] === separator) {
      at += 1;
      if (at < text.length) continue;
      row.push("");
    }
    rows.push(row);
    row = [];
    at += text[at] === "\r" && text[at + 1] === "\n" ? 2 : 1;
  }
  return { rows, more: false };
}

function readField(text: string, start: number, separator: string): { value: string; end: number } {
  if (text[start] !== '"') return readPlain(text, start, separator);
  let value = "";
  let from = start + 1;
  for (;;) {
    const quote = text.indexOf('"', from);
    if (quote < 0) return { value: value + text.slice(from), end: text.length };
    value += text.slice(from, quote);
    if (text[quote + 1] !== '"') {
      const rest = readPlain(text, quote + 1, separator);
      return { value: value + rest.value, end: rest.end };
    }
    value += '"';
    from = quote + 2;
  }
}

function readPlain(text: string, start: number, separator: string): { value: string; end: number } {
  let end = start;
  while (end < text.length && text[end] !== separator && text[end] !== "\n" && text[end] !== "\r") end += 1;
  return { value: text.slice(start, end), end };
}

function separatorOf(text: string): string {
  const line = /^[^\r\n]*/.exec(text)?.[0] ?? "";
  const counts = [",", ";", "\t", "|"].map((one) => ({ one, count: line.split(one).length }));
  return counts.reduce((best, next) => (next.count > best.count ? next : best)).one;
}
