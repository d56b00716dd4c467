// Shows a failed action as a toast. Signed-out errors are skipped, because the page shows them itself.
import { ApiError, wordsOf } from "../api";
import { t } from "../language";
import { toast } from "../ui";

type Failure = "errors.notDeleted" | "errors.notLeft" | "errors.notRenamed" | "errors.notSaved" | "errors.notStopped";

/** `failure` is the message that the error becomes part of. */
export function showError(error: unknown, failure?: Failure): void {
  if (error instanceof ApiError && error.status === 401) return;
  if (error instanceof DOMException && error.name === "AbortError") return;
  toast(failure ? t(failure, { why: wordsOf(error) }) : wordsOf(error), "bad");
}
