// The user's settings: default model, instructions, appearance.
import { useEffect, useRef, useState } from "preact/hooks";
import { api } from "../api";
import { keepDraft, keptDraft } from "../composer/drafts";
import { rich, t } from "../language";
import { ModelPicker } from "../models/ModelPicker";
import { useApp } from "../state/AppProvider";
import { Missing } from "../state/Missing";
import { showError } from "../state/showError";
import { applyTheme, keptTheme } from "../theme";
import type { Theme } from "../types";
import { Button, toast } from "../ui";
import { LanguageChoice } from "./LanguageChoice";

const themes: readonly Theme[] = ["system", "light", "dark"];

export function SettingsPage() {
  const { settings, model, me, save } = useApp();
  useEffect(() => {
    document.title = t("page.title", { title: t("settings.title") });
  }, []);
  const keep = (change: Parameters<typeof save>[0]) => save(change).catch(() => {});
  const shown = settings?.theme ?? keptTheme();
  return (
    <div className="column settings">
      <h1>{t("settings.title")}</h1>
      <section aria-labelledby="settings-model">
        <h2 id="settings-model">{t("settings.model")}</h2>
        <p className="soft">{t("settings.modelNote")}</p>
        <div className="settings-row">
          <ModelPicker label={t("settings.model")} chosen={model} onChoose={(id) => void keep({ model: id })} />
          {settings?.model && (
            <Button look="quiet" onClick={() => void keep({ model: null })}>
              {t("settings.serverChoice")}
            </Button>
          )}
        </div>
      </section>
      <Instructions />
      <fieldset>
        <legend>{t("settings.look")}</legend>
        <div className="choices">
          {themes.map((theme) => (
            <label key={theme} className="choice">
              <input
                type="radio"
                name="theme"
                checked={shown === theme}
                onChange={() => {
                  applyTheme(theme);
                  void keep({ theme });
                }}
              />
              {t(`settings.theme.${theme}`)}
            </label>
          ))}
        </div>
      </fieldset>
      <LanguageChoice />
      {me && (
        <div className="settings-row">
          <p className="soft">
            {me.mode === "alone"
              ? t("settings.aboutAlone", { version: me.version })
              : t("settings.aboutUser", { version: me.version, name: me.name ?? me.user })}{" "}
            {me.mode === "accounts" && rich("settings.accountId", { id: me.user, code: (words) => <code>{words}</code> })}
          </p>
          <Button onClick={() => void signOut("/logout")}>{t("settings.signOut")}</Button>
          <Button look="quiet" onClick={() => void signOut("/logout/everywhere")}>
            {t("settings.signOutEverywhere")}
          </Button>
        </div>
      )}
    </div>
  );
}

/** Draft key of unsaved instructions. */
const place = "instructions";

/** Disabled until the settings are loaded, so that stored instructions aren't overwritten. */
function Instructions() {
  const { settings, save } = useApp();
  const stored = settings?.instructions ?? "";
  const [text, setText] = useState(() => keptDraft(place) || stored);
  const before = useRef(stored);
  useEffect(() => keepDraft(place, text === stored ? "" : text), [text, stored]);
  useEffect(() => {
    setText((now) => (now === before.current ? stored : now)); // keep unsaved edits
    before.current = stored;
  }, [stored]);
  return (
    <section aria-labelledby="settings-instructions">
      <h2 id="settings-instructions">{t("settings.instructions")}</h2>
      <p className="soft">{t("settings.instructionsNote")}</p>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void save({ instructions: text }).then(() => toast(t("settings.saved")), () => {});
        }}
      >
        <textarea
          className="field"
          aria-labelledby="settings-instructions"
          rows={6}
          maxLength={20000}
          disabled={!settings}
          value={text}
          onInput={(event) => setText(event.currentTarget.value)}
        />
        {!settings && <Missing />}
        <Button look="main" type="submit" disabled={!settings || text === stored}>
          {t("settings.save")}
        </Button>
      </form>
    </section>
  );
}

/** Signs out by fetch, because the server would reject a form without a referrer as cross-site. */
async function signOut(path: "/logout" | "/logout/everywhere"): Promise<void> {
  try {
    const { to } = await api.post<{ to: string }>(path);
    location.assign(to);
  } catch (error) {
    showError(error);
  }
}
