// Says that something the person asked for didn't happen. Being signed out is told by the whole page, not here.
import { ApiError, wordsOf } from "../api";
import { toast } from "../ui";

export function complain(error: unknown, before = ""): void {
  if (error instanceof ApiError && error.status === 401) return;
  if (error instanceof DOMException && error.name === "AbortError") return;
  toast(before + wordsOf(error), "bad");
}
