// Stores a message that is sent when the running answer has ended.
import type { Session } from "../chat/session/session";
import { newId } from "../chat/session/client";
import { restoreDraft } from "../composer/drafts";
import type { Attachment } from "../files";
import { notify } from "../state/list";
import { showError } from "../state/showError";
import { add } from "./pending";

/** A message that the server doesn't take returns to the composer. */
export async function queueMessage(session: Session, model: string | null, text: string, attachments: readonly Attachment[]): Promise<void> {
  const id = session.state().id ?? "";
  try {
    const files = attachments.map((file) => file.id);
    await add({ conversation_id: id, message_id: newId(), text, files, model });
  } catch (error) {
    restoreDraft(id, text, attachments);
    showError(error);
  }
  tellTabs(session, id);
}

/** Lets this and other tabs see what has changed. */
export function tellTabs(session: Session, id: string): void {
  void session.refreshQuietly();
  notify({ what: "run", id });
}
