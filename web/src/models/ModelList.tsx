// The models by provider, and a box to search them. Any id may be typed: not every model is in a list.
import { useMemo, useState } from "preact/hooks";
import type { Model, Sees } from "../types";
import { AudioIcon, CheckIcon, DocumentIcon, ImageIcon, VideoIcon } from "../ui";

type Props = { models: Model[]; chosen: string | null; onChoose: (model: Model) => void };

export function ModelList({ models, chosen, onChoose }: Props) {
  const [words, setWords] = useState("");
  const groups = useMemo(() => grouped(models, words), [models, words]);
  return (
    <>
      <input
        className="field"
        type="search"
        aria-label="Search models"
        placeholder="Search"
        autoFocus
        value={words}
        onInput={(event) => setWords(event.currentTarget.value)}
        onKeyDown={(event) => {
          const first = groups[0]?.[1].find((model) => model.available);
          if (event.key === "Enter" && first) onChoose(first);
        }}
      />
      <div className="model-groups">
        {groups.map(([provider, found]) => (
          <section key={provider} aria-label={provider}>
            <h3>{provider}</h3>
            <ul>
              {found.map((model) => (
                <li key={model.id}>
                  <button
                    type="button"
                    className="model-row"
                    disabled={!model.available}
                    aria-pressed={model.id === chosen}
                    onClick={() => onChoose(model)}
                  >
                    <span className="model-row-name">{model.name}</span>
                    {model.id === chosen && <CheckIcon size={16} />}
                    {model.available ? <SeesIcons sees={model.sees} /> : <span className="model-why">{model.why}</span>}
                  </button>
                </li>
              ))}
            </ul>
          </section>
        ))}
        {groups.length === 0 && <p className="soft">No model is called that.</p>}
      </div>
    </>
  );
}

/** Available ones first within a provider, and providers with one of them first. */
function grouped(models: Model[], words: string): [string, Model[]][] {
  const wanted = words.toLowerCase().split(/\s+/).filter(Boolean);
  const groups = new Map<string, Model[]>();
  for (const model of models) {
    const text = `${model.id} ${model.name} ${model.provider}`.toLowerCase();
    if (!wanted.every((word) => text.includes(word))) continue;
    groups.set(model.provider, [...(groups.get(model.provider) ?? []), model]);
  }
  const there = (found: Model[]) => (found.some((model) => model.available) ? 0 : 1);
  const sorted = [...groups].map(([provider, found]): [string, Model[]] => [
    provider,
    found.toSorted((one, other) => Number(other.available) - Number(one.available)),
  ]);
  return sorted.toSorted(([, one], [, other]) => there(one) - there(other));
}

const kinds = [
  ["image", "Images", ImageIcon],
  ["document", "Documents", DocumentIcon],
  ["audio", "Audio", AudioIcon],
  ["video", "Video", VideoIcon],
] as const;

const meanings: Record<Sees, string> = {
  native: "seen where tools return them",
  relocated: "seen in a message after the tool’s result",
  converted: "seen in another form",
  noted: "told of, not seen",
};

function SeesIcons({ sees }: { sees: Model["sees"] }) {
  return (
    <span className="sees">
      {kinds.map(([kind, word, Icon]) => {
        const how = sees[kind];
        if (!how || how === "noted") return null;
        return (
          <span key={kind} className={`sees-${how}`} role="img" aria-label={`${word}: ${meanings[how]}`} title={`${word}: ${meanings[how]}`}>
            <Icon size={16} />
          </span>
        );
      })}
    </span>
  );
}
