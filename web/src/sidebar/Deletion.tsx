// Confirmation dialog that deletes a conversation.
import { t } from "../language";
import type { Listed } from "../types";
import { Button, Dialog } from "../ui";

export function Deletion(p: { row: Listed; title: string; onClose: () => void; onDelete: () => void }) {
  return (
    <Dialog open onClose={p.onClose} title={t("sidebar.deleteQuestion")}>
      <p>{t("sidebar.deleteText", { title: p.title, files: p.row.files })}</p>
      <div className="dialog-actions">
        <Button onClick={p.onClose}>{t("page.keep")}</Button>
        <Button look="danger" onClick={p.onDelete}>
          {t("page.delete")}
        </Button>
      </div>
    </Dialog>
  );
}
