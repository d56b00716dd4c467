// Shows a failed action as a toast. Signed-out errors are skipped, because the page shows them itself.
import { ApiError, wordsOf } from "../api";
import { toast } from "../ui";

export function showError(error: unknown, before = ""): void {
  if (error instanceof ApiError && error.status === 401) return;
  if (error instanceof DOMException && error.name === "AbortError") return;
  toast(before + wordsOf(error), "bad");
}
