// The models by provider, with a search box that also accepts ids of models that aren't listed.
import "./list.css";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { dayOf, factsOf, numberOf, rich, t } from "../language";
import { useApp } from "../state/AppProvider";
import { touches } from "../state/media";
import type { Model } from "../types";
import { AudioIcon, CheckIcon, DocumentIcon, IconButton, ImageIcon, StarIcon, VideoIcon } from "../ui";
import { InspectorNote } from "./InspectorNote";

type Props = { models: Model[]; chosen: string | null; onChoose: (model: Model) => void };

export function ModelList({ models, chosen, onChoose }: Props) {
  const [words, setWords] = useState("");
  const box = useRef<HTMLInputElement>(null);
  useEffect(() => {
    if (!touches) box.current?.focus(); // an on-screen keyboard would cover the list
  }, []);
  const { settings, save } = useApp();
  const favourites = settings?.favourites ?? [];
  const [first] = useState(favourites); // a model that is starred stays where it is while the list is open
  const { starred, groups, closed } = useMemo(() => grouped(models, words, first), [models, words]);
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
          const best = typed ?? starred[0] ?? groups[0]?.[1][0];
          if (event.key === "Enter" && best) onChoose(best);
        }}
      />
      <div className="model-groups">
        {[...(starred.length ? [["", starred] as const] : []), ...groups].map(([provider, found]) => (
          <section key={provider} aria-label={provider || t("models.favourites")}>
            <h3>{provider || t("models.favourites")}</h3>
            {provider === "inspector" && <InspectorNote />}
            <ul>
              {found.map((model) => (
                <li key={model.id}>
                  <button type="button" className="model-row" aria-pressed={model.id === chosen} onClick={() => onChoose(model)}>
                    <span className="model-row-name">
                      {model.name}
                      {model.id === chosen && <CheckIcon size={16} />}
                    </span>
                    <span className="model-facts">
                      {factsOf([!provider && model.provider, windowOf(model), model.released && dayOf(model.released)])}
                    </span>
                    <Sees sees={model.sees} />
                  </button>
                  {settings && (
                    <IconButton
                      small
                      className="model-star"
                      label={t("models.star", { name: model.name })}
                      aria-pressed={favourites.includes(model.id)}
                      icon={<StarIcon />}
                      onClick={() => void save(favourites.includes(model.id) ? { unstar: model.id } : { star: model.id }).catch(() => {})}
                    />
                  )}
                </li>
              ))}
            </ul>
          </section>
        ))}
        {typed && (
          <button type="button" className="model-row" onClick={() => onChoose(typed)}>
            <span className="model-row-name">{rich("models.ask", { id: typed.id, code: (words) => <code>{words}</code> })}</span>
          </button>
        )}
        {groups.length + starred.length === 0 && !typed && <p className="soft">{closedWhy(models, words) ?? t("models.noMatch")}</p>}
        {closed.length > 0 && (
          <details className="model-closed" key={`${groups.length + starred.length > 0}`} open={groups.length + starred.length === 0 && !typed}>
            <summary>{t("models.notAvailable", { count: closed.length })}</summary>
            <dl>
              {closed.map(([provider, why]) => (
                <div key={provider}>
                  <dt>{provider}</dt>
                  <dd lang="en">{why}</dd>
                </div>
              ))}
            </dl>
          </details>
        )}
      </div>
    </>
  );
}

const windowOf = ({ context }: Model) => Boolean(context) && t("models.context", { tokens: numberOf(context ?? 0, { notation: "compact" }) });

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

/** Matching models: the starred ones, those by provider that can be asked, and for the others their providers' reasons. */
function grouped(models: Model[], words: string, favourites: string[]) {
  const wanted = words.toLowerCase().split(/\s+/).filter(Boolean);
  const groups = new Map<string, Model[]>();
  const closed = new Map<string, string>();
  const starred: Model[] = [];
  const unlisted = favourites.flatMap((id) => typedModel(models, id) ?? []);
  for (const model of [...models, ...unlisted]) {
    const text = `${model.id} ${model.name} ${model.provider}`.toLowerCase();
    if (!wanted.every((word) => text.includes(word))) continue;
    if (model.available && favourites.includes(model.id)) starred.push(model);
    else if (model.available) groups.set(model.provider, [...(groups.get(model.provider) ?? []), model]);
    else closed.set(model.provider, model.why ?? "");
  }
  return { starred, groups: [...groups], closed: [...closed] };
}

const kinds = [
  ["image", ImageIcon],
  ["document", DocumentIcon],
  ["audio", AudioIcon],
  ["video", VideoIcon],
] as const;

/** How a tool's files reach the model: a shape and a word for each way, with the kinds of files. */
function Sees({ sees }: { sees: Model["sees"] }) {
  return (
    <span className="sees">
      {(["native", "relocated", "converted"] as const).map((how) => {
        const found = kinds.filter(([kind]) => sees[kind] === how);
        if (!found.length) return null;
        const label = found.map(([kind]) => t("models.sees", { kind, how })).join(", ");
        return (
          <span key={how} className={`sees-way sees-${how}`} role="img" aria-label={label} title={label}>
            {found.map(([kind, Icon]) => (
              <Icon key={kind} size={14} />
            ))}
            {t(`matrix.word.${how}`)}
          </span>
        );
      })}
    </span>
  );
}
