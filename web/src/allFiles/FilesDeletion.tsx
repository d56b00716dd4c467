// Confirmation dialog that deletes files in all of their conversations.
import { useRef, useState } from "preact/hooks";
import { api } from "../api";
import { sizeOf, t } from "../language";
import { notify } from "../state/list";
import { showError } from "../state/showError";
import { Button, Dialog, toast } from "../ui";
import type { UsedFile } from "./useFileList";

/** Files that a request deletes. */
const MAX_IDS = 100;

type Props = {
  files: readonly UsedFile[];
  /** Called after each request. */
  onDeleted: (ids: ReadonlySet<string>) => void;
  /** `failed`: not all are deleted, because something else has changed or the server can't be reached. */
  onClose: (failed: boolean) => void;
};

export function FilesDeletion({ files: chosen, onDeleted, onClose }: Props) {
  const [files] = useState(chosen); // those that were asked about, while their rows disappear
  const [done, setDone] = useState<number | null>(null);
  const isLeft = useRef(false);
  const remove = async () => {
    setDone(0);
    try {
      for (let start = 0; start < files.length && !isLeft.current; start += MAX_IDS) {
        const ids = files.slice(start, start + MAX_IDS).map((file) => file.id);
        await api.del(`/api/files?${new URLSearchParams(ids.map((id) => ["ids", id]))}`);
        onDeleted(new Set(ids));
        setDone(start + ids.length);
      }
      if (!isLeft.current) toast(t("allFiles.deleted", { count: files.length }));
    } catch (error) {
      showError(error, "errors.notDeleted");
      if (!isLeft.current) onClose(true);
      return;
    } finally {
      notify({ what: "list" });
    }
    if (!isLeft.current) onClose(false);
  };
  const leave = () => {
    isLeft.current = true;
    onClose(false);
  };
  return (
    <Dialog open onClose={leave} title={t("allFiles.deleteQuestion", { count: files.length })}>
      <p className="a-file-words">{textOf(files)}</p>
      <p role="status">{done !== null && files.length > MAX_IDS && t("allFiles.deleting", { done, total: files.length })}</p>
      <div className="dialog-actions">
        <Button onClick={leave}>{t("page.keep")}</Button>
        <Button look="danger" disabled={done !== null} onClick={() => void remove()}>
          {t("page.delete")}
        </Button>
      </div>
    </Dialog>
  );
}

/** What is deleted, and in how many conversations it is shown. The list names only some of very many places. */
function textOf(files: readonly UsedFile[]): string {
  const conversations = new Set(files.flatMap((file) => file.places.map((place) => place.conversation_id))).size;
  const more = files.some((file) => file.more_places > 0) ? "yes" : "no";
  const size = sizeOf(files.reduce((sum, file) => sum + (file.size ?? 0), 0));
  const [first] = files;
  return files.length === 1 && first
    ? t("allFiles.deleteOne", { name: first.name, size, conversations, more })
    : t("allFiles.deleteMany", { size, conversations, more });
}
