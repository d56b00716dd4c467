// The user's settings in sections, with a list of them beside it, or above it on phones.
import "./settings.css";
import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { api } from "../api";
import { keepDraft, keptDraft } from "../composer/drafts";
import { type PlainKey, rich, t } from "../language";
import { ModelPicker } from "../models/ModelPicker";
import { useApp } from "../state/AppProvider";
import { Missing } from "../state/Missing";
import { showError } from "../state/showError";
import { Shortcuts } from "../sidebar/Shortcuts";
import { applyTheme, keptTheme } from "../theme";
import type { Theme } from "../types";
import { Button, toast } from "../ui";
import { Conversations } from "./Conversations";
import { Keys } from "./Keys";
import { LanguageChoice } from "./LanguageChoice";
import { VoiceLanguage } from "./VoiceLanguage";
import { YourData } from "./YourData";

const themes: readonly Theme[] = ["system", "light", "dark"];

/** The sections in order. */
const SECTIONS: readonly { id: string; title: PlainKey; Body: () => ComponentChildren }[] = [
  { id: "models", title: "settings.models", Body: ModelsAndKeys },
  { id: "instructions", title: "settings.instructions", Body: Instructions },
  { id: "conversations", title: "settings.conversations", Body: Conversations },
  { id: "appearance", title: "settings.appearance", Body: Appearance },
  { id: "data", title: "settings.data", Body: YourData },
  { id: "account", title: "settings.account", Body: Account },
];

export function SettingsPage() {
  useEffect(() => {
    document.title = t("page.title", { title: t("settings.title") });
  }, []);
  return (
    <div className="settings">
      <h1>{t("settings.title")}</h1>
      <nav aria-label={t("settings.sections")}>
        {SECTIONS.map(({ id, title }) => (
          <a key={id} href={`#settings-${id}`} onClick={show}>
            {t(title)}
          </a>
        ))}
      </nav>
      <div className="settings-sections">
        {SECTIONS.map(({ id, title, Body }) => (
          <section key={id} aria-labelledby={`settings-${id}`}>
            <h2 id={`settings-${id}`} tabIndex={-1}>
              {t(title)}
            </h2>
            <Body />
          </section>
        ))}
      </div>
    </div>
  );
}

/** Goes to the section of a link, without an entry in the history. */
function show(event: MouseEvent): void {
  event.preventDefault();
  const heading = document.querySelector<HTMLElement>(`${(event.currentTarget as HTMLAnchorElement).hash}`);
  heading?.closest("section")?.scrollIntoView({ block: "start", behavior: "smooth" });
  heading?.focus({ preventScroll: true });
}

function ModelsAndKeys() {
  return (
    <>
      <ModelChoice />
      <Keys />
    </>
  );
}

function ModelChoice() {
  const { settings, model, save } = useApp();
  const keep = (id: string | null) => void save({ model: id }).catch(() => {});
  return (
    <div className="setting">
      <h3>{t("settings.model")}</h3>
      <p className="soft">{t("settings.modelNote")}</p>
      <div className="settings-row">
        <ModelPicker label={t("settings.model")} chosen={model} onChoose={keep} />
        {settings?.model && (
          <Button look="quiet" onClick={() => keep(null)}>
            {t("settings.serverChoice")}
          </Button>
        )}
      </div>
    </div>
  );
}

function Appearance() {
  const { settings, save } = useApp();
  const shown = settings?.theme ?? keptTheme();
  return (
    <>
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
                  save({ theme }).catch(() => {});
                }}
              />
              {t(`settings.theme.${theme}`)}
            </label>
          ))}
        </div>
      </fieldset>
      <LanguageChoice />
      <Keyboard />
      <VoiceLanguage />
    </>
  );
}

function Keyboard() {
  const [open, setOpen] = useState(false);
  return (
    <div className="setting">
      <h3>{t("shortcuts.settings")}</h3>
      <p className="soft">{t("shortcuts.settingsNote")}</p>
      <Button onClick={() => setOpen(true)}>{t("shortcuts.title")}</Button>
      {open && <Shortcuts onClose={() => setOpen(false)} />}
    </div>
  );
}

function Account() {
  const { me } = useApp();
  if (!me) return null;
  return (
    <div className="setting">
      <p className="soft">
        {me.mode === "alone"
          ? t("settings.aboutAlone", { version: me.version })
          : t("settings.aboutUser", { version: me.version, name: me.name ?? me.user })}{" "}
        {me.mode === "accounts" && rich("settings.accountId", { id: me.user, code: (words) => <code>{words}</code> })}
      </p>
      <div className="settings-row">
        <Button onClick={() => void signOut("/logout")}>{t("settings.signOut")}</Button>
        <Button look="quiet" onClick={() => void signOut("/logout/everywhere")}>
          {t("settings.signOutEverywhere")}
        </Button>
      </div>
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
    <div className="setting">
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
    </div>
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
