// Editor for one of the user's messages, sent or not. Sending starts a new branch; the old one stays.
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { keepDraft, keptDraft } from "../composer/drafts";
import { isSending } from "../composer/sending";
import { type Attachment, labelOf } from "../files";
import { t } from "../language";
import { Button, CloseIcon, IconButton } from "../ui";

type Props = {
  /** Key of the draft. */
  place: string;
  text: string;
  files: readonly Attachment[];
  /** What saving does. By default it sends. */
  note?: string;
  action?: string;
  onSave: (text: string, files: readonly Attachment[]) => void;
  onCancel: () => void;
};

export function EditBox({ place, text, files, note, action, onSave, onCancel }: Props) {
  const [draft] = useState(() => keptDraft(place));
  const [value, setValue] = useState(draft || text);
  const [left, setLeft] = useState<ReadonlySet<string>>(new Set());
  const box = useRef<HTMLTextAreaElement>(null);
  useLayoutEffect(() => {
    if (draft) return; // a restored draft doesn't take the focus: the view stays at the end of the conversation
    box.current?.focus();
    box.current?.setSelectionRange(text.length, text.length);
  }, []);
  const remaining = files.filter((file) => !left.has(file.id));
  const ready = Boolean(value.trim() || remaining.length);
  const save = () => ready && onSave(value.trim(), remaining);
  return (
    <form
      className="edit-box"
      onSubmit={(event) => {
        event.preventDefault();
        save();
      }}
    >
      {remaining.length > 0 && (
        <ul className="edit-files" aria-label={t("messages.editFiles")}>
          {remaining.map((file) => (
            <li key={file.id}>
              <strong>{labelOf(file)}</strong> {file.number !== null && <span className="file-name">{file.name}</span>}
              <IconButton
                small
                label={t("messages.leaveOut", { name: file.name })}
                icon={<CloseIcon size={16} />}
                onClick={() => {
                  setLeft(new Set([...left, file.id]));
                  box.current?.focus();
                }}
              />
            </li>
          ))}
        </ul>
      )}
      <textarea
        ref={box}
        className="field"
        aria-label={t("messages.editBox")}
        rows={Math.min(12, value.split("\n").length + 1)}
        value={value}
        onInput={(event) => {
          setValue(event.currentTarget.value);
          keepDraft(place, event.currentTarget.value);
        }}
        onKeyDown={(event) => {
          if (event.key === "Escape") onCancel();
          if (!isSending(event)) return;
          event.preventDefault();
          save();
        }}
      />
      <p className="soft">{note ?? t("messages.editNote")}</p>
      <div className="dialog-actions">
        <Button onClick={onCancel}>{t("page.cancel")}</Button>
        <Button look="main" type="submit" disabled={!ready}>
          {action ?? t("composer.send")}
        </Button>
      </div>
    </form>
  );
}
