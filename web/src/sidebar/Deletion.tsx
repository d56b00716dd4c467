// Confirmation dialog that deletes a conversation.
import type { Listed } from "../types";
import { Button, Dialog } from "../ui";

export function Deletion(p: { row: Listed; title: string; onClose: () => void; onDelete: () => void }) {
  const { files } = p.row;
  return (
    <Dialog open onClose={p.onClose} title="Delete this conversation?">
      <p>
        “{p.title}”{files > 0 && ` and its ${files === 1 ? "file" : `${files} files`}`} will be gone for good.
      </p>
      <div className="dialog-actions">
        <Button onClick={p.onClose}>Keep it</Button>
        <Button look="danger" onClick={p.onDelete}>
          Delete
        </Button>
      </div>
    </Dialog>
  );
}
