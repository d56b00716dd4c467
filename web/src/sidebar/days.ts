// Headings of the list: today, yesterday, the last seven days, then months.
import { dateOf, t } from "../language";
import type { Listed } from "../types";

export function dayOf(changed: Date, now: Date): string {
  const midnight = new Date(now.getFullYear(), now.getMonth(), now.getDate());
  const back = (days: number) => new Date(midnight.getFullYear(), midnight.getMonth(), midnight.getDate() - days);
  if (changed >= midnight) return t("sidebar.today");
  if (changed >= back(1)) return t("sidebar.yesterday");
  if (changed >= back(7)) return t("sidebar.lastSevenDays");
  return dateOf(changed, { month: "long", year: "numeric" });
}

export function byDay(rows: readonly Listed[], now: Date): { day: string; rows: Listed[] }[] {
  const groups = new Map<string, Listed[]>();
  for (const row of rows) {
    const day = dayOf(new Date(row.changed * 1000), now);
    groups.set(day, [...(groups.get(day) ?? []), row]);
  }
  return [...groups].map(([day, found]) => ({ day, rows: found }));
}
