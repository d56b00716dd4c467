/** A value as JSON for people. Arguments that a browser would refuse or round come as their text. */
export function pretty(value: unknown): string {
  if (typeof value === "string") return value;
  return value === undefined ? "" : JSON.stringify(value, null, 2);
}
