// Changes to a conversation of the list, with a way back.
import { api } from "../api";
import { t } from "../language";
import { go } from "../router";
import { notify } from "../state/list";
import { showError } from "../state/showError";
import type { Own } from "../types";
import { toast } from "../ui";

export type Changes = { title?: string; pinned?: boolean; archived?: boolean; tags?: string[] };

const addressOf = (id: string) => `/api/conversations/${encodeURIComponent(id)}`;

/** Stores changes, and returns them as they are stored. */
export const store = (id: string, changes: Changes) => api.patch<Required<Changes>>(addressOf(id), changes);

/** Changes a conversation, says so, and offers to undo what moves it. An error is shown. */
export async function change(row: Own, changes: Changes): Promise<void> {
  try {
    const stored = await store(row.id, changes);
    if (changes.title !== undefined) notify({ what: "title", id: row.id, title: stored.title });
    else notify({ what: "list" });
    report(row, changes);
  } catch (error) {
    showError(error, changes.title === undefined ? "errors.notSaved" : "errors.notRenamed");
  }
}

function report(row: Own, { pinned, archived }: Changes): void {
  if (pinned !== undefined) toast(t(pinned ? "finding.isPinned" : "finding.isUnpinned"), "plain", () => void change(row, { pinned: !pinned }));
  if (archived !== undefined) toast(t(archived ? "finding.isArchived" : "finding.isTakenBack"), "plain", () => void change(row, { archived: !archived }));
}

/** Deletes a conversation, and leaves it. An error is shown. */
export async function erase(row: Own, isCurrent: boolean): Promise<void> {
  try {
    await api.del(addressOf(row.id));
    if (isCurrent) go("/");
  } catch (error) {
    showError(error, "errors.notDeleted");
  }
  notify({ what: "list" });
}
