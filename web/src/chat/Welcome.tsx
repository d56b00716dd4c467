// Start screen: one sentence about the product and three examples.
import { useState } from "preact/hooks";
import { api } from "../api";
import type { Attachment } from "../files";
import { factsOf, t } from "../language";
import { isInspector } from "../models/findModel";
import { InspectorNote } from "../models/InspectorNote";
import { showError } from "../state/showError";
import { useLoaded } from "../state/loading";
import type { Example } from "../types";
import { ArrowRightIcon, AttachIcon, Spinner } from "../ui";

type Props = {
  model: string | null;
  onExample: (text: string, attachments: Attachment[], models: string[]) => void;
};

export function Welcome({ model, onExample }: Props) {
  const examples = useLoaded("examples", (signal) => api.get<{ examples: Example[] }>("/api/examples", { signal }));
  const [busy, setBusy] = useState<string | null>(null);
  const start = async ({ name, models }: Example) => {
    if (busy) return;
    setBusy(name);
    try {
      const { text, attachments } = await api.post<{ text: string; attachments: Attachment[] }>(
        `/api/examples/${encodeURIComponent(name)}`,
      );
      onExample(text, attachments, models);
    } catch (error) {
      showError(error);
      setBusy(null);
    }
  };
  return (
    <section className="welcome">
      <h1>{t("welcome.question")}</h1>
      <p>{t("welcome.text")}</p>
      {isInspector(model) && <InspectorNote />}
      {examples.value && (
        <ul className="examples">
          {examples.value.examples.map((example) => (
            <li key={example.name}>
              <Card example={example} starts={busy === example.name} onStart={() => void start(example)} />
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}

function Card({ example, starts, onStart }: { example: Example; starts: boolean; onStart: () => void }) {
  return (
    <button type="button" className="example" lang="en" disabled={starts} onClick={onStart}>
      <span className="example-title">
        {example.title}
        {starts ? <Spinner label={t("welcome.starting")} /> : <ArrowRightIcon size={18} />}
      </span>
      <span className="example-text">{example.text}</span>
      {example.files.length > 0 && (
        <span className="example-files">
          <AttachIcon size={14} /> {factsOf(example.files)}
        </span>
      )}
    </button>
  );
}
