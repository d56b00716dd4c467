// Headings of the list: pinned, today, yesterday, the last seven days, then months.
import { dateOf, t } from "../language";
import type { Own } from "../types";

export function dayOf(changed: Date, now: Date): string {
  const midnight = new Date(now.getFullYear(), now.getMonth(), now.getDate());
  const back = (days: number) => new Date(midnight.getFullYear(), midnight.getMonth(), midnight.getDate() - days);
  if (changed >= midnight) return t("sidebar.today");
  if (changed >= back(1)) return t("sidebar.yesterday");
  if (changed >= back(7)) return t("sidebar.lastSevenDays");
  return dateOf(changed, { month: "long", year: "numeric" });
}

export function byDay(rows: readonly Own[], now: Date): { day: string; rows: Own[] }[] {
  const groups = new Map<string, Own[]>();
  for (const row of rows) {
    const day = row.pinned ? t("sidebar.pinned") : dayOf(new Date(row.changed * 1000), now);
    groups.set(day, [...(groups.get(day) ?? []), row]);
  }
  return [...groups].map(([day, found]) => ({ day, rows: found }));
}
