// What can be done if the conversation is too long for the model: it says first what would be left out.
import "./fullContext.css";
import { useState } from "preact/hooks";
import { api } from "../api";
import { useCurrentSession } from "../chat/session/useSession";
import type { Attachment } from "../files";
import { t } from "../language";
import { load, store } from "../ownSettings/settings";
import { showError } from "../state/showError";
import { useLoaded } from "../state/loading";
import type { Message, OnFull } from "../types";
import { Button } from "../ui";

type LeftOut = { messages: number; questions: string[]; more_questions: number; files: Attachment[]; more_files: number; tokens: number };
type Preview = { full: boolean; window: number | null; left_out: LeftOut | null; options: Exclude<OnFull, "error">[] };

/** Errors that may be about the length of the conversation; the server knows. */
const isSuspect = (reason: string) => /context|token|too long|length|bytes/i.test(reason);

export function FullContext({ message }: { message: Message }) {
  const session = useCurrentSession();
  const id = session.state().id;
  const reason = message.metadata?.reason ?? "";
  const key = id && isSuspect(reason) ? `${id} ${message.id} ${message.metadata?.run_id}` : null;
  const path = `/api/conversations/${encodeURIComponent(id ?? "")}`;
  const { value } = useLoaded(key, (signal) => api.get<Preview>(`${path}/full-context`, { signal }));
  const [working, setWorking] = useState(false);
  if (!id || !value?.full) return null;
  const choose = async (on_full: OnFull) => {
    setWorking(true);
    try {
      const own = await load(id);
      await store(id, { ...own, on_full }, own.revision);
      session.regenerate(message);
    } catch (error) {
      showError(error);
      setWorking(false);
    }
  };
  const { left_out: leftOut, window, options } = value;
  return (
    <section className="notice notice-warn full-context" aria-label={t("full.tooLong")}>
      <p>{window ? t("full.window", { tokens: window }) : t("full.tooLong")}</p>
      {leftOut ? <Details leftOut={leftOut} /> : <p>{t("full.nothing")}</p>}
      <div>
        {options.map((option) => (
          <Button key={option} className="when-idle" disabled={working} onClick={() => void choose(option)}>
            {option === "summarize" ? t("full.summarize", { tokens: Number(leftOut?.tokens.toPrecision(2)) }) : t("full.drop")}
          </Button>
        ))}
      </div>
      {leftOut && <p className="soft">{t("full.note")}</p>}
    </section>
  );
}

/** What is left out, in numbers, and its names behind a fold. */
function Details({ leftOut }: { leftOut: LeftOut }) {
  const { messages, questions, more_questions, files, more_files } = leftOut;
  const count = files.length + more_files;
  return (
    <details>
      <summary>{count ? t("full.messagesAndFiles", { messages, files: count }) : t("full.messages", { messages })}</summary>
      <ul>
        {questions.map((words, index) => (
          <li key={index}>{words}</li>
        ))}
        {more_questions > 0 && <li>{t("full.moreQuestions", { count: more_questions })}</li>}
        {files.map((file) => (
          <li key={file.id}>{t("full.file", { number: file.number ?? 0, name: file.name })}</li>
        ))}
        {more_files > 0 && <li>{t("full.moreFiles", { count: more_files })}</li>}
      </ul>
    </details>
  );
}
