// A table as CSV (RFC 4180).

/** Cells that a spreadsheet would take for a formula get an apostrophe, but not numbers.
 *  https://owasp.org/www-community/attacks/CSV_Injection */
const FORMULA = /^[=@\t\r]|^[+-](?![\d.,\s]*%?$)/;

export function toCsv(table: HTMLTableElement): string {
  const rows = [...table.rows].map((row) => [...row.cells].map((cell) => quoted(cell.innerText.trim())).join(","));
  return rows.join("\r\n") + "\r\n";
}

function quoted(text: string): string {
  const safe = FORMULA.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
