// Presets: settings with a name, to fill in, to store the current ones, to rename and to delete.
import { useState } from "preact/hooks";
import { ApiError, api, wordsOf } from "../api";
import { t } from "../language";
import { useLoaded } from "../state/loading";
import type { OwnSettings } from "../types";
import { Button, EditIcon, IconButton, TrashIcon, UploadIcon } from "../ui";
import { areSame } from "./settings";

type Preset = { id: string; name: string; revision: number; settings: OwnSettings };
type Props = { settings: OwnSettings; onUse: (settings: OwnSettings) => void };

export function Presets({ settings, onUse }: Props) {
  const loaded = useLoaded("presets", (signal) => api.get<{ presets: Preset[] }>("/api/presets", { signal }));
  const [doing, setDoing] = useState<{ preset: Preset; what: "renaming" | "deleting" } | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  const [done, setDone] = useState("");
  const attempt = async (act: () => Promise<unknown>, success: string) => {
    try {
      await act();
      setProblem(null);
      setDone(success);
      setDoing(null);
      return true;
    } catch (error) {
      setDone("");
      setProblem(error instanceof ApiError && error.status === 409 ? t("ownSettings.presetStale") : wordsOf(error));
      return false;
    } finally {
      loaded.again();
    }
  };
  const change = ({ id, revision }: Preset, part: object, success: string) =>
    attempt(() => api.patch(`/api/presets/${id}`, { revision, ...part }), success);
  const presets = loaded.value?.presets ?? [];
  return (
    <section className="own-part" aria-labelledby="own-presets">
      <h3 id="own-presets">{t("ownSettings.presets")}</h3>
      <p className="soft">{t("ownSettings.presetsNote")}</p>
      {presets.length > 0 && (
        <ul className="own-presets">
          {presets.map((preset) => (
            <li key={preset.id}>
              {doing?.preset.id === preset.id ? (
                doing.what === "renaming" ? (
                  <NameBox
                    label={t("ownSettings.presetName")}
                    first={preset.name}
                    action={t("settings.save")}
                    onName={(name) => change(doing.preset, { name }, t("settings.saved"))}
                    onCancel={() => setDoing(null)}
                  />
                ) : (
                  <div className="own-row" role="group" aria-label={t("ownSettings.presetDeleteQuestion", { name: preset.name })}>
                    <span className="own-grow">{t("ownSettings.presetDeleteQuestion", { name: preset.name })}</span>
                    <Button autoFocus onClick={() => setDoing(null)}>
                      {t("page.keep")}
                    </Button>
                    <Button look="danger" onClick={() => void attempt(() => api.del(`/api/presets/${preset.id}`), t("ownSettings.presetDeleted", { name: preset.name }))}>
                      {t("page.delete")}
                    </Button>
                  </div>
                )
              ) : (
                <>
                  <button
                    type="button"
                    className="own-preset"
                    aria-pressed={areSame(preset.settings, settings)}
                    onClick={() => {
                      onUse(preset.settings);
                      setDone(t("ownSettings.presetUsed", { name: preset.name }));
                    }}
                  >
                    {preset.name}
                  </button>
                  {!areSame(preset.settings, settings) && (
                    <IconButton
                      small
                      label={t("ownSettings.presetReplace", { name: preset.name })}
                      icon={<UploadIcon />}
                      onClick={() => void change(preset, { settings }, t("ownSettings.presetReplaced", { name: preset.name }))}
                    />
                  )}
                  <IconButton small label={t("ownSettings.presetRename", { name: preset.name })} icon={<EditIcon />} onClick={() => setDoing({ preset, what: "renaming" })} />
                  <IconButton small label={t("ownSettings.presetDelete", { name: preset.name })} icon={<TrashIcon />} onClick={() => setDoing({ preset, what: "deleting" })} />
                </>
              )}
            </li>
          ))}
        </ul>
      )}
      <NameBox
        key={presets.length}
        label={t("ownSettings.presetNew")}
        first=""
        action={t("ownSettings.presetAdd")}
        onName={(name) => attempt(() => api.post("/api/presets", { name, settings }), t("ownSettings.presetAdded", { name }))}
      />
      {problem && (
        <p className="own-problem" role="alert">
          {problem}
        </p>
      )}
      <p className="soft own-done" role="status">
        {done}
      </p>
    </section>
  );
}

type NameProps = { label: string; first: string; action: string; onName: (name: string) => Promise<boolean>; onCancel?: () => void };

/** A name to enter. It isn't a form, because it is within one. */
function NameBox({ label, first, action, onName, onCancel }: NameProps) {
  const [name, setName] = useState(first);
  const submit = () => void (name.trim() && name.trim() !== first && onName(name.trim()));
  return (
    <div className="own-row">
      <input
        className="field own-grow"
        aria-label={label}
        placeholder={label}
        maxLength={60}
        autoComplete="off"
        autoFocus={first !== ""}
        value={name}
        onInput={(event) => setName(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key === "Escape" && onCancel) {
            event.preventDefault();
            event.stopPropagation();
            onCancel();
          }
          if (event.key !== "Enter") return;
          event.preventDefault(); // it would save the settings of the conversation
          submit();
        }}
      />
      <Button disabled={!name.trim() || name.trim() === first} onClick={submit}>
        {action}
      </Button>
      {onCancel && <Button look="quiet" onClick={onCancel}>{t("page.cancel")}</Button>}
    </div>
  );
}
