// Days of the reader's time zone, and the moments that they begin and end at.

/** The moments of a period of days such as 2026-05-01: its first one, and the one after its last. */
export const startOf = (day: string): string | null => momentOf(day, 0);
export const endOf = (day: string): string | null => momentOf(day, 1);

function momentOf(day: string, after: number): string | null {
  const [year = 0, month = 0, date = 0] = day.split("-").map(Number);
  const moment = new Date(2000, 0);
  moment.setFullYear(year, month - 1, date + after); // years before 100, too
  return year > 0 && !Number.isNaN(moment.getTime()) && year < 9999 ? moment.toISOString() : null;
}

/** The day that begins at a moment, or with `before` the one that ends there; empty if there is none. */
export function dayAt(moment: string | null, before = 0): string {
  if (!moment) return "";
  const date = new Date(Date.parse(moment) - before);
  const parts = [date.getFullYear(), date.getMonth() + 1, date.getDate()];
  return parts.map((part, index) => String(part).padStart(index ? 2 : 4, "0")).join("-");
}
