// The models by provider, with a search box that also accepts ids of models that aren't listed.
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { rich, t } from "../language";
import { touches } from "../state/media";
import type { Model } from "../types";
import { AudioIcon, CheckIcon, DocumentIcon, ImageIcon, VideoIcon } from "../ui";
import { InspectorNote } from "./InspectorNote";

type Props = { models: Model[]; chosen: string | null; onChoose: (model: Model) => void };

export function ModelList({ models, chosen, onChoose }: Props) {
  const [words, setWords] = useState("");
  const box = useRef<HTMLInputElement>(null);
  useEffect(() => {
    if (!touches) box.current?.focus(); // an on-screen keyboard would cover the list
  }, []);
  const groups = useMemo(() => grouped(models, words), [models, words]);
  const typed = typedModel(models, words);
  return (
    <>
      <input
        className="field"
        type="search"
        aria-label={t("models.search")}
        placeholder={t("models.searchShort")}
        ref={box}
        value={words}
        onInput={(event) => setWords(event.currentTarget.value)}
        onKeyDown={(event) => {
          const first = typed ?? groups[0]?.[1].find((model) => model.available);
          if (event.key === "Enter" && first) onChoose(first);
        }}
      />
      <p className="model-legend">
        {rich("models.legend", {
          native: (words) => <span className="sees-native">{words}</span>,
          relocated: (words) => <span className="sees-relocated">{words}</span>,
          converted: (words) => <span className="sees-converted">{words}</span>,
        })}
      </p>
      <div className="model-groups">
        {groups.map(([provider, found]) => (
          <section key={provider} aria-label={provider}>
            <h3>{provider}</h3>
            {provider === "inspector" && <InspectorNote />}
            {sharedWhy(found) && <p className="model-why" lang="en">{sharedWhy(found)}</p>}
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
                    {model.available && <SeesIcons sees={model.sees} />}
                    {!model.available && !sharedWhy(found) && <span className="model-why" lang="en">{model.why}</span>}
                  </button>
                </li>
              ))}
            </ul>
          </section>
        ))}
        {typed && (
          <button type="button" className="model-row" onClick={() => onChoose(typed)}>
            {rich("models.ask", { id: typed.id, code: (words) => <code>{words}</code> })}
          </button>
        )}
        {groups.length === 0 && !typed && (
          <p className="soft">
            {closedWhy(models, words) ?? t("models.noMatch")}
          </p>
        )}
      </div>
    </>
  );
}

/** The reason shared by all models of a provider, shown once. */
function sharedWhy(models: Model[]): string | null {
  const why = models[0]?.why ?? null;
  return models.every((model) => !model.available && model.why === why) ? why : null;
}

/** A model that isn't listed, of an available provider. */
function typedModel(models: Model[], words: string): Model | null {
  const id = words.trim();
  const [provider, ...rest] = id.split(":");
  if (!rest.join(":") || models.some((model) => model.id === id)) return null;
  const open = models.some((model) => model.available && model.id.startsWith(`${provider}:`));
  return open ? { id, provider: provider ?? "", name: rest.join(":"), available: true, why: null, sees: {}, takes: {} } : null;
}

/** Why a model that isn't listed is unavailable: its provider is. */
function closedWhy(models: Model[], words: string): string | null {
  const provider = words.trim().split(":")[0] ?? "";
  const closed = models.find((model) => words.includes(":") && model.id.startsWith(`${provider}:`));
  return closed?.why ? t("models.closed", { provider, why: closed.why }) : null;
}

/** Matching models by provider; available models and their providers first. */
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
  ["image", ImageIcon],
  ["document", DocumentIcon],
  ["audio", AudioIcon],
  ["video", VideoIcon],
] as const;

function SeesIcons({ sees }: { sees: Model["sees"] }) {
  return (
    <span className="sees">
      {kinds.map(([kind, Icon]) => {
        const how = sees[kind];
        if (!how || how === "noted") return null;
        const label = t("models.sees", { kind, how });
        return (
          <span key={kind} className={`sees-${how}`} role="img" aria-label={label} title={label}>
            <Icon size={16} />
          </span>
        );
      })}
    </span>
  );
}
