// A user's conversations as a whole: the storage that they take, export, import, deletion.
import type { ComponentChildren } from "preact";
import { useRef, useState } from "preact/hooks";
import { api } from "../api";
import { factsOf, t } from "../language";
import { at } from "../prefix";
import { follow } from "../router";
import { notify } from "../state/list";
import { showError } from "../state/showError";
import { Button, Dialog, toast } from "../ui";
import { importFiles, type Progress } from "./backups";
import { StorageUse, useStorage } from "./StorageUse";

export function YourData() {
  const use = useStorage();
  const changed = () => {
    use.again();
    notify({ what: "list" });
  };
  return (
    <>
      <Part title={t("data.stored")}>
        <StorageUse use={use.value} />
        <a className="button button-plain" href={at("/files")} onClick={follow}>
          {t("data.showFiles")}
        </a>
      </Part>
      <Part title={t("data.export")} note={t("data.exportNote")}>
        <a className="button button-plain" href={at("/api/conversations/export")} download>
          {t("data.exportAll")}
        </a>
      </Part>
      <Import onChange={changed} />
      <Deletion count={use.value?.conversations ?? 0} onChange={changed} />
    </>
  );
}

function Part({ title, note, children }: { title: string; note?: string; children: ComponentChildren }) {
  return (
    <div className="setting">
      <h3>{title}</h3>
      {note && <p className="soft">{note}</p>}
      {children}
    </div>
  );
}

function Import({ onChange }: { onChange: () => void }) {
  const [progress, setProgress] = useState<Progress | null>(null);
  const running = useRef<AbortController | null>(null);
  const [busy, setBusy] = useState(false);
  const input = useRef<HTMLInputElement>(null);
  const start = async (files: File[]) => {
    if (files.length === 0 || running.current) return;
    const stop = new AbortController();
    running.current = stop;
    setBusy(true);
    setProgress(null);
    try {
      await importFiles(files, setProgress, stop.signal);
    } catch (error) {
      showError(error);
    } finally {
      running.current = null;
      setBusy(false);
      onChange();
    }
  };
  return (
    <Part title={t("data.import")} note={t("data.importNote")}>
      <input
        ref={input}
        type="file"
        accept=".zip,application/zip"
        multiple
        hidden
        onChange={(event) => {
          const files = [...(event.currentTarget.files ?? [])];
          event.currentTarget.value = "";
          void start(files);
        }}
      />
      <div className="settings-row">
        {busy ? (
          <Button onClick={() => running.current?.abort()}>{t("data.stop")}</Button>
        ) : (
          <Button onClick={() => input.current?.click()}>{t("data.choose")}</Button>
        )}
        {busy && progress && <progress max={progress.total} value={progress.done} aria-label={t("data.import")} />}
      </div>
      <div role="status">{progress && <p>{busy ? doneOf(progress) : resultOf(progress)}</p>}</div>
      {progress && progress.failed.length > 0 && (
        <ul className="data-failed">
          {progress.failed.map(({ name, why }, index) => (
            <li key={index}>
              <b>{name}</b> <span lang="en">{why}</span>
            </li>
          ))}
        </ul>
      )}
    </Part>
  );
}

const doneOf = ({ done, total }: Progress) => t("data.done", { done, total });

const resultOf = ({ added, known, messages, failed, done, total }: Progress) =>
  factsOf([
    t("data.added", { count: added }),
    known > 0 && t("data.known", { count: known }),
    messages > 0 && t("data.messages", { count: messages }),
    failed.length > 0 && t("data.failed", { count: failed.length }),
    done < total && t("data.stopped", { count: total - done }),
  ]);

function Deletion({ count, onChange }: { count: number; onChange: () => void }) {
  const [asking, setAsking] = useState(false);
  const [left, setLeft] = useState<number | null>(null);
  const remove = async () => {
    setAsking(false);
    setLeft(count);
    try {
      let answer: { left: number };
      do {
        answer = await api.del<{ left: number }>("/api/conversations");
        setLeft(answer.left);
      } while (answer.left > 0);
      toast(t("data.allDeleted"));
    } catch (error) {
      showError(error);
    } finally {
      setLeft(null);
      onChange();
    }
  };
  return (
    <Part title={t("data.delete")} note={t("data.deleteNote")}>
      <div className="settings-row">
        <Button look="danger" disabled={count === 0 || left !== null} onClick={() => setAsking(true)}>
          {t("data.deleteAll")}
        </Button>
        <span role="status">{left !== null && t("data.left", { count: left })}</span>
      </div>
      <Dialog open={asking} onClose={() => setAsking(false)} title={t("data.deleteQuestion", { count })}>
        <p>{t("data.deleteText")}</p>
        <div className="dialog-actions">
          <Button onClick={() => setAsking(false)}>{t("page.keep")}</Button>
          <Button look="danger" onClick={() => void remove()}>
            {t("data.deleteAll")}
          </Button>
        </div>
      </Dialog>
    </Part>
  );
}
