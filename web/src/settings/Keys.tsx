// Keys of providers: which there are, and a form to test and store one. A key is never shown again.
import { flushSync } from "preact/compat";
import { useRef, useState } from "preact/hooks";
import { api, wordsOf } from "../api";
import { dateOf, factsOf, rich, t } from "../language";
import { isInspector } from "../models/findModel";
import { useApp } from "../state/AppProvider";
import { showError } from "../state/showError";
import { useLoaded } from "../state/loading";
import { Button, CheckIcon, Dialog, Spinner, toast } from "../ui";

type Use = "everyone" | "own";

type Provider = {
  id: string;
  name: string;
  key: "none" | "environment" | Use;
  needs_key: boolean;
  needs_base_url: boolean;
  /** Where requests go. */
  host: string | null;
  base_url: string | null;
  /** When the key was stored, in epoch seconds. */
  changed: number | null;
  problem: string | null;
  /** The model that new conversations can have once there is a key. */
  model: string | null;
};

type Providers = { may_set: Use[]; may_set_base_url: boolean; providers: Provider[] };

export function Keys() {
  const { model, reloadModels } = useApp();
  const [proposed, propose] = useState<Proposed | null>(null);
  const loaded = useLoaded("providers", (signal) => api.get<Providers>("/api/providers", { signal }));
  const known = loaded.value;
  const changed = () => {
    loaded.again();
    reloadModels();
  };
  const stored = (provider: Provider) => {
    if (provider.model && isInspector(model)) propose({ name: provider.name, model: provider.model, before: model });
    changed();
  };
  if (!known) return loaded.error ? <p className="soft">{wordsOf(loaded.error)}</p> : <Spinner label={t("page.loading")} />;
  if (known.providers.length === 0) return null;
  return (
    <div className="setting">
      <h3>{t("keys.title")}</h3>
      <p className="soft">{t(known.may_set.length ? "keys.note" : "keys.notAllowed")}</p>
      <ul className="keys">
        {known.providers.map((provider) => (
          <Row key={provider.id} provider={provider} known={known} onChange={changed} onStored={() => stored(provider)} />
        ))}
      </ul>
      {proposed && <Proposal {...proposed} onClose={() => propose(null)} />}
    </div>
  );
}

type Proposed = { name: string; model: string; before: string };

/** The first key of a person has just been stored: its model can answer from now on. */
function Proposal({ name, model, before, onClose }: Proposed & { onClose: () => void }) {
  const { save } = useApp();
  const choose = (id: string) => {
    onClose();
    void save({ model: id }).then(() => id === model && toast(t("keys.offerTaken", { model })), () => {});
  };
  return (
    <Dialog open onClose={onClose} title={t("keys.offerTitle", { name })}>
      <p>{rich("keys.offerText", { model, code: (words) => <code>{words}</code> })}</p>
      <div className="dialog-actions">
        <Button onClick={() => choose(before)}>{t("keys.offerKeep")}</Button>
        <Button look="main" onClick={() => choose(model)}>
          {t("keys.offerTake")}
        </Button>
      </div>
    </Dialog>
  );
}

type RowProps = { provider: Provider; known: Providers; onChange: () => void; onStored: () => void };

function Row({ provider, known, onChange, onStored }: RowProps) {
  const [open, setOpen] = useState(false);
  const [asking, setAsking] = useState(false);
  const row = useRef<HTMLLIElement>(null);
  const { name } = provider;
  const stored = provider.key === "everyone" || provider.key === "own";
  const may = mayEnter(provider, known);
  const close = () => {
    flushSync(() => setOpen(false));
    row.current?.querySelector("button")?.focus();
  };
  const remove = async () => {
    setAsking(false);
    try {
      await api.del(`/api/providers/${provider.id}/key?use=${provider.key}`);
      toast(t("keys.deleted", { name }));
      onChange();
    } catch (error) {
      showError(error);
    }
  };
  return (
    <li className="key-row" ref={row}>
      <div className="key-head">
        <span className="key-name">{name}</span>
        <span className={provider.key === "none" ? "soft" : "key-state"}>
          {provider.key !== "none" && !provider.problem && <CheckIcon size={16} />}
          {stateOf(provider)}
        </span>
        {may && !open && (
          <Button aria-label={t(stored ? "keys.replaceOf" : "keys.enterOf", { name })} onClick={() => setOpen(true)}>
            {t(stored ? "keys.replace" : "keys.enter")}
          </Button>
        )}
        {stored && known.may_set.includes(provider.key as Use) && !open && (
          <Button look="quiet" aria-label={t("keys.deleteOf", { name })} onClick={() => setAsking(true)}>
            {t("keys.delete")}
          </Button>
        )}
      </div>
      <Dialog open={asking} onClose={() => setAsking(false)} title={t("keys.deleteQuestion", { name })}>
        <p>{t("keys.deleteText", { use: provider.key })}</p>
        <div className="dialog-actions">
          <Button onClick={() => setAsking(false)}>{t("page.keep")}</Button>
          <Button look="danger" onClick={() => void remove()}>
            {t("keys.delete")}
          </Button>
        </div>
      </Dialog>
      {provider.problem && <p className="key-problem" lang="en">{provider.problem}</p>}
      {open && (
        <KeyForm
          provider={provider}
          known={known}
          onClose={close}
          onSaved={() => {
            close();
            toast(t("keys.stored", { name }));
            onStored();
          }}
        />
      )}
    </li>
  );
}

/** The text that a form sends. It is never a draft: drafts are stored in the browser. */
type Sent = { api_key: string; base_url?: string; use: Use };

function KeyForm({ provider, known, onClose, onSaved }: Pick<RowProps, "provider" | "known"> & { onClose: () => void; onSaved: () => void }) {
  const [problem, setProblem] = useState<string | null>(null);
  const [busy, setBusy] = useState(false);
  const uses = usesOf(provider, known);
  const first = uses.includes(provider.key as Use) ? (provider.key as Use) : uses[0];
  const submit = async (form: HTMLFormElement) => {
    setBusy(true);
    setProblem(null);
    try {
      await api.put(`/api/providers/${provider.id}/key`, read(form, first));
      onSaved();
    } catch (error) {
      setProblem(wordsOf(error));
      setBusy(false);
    }
  };
  return (
    <form
      className="key-form"
      autocomplete="off"
      aria-label={t("keys.enterOf", { name: provider.name })}
      onKeyDown={(event) => event.key === "Escape" && onClose()}
      onSubmit={(event) => {
        event.preventDefault();
        if (!busy) void submit(event.currentTarget);
      }}
    >
      <label>
        {t(provider.needs_key ? "keys.key" : "keys.optionalKey")}
        <input
          className="field"
          name="api_key"
          type="password"
          autocomplete="off"
          spellcheck={false}
          maxLength={4096}
          required={provider.needs_key}
          ref={focus}
        />
      </label>
      {known.may_set_base_url && (
        <label>
          {t(provider.needs_base_url ? "keys.baseUrl" : "keys.optionalBaseUrl")}
          <input
            className="field"
            name="base_url"
            type="url"
            autocomplete="off"
            spellcheck={false}
            maxLength={2048}
            required={provider.needs_base_url}
            placeholder={provider.host ?? ""}
            defaultValue={provider.base_url ?? ""}
          />
        </label>
      )}
      {uses.length > 1 && (
        <fieldset>
          <legend>{t("keys.use")}</legend>
          <div className="choices">
            {uses.map((use) => (
              <label key={use} className="choice">
                <input type="radio" name="use" value={use} defaultChecked={use === first} />
                {t(`keys.use.${use}`)}
              </label>
            ))}
          </div>
        </fieldset>
      )}
      {problem && <p role="alert" className="key-problem" lang="en">{problem}</p>}
      <div className="settings-row">
        <Button look="main" type="submit" aria-disabled={busy}>
          {busy ? <Spinner label={t("keys.testing")} /> : t("keys.test")}
        </Button>
        <Button look="quiet" onClick={onClose}>
          {t("keys.cancel")}
        </Button>
      </div>
    </form>
  );
}

const focus = (input: HTMLInputElement | null) => input?.focus();

/** For whom a key of a provider can be stored: a base URL is for everyone. */
const usesOf = (provider: Provider, known: Providers) =>
  known.may_set.filter((use) => use === "everyone" || (provider.needs_key && !provider.needs_base_url));

const mayEnter = (provider: Provider, known: Providers) => usesOf(provider, known).length > 0;

function read(form: HTMLFormElement, first: Use | undefined): Sent {
  const data = new FormData(form);
  const text = (name: string) => String(data.get(name) ?? "").trim();
  const base = text("base_url");
  return { api_key: text("api_key"), use: (text("use") || first || "everyone") as Use, ...(base && { base_url: base }) };
}

function stateOf({ key, changed, base_url }: Provider): string {
  if (key === "none" || key === "environment") return t(`keys.state.${key}`);
  const day = changed === null ? null : dateOf(new Date(changed * 1000), { dateStyle: "medium" });
  return factsOf([t(`keys.state.${key}`), day, base_url]);
}
