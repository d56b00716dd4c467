// The dialog of a shared conversation: its owner sees and changes who has access; other people may leave it.
import { useState } from "preact/hooks";
import { api, wordsOf } from "../api";
import { t } from "../language";
import { go } from "../router";
import { notify } from "../state/list";
import { useLoaded } from "../state/loading";
import { showError } from "../state/showError";
import type { Conversation } from "../types";
import { Button, Dialog, Spinner } from "../ui";

type Props = { conversation: Conversation; onClose: () => void };
type Right = "reader" | "writer";
type Share = { name: string; right: Right };

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
      showError(error, "errors.notLeft");
    }
  };
  const name = conversation.shared_by ?? "";
  return (
    <Dialog open onClose={onClose} title={t("sharing.receivedTitle")}>
      <p>{t(conversation.right === "writer" ? "sharing.receivedWrite" : "sharing.receivedRead", { name })}</p>
      <p className="soft">{t("sharing.leaveNote")}</p>
      <div className="dialog-actions">
        <Button onClick={onClose}>{t("sharing.stay")}</Button>
        <Button look="danger" onClick={() => void leave()}>
          {t("sharing.leave")}
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
    <Dialog open onClose={onClose} title={t("sharing.title")}>
      {!shares && (loaded.error ? <p role="alert">{loaded.error.text}</p> : <Spinner label={t("page.loading")} />)}
      {shares?.length === 0 && <p className="soft">{t("sharing.onlyYou")}</p>}
      {shares && shares.length > 0 && (
        <ul className="shares" aria-label={t("sharing.people")}>
          {shares.map(({ name, right }) => (
            <li key={name}>
              <span className="share-name">{name}</span>
              <span className="soft">{t(`sharing.right.${right}`)}</span>
              <Button look="quiet" aria-label={t("sharing.stop", { name })} onClick={() => void change(name, null)}>
                {t("sharing.remove")}
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
        {t("sharing.name")}
        <input
          className="field"
          maxLength={300}
          autoComplete="off"
          value={name}
          onInput={(event) => setName(event.currentTarget.value)}
        />
      </label>
      <label>
        {t("sharing.access")}
        <select className="field" value={right} onChange={(event) => setRight(event.currentTarget.value as Right)}>
          <option value="reader">{t("sharing.right.reader")}</option>
          <option value="writer">{t("sharing.right.writer")}</option>
        </select>
      </label>
      <Button look="main" type="submit" disabled={!name.trim()}>
        {t("page.share")}
      </Button>
    </form>
  );
}
