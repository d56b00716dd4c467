// Confirmation dialog that deletes a file, mounted once per conversation.
import { useState } from "preact/hooks";
import { api } from "../api";
import { t } from "../language";
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
      showError(error, "errors.notDeleted");
    }
    p.onClose();
  };
  return (
    <Dialog open onClose={p.onClose} title={t("files.deleteQuestion")}>
      <p>
        {p.file.number === null
          ? t("files.deleteText", { name: p.file.name })
          : t("files.deleteLabelled", { label: labelOf(p.file), name: p.file.name })}
      </p>
      <div className="dialog-actions">
        <Button onClick={p.onClose}>{t("page.keep")}</Button>
        <Button look="danger" disabled={busy} onClick={() => void remove()}>
          {t("page.delete")}
        </Button>
      </div>
    </Dialog>
  );
}
