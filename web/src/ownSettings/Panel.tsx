// The panel for the settings of one conversation: they are stored when they are saved, and kept here until then.
import { useEffect, useState } from "preact/hooks";
import { ApiError, wordsOf } from "../api";
import { t } from "../language";
import { ModelPicker } from "../models/ModelPicker";
import { useLoaded } from "../state/loading";
import type { OwnSettings } from "../types";
import { Button, Dialog, Spinner, WarnIcon } from "../ui";
import { Presets } from "./Presets";
import { areSame, load, NOTHING, offered, store, type Stored, useChoices } from "./settings";
import { isOutside, Temperature } from "./Temperature";
import { Tools } from "./Tools";
import { WhenFull } from "./WhenFull";

type Props = {
  id: string | null;
  own: OwnSettings | null;
  model: string | null;
  onSaved: (saved: OwnSettings | null) => void;
  onClose: () => void;
};

/** Edits that were not saved, by conversation, until the page is reloaded: a panel is closed easily. */
const unsaved = new Map<string, Stored>();

export function Panel({ id, own, ...rest }: Props) {
  const stored = useLoaded(id && `settings ${id}`, (signal) => load(id ?? "", signal));
  const base: Stored | null = id === null ? { ...(own ?? NOTHING), revision: 0 } : stored.value;
  return (
    <Dialog open onClose={rest.onClose} title={t("ownSettings.title")} place="side" className="own">
      {base ? (
        <Form key={base.revision} id={id} base={base} onReload={stored.set} {...rest} />
      ) : stored.error ? (
        <p role="alert">{stored.error.text}</p>
      ) : (
        <Spinner label={t("page.loading")} />
      )}
    </Dialog>
  );
}

type FormProps = Omit<Props, "own"> & { base: Stored; onReload: (stored: Stored) => void };

function Form({ id, base, model, onReload, onSaved, onClose }: FormProps) {
  const kept = unsaved.get(id ?? "");
  const [form, setForm] = useState<OwnSettings>(kept?.revision === base.revision ? kept : base);
  const [stale, setStale] = useState<Stored | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  const [busy, setBusy] = useState(false);
  const choices = useChoices(form.model ?? model).value;
  const change = (part: Partial<OwnSettings>) => setForm((before) => ({ ...before, ...part }));
  const isChanged = !areSame(form, base);
  useEffect(() => {
    if (id === null) return;
    if (isChanged) unsaved.set(id, { ...form, revision: base.revision });
    else unsaved.delete(id);
  }, [form, base]);
  const save = async (revision: number) => {
    const chosen = choices ? offered(form, choices) : form;
    setBusy(true);
    try {
      if (id !== null) await store(id, chosen, revision);
      unsaved.delete(id ?? "");
      onSaved(areSame(chosen, NOTHING) ? null : chosen);
      onClose();
    } catch (error) {
      const isStale = id !== null && error instanceof ApiError && error.status === 409;
      setStale(isStale ? await load(id).catch(() => null) : null);
      setProblem(isStale ? null : wordsOf(error));
      setBusy(false);
    }
  };
  return (
    <form
      className="own-form"
      onSubmit={(event) => {
        event.preventDefault();
        void save(stale?.revision ?? base.revision);
      }}
    >
      <Presets settings={choices ? offered(form, choices) : form} onUse={(settings) => change(choices ? offered(settings, choices) : settings)} />
      <div className="own-part">
        <h3>{t("models.label")}</h3>
        <p className="soft">{t(form.model ? "ownSettings.modelFixed" : "ownSettings.modelFree")}</p>
        <div className="own-row">
          <ModelPicker chosen={form.model ?? model} onChoose={(chosen) => change({ model: chosen })} />
          {form.model && (
            <Button look="quiet" onClick={() => change({ model: null })}>
              {t("ownSettings.modelAny")}
            </Button>
          )}
        </div>
      </div>
      <label className="own-part">
        <h3>{t("settings.instructions")}</h3>
        <span className="soft">{t("ownSettings.instructionsNote")}</span>
        <textarea className="field" rows={5} maxLength={20000} value={form.instructions} onInput={(event) => change({ instructions: event.currentTarget.value })} />
      </label>
      <Temperature choices={choices} chosen={form.temperature} onChange={(temperature) => change({ temperature })} />
      <WhenFull chosen={form.on_full} onChange={(on_full) => setForm(({ on_full: _, ...before }) => (on_full ? { ...before, on_full } : before))} />
      <Tools choices={choices} chosen={form.tools} onChange={(tools) => change({ tools })} />
      {stale && (
        <div className="notice notice-warn" role="alert">
          <WarnIcon />
          <span>{t("ownSettings.stale")}</span>
          <Button onClick={() => onReload(stale)}>{t("ownSettings.showStored")}</Button>
        </div>
      )}
      {problem && (
        <p className="own-problem" role="alert">
          {t("errors.notSaved", { why: problem })}
        </p>
      )}
      <div className="own-actions">
        <Button look="quiet" disabled={areSame(form, NOTHING)} onClick={() => setForm(NOTHING)}>
          {t("ownSettings.clear")}
        </Button>
        <Button look="main" type="submit" disabled={busy || isOutside(choices, form.temperature) || !(isChanged || stale)}>
          {t(stale ? "ownSettings.saveAnyway" : "settings.save")}
        </Button>
      </div>
    </form>
  );
}
