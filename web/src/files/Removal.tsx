// Confirmation dialog that deletes a file, mounted once per conversation.
import { useState } from "preact/hooks";
import { api } from "../api";
import { showError } from "../state/showError";
import { Button, Dialog } from "../ui";
import { labelOf, type Attachment } from "./attachment";

/** `onDeleted` receives the updated file; `onClose` is called when the dialog closes. */
export function Removal(p: { file: Attachment; onDeleted(file: Attachment): void; onClose(): void }) {
  const [busy, setBusy] = useState(false);
  const remove = async () => {
    setBusy(true);
    const address = `/api/attachments/${encodeURIComponent(p.file.id)}`;
    try {
      await api.del(address);
      p.onDeleted(await api.get<Attachment>(address));
    } catch (error) {
      showError(error, "Not deleted: ");
    }
    p.onClose();
  };
  return (
    <Dialog open onClose={p.onClose} title="Delete this file?">
      <p>
        {p.file.number === null ? "" : `${labelOf(p.file)}, `}“{p.file.name}”: its bytes will be gone for good. Its name and
        number stay.
      </p>
      <div className="dialog-actions">
        <Button onClick={p.onClose}>Keep it</Button>
        <Button look="danger" disabled={busy} onClick={() => void remove()}>
          Delete
        </Button>
      </div>
    </Dialog>
  );
}
