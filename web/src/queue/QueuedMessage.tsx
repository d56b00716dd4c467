// One message that waits to be sent: edit, move, remove, send now.
import { useRef, useState } from "preact/hooks";
import { ApiError, wordsOf } from "../api";
import { keepDraft, keptDraft, restoreDraft } from "../composer/drafts";
import { type Attachment, labelOf } from "../files";
import { t } from "../language";
import { EditBox } from "../messages/EditBox";
import { showError } from "../state/showError";
import { DownIcon, EditIcon, IconButton, SendIcon, Spinner, toast, TrashIcon } from "../ui";
import { change, type Pending, remove, sendNow } from "./pending";

type Props = {
  message: Pending;
  conversation: string;
  index: number;
  /** Whether an answer runs, which sending now would stop. */
  busy: boolean;
  onChange: (isGone?: boolean) => Promise<void>;
};

export function QueuedMessage({ message, conversation, index, busy, onChange }: Props) {
  const place = `queue.${message.id}`;
  const [base, setBase] = useState<Pending | null>(() => (keptDraft(place) ? message : null));
  const [refusal, setRefusal] = useState("");
  const [working, setWorking] = useState(false);
  const item = useRef<HTMLLIElement>(null);

  const act = async (action: () => Promise<unknown>, isGone: boolean) => {
    setWorking(true);
    try {
      await action();
      await onChange(isGone);
    } catch (error) {
      showError(error);
      await onChange();
    }
    setWorking(false);
  };
  const close = () => {
    keepDraft(place, "");
    setBase(null);
    setRefusal("");
    setTimeout(() => item.current?.querySelector<HTMLElement>(".queue-edit")?.focus());
  };
  /** Once an older edit was refused, and the person has seen why, the next one replaces what is there. */
  const save = async (text: string, files: readonly Attachment[]) => {
    if (!base) return;
    try {
      await change(refusal ? message : base, { text, files: files.map((file) => file.id) });
      close();
    } catch (error) {
      if (error instanceof ApiError && error.status === 404) {
        keepDraft(place, "");
        restoreDraft(conversation, text, []);
        toast(t("queue.gone"), "bad");
      } else setRefusal(wordsOf(error));
    }
    await onChange();
  };
  if (base)
    return (
      <li ref={item} className="queue-item queue-editing">
        <EditBox place={place} text={base.text} files={base.files} note={t("queue.editNote")} action={t("queue.save")} onSave={(text, files) => void save(text, files)} onCancel={close} />
        {refusal && (
          <div className="queue-problem" role="alert">
            <p>{refusal}</p>
            <p>{t("queue.now", { text: summaryOf(message) })}</p>
          </div>
        )}
      </li>
    );
  const name = summaryOf(message).slice(0, 60);
  return (
    <li ref={item} className="queue-item">
      <div className="queue-text">
        {message.text && <p>{message.text}</p>}
        {message.files.length > 0 && <p className="soft">{message.files.map((file) => file.name).join(", ")}</p>}
        {message.problem && <p className="queue-problem">{t("queue.problem", { problem: message.problem })}</p>}
      </div>
      {message.sending ? (
        <Spinner />
      ) : (
        <div className="queue-actions">
          {index > 0 && (
            <IconButton small className="queue-up" label={t("queue.up", { name })} icon={<DownIcon size={16} />} disabled={working} onClick={() => void act(() => change(message, { place: index - 1 }), false)} />
          )}
          <IconButton small className="queue-edit" label={t("queue.edit", { name })} icon={<EditIcon size={16} />} disabled={working} onClick={() => setBase(message)} />
          <IconButton small label={t("queue.remove", { name })} icon={<TrashIcon size={16} />} disabled={working} onClick={() => void act(() => remove(message), true)} />
          <IconButton small label={t(busy ? "queue.stopAndSend" : "queue.send", { name })} icon={<SendIcon size={16} />} disabled={working} onClick={() => void act(() => sendNow(message), true)} />
        </div>
      )}
    </li>
  );
}

/** The message in a few words: its text, or else the names of its files. */
const summaryOf = (message: Pending) => message.text || message.files.map((file) => file.name || labelOf(file)).join(", ");
