// The dialog of a shared conversation: its owner sees and changes who has access; other people may leave it.
import { useState } from "preact/hooks";
import { api, wordsOf } from "../api";
import { go } from "../router";
import { notify } from "../state/list";
import { useLoaded } from "../state/loading";
import { showError } from "../state/showError";
import type { Conversation } from "../types";
import { Button, Dialog, Spinner } from "../ui";

type Props = { conversation: Conversation; onClose: () => void };
type Right = "reader" | "writer";
type Share = { name: string; right: Right };

const rights: Record<Right, string> = { reader: "may read", writer: "may read and write" };
const sharesOf = (id: string) => `/api/conversations/${encodeURIComponent(id)}/shares`;

export function Sharing(props: Props) {
  return props.conversation.shared_by === null ? <Owned {...props} /> : <Received {...props} />;
}

function Received({ conversation, onClose }: Props) {
  const leave = async () => {
    try {
      await api.del(`${sharesOf(conversation.id)}/me`);
      go("/");
      notify({ what: "list" });
    } catch (error) {
      showError(error, "Not left: ");
    }
  };
  const right = conversation.right === "writer" ? "read it and write in it" : "read it";
  return (
    <Dialog open onClose={onClose} title="Shared with you">
      <p>
        {conversation.shared_by} shares this conversation with you. You may {right}.
      </p>
      <p className="soft">If you leave, it is gone from your list until it is shared with you again.</p>
      <div className="dialog-actions">
        <Button onClick={onClose}>Stay</Button>
        <Button look="danger" onClick={() => void leave()}>
          Leave
        </Button>
      </div>
    </Dialog>
  );
}

function Owned({ conversation, onClose }: Props) {
  const path = sharesOf(conversation.id);
  const loaded = useLoaded(path, (signal) => api.get<{ shares: Share[] }>(path, { signal }));
  const [problem, setProblem] = useState<string | null>(null);
  const change = async (name: string, right: Right | null) => {
    try {
      await api.put(`${path}/${encodeURIComponent(name)}`, { right });
      setProblem(null);
      loaded.again();
      return true;
    } catch (error) {
      setProblem(wordsOf(error));
      return false;
    }
  };
  const shares = loaded.value?.shares;
  return (
    <Dialog open onClose={onClose} title="Share this conversation">
      {!shares && (loaded.error ? <p role="alert">{loaded.error.text}</p> : <Spinner label="Loading" />)}
      {shares?.length === 0 && <p className="soft">Only you can see it.</p>}
      {shares && shares.length > 0 && (
        <ul className="shares" aria-label="People with access">
          {shares.map(({ name, right }) => (
            <li key={name}>
              <span className="share-name">{name}</span>
              <span className="soft">{rights[right]}</span>
              <Button look="quiet" aria-label={`Stop sharing with ${name}`} onClick={() => void change(name, null)}>
                Remove
              </Button>
            </li>
          ))}
        </ul>
      )}
      <NewShare onShare={change} />
      {problem && (
        <p className="share-problem" role="alert">
          {problem}
        </p>
      )}
    </Dialog>
  );
}

function NewShare({ onShare }: { onShare: (name: string, right: Right) => Promise<boolean> }) {
  const [name, setName] = useState("");
  const [right, setRight] = useState<Right>("reader");
  return (
    <form
      className="share-form"
      onSubmit={(event) => {
        event.preventDefault();
        void onShare(name.trim(), right).then((done) => done && setName(""));
      }}
    >
      <label>
        Name or account id
        <input
          className="field"
          maxLength={300}
          autoComplete="off"
          value={name}
          onInput={(event) => setName(event.currentTarget.value)}
        />
      </label>
      <label>
        Access
        <select className="field" value={right} onChange={(event) => setRight(event.currentTarget.value as Right)}>
          <option value="reader">{rights.reader}</option>
          <option value="writer">{rights.writer}</option>
        </select>
      </label>
      <Button look="main" type="submit" disabled={!name.trim()}>
        Share
      </Button>
    </form>
  );
}
