// The user's settings: default model, instructions, appearance.
import { useEffect, useRef, useState } from "preact/hooks";
import { api } from "../api";
import { keepDraft, keptDraft } from "../composer/drafts";
import { ModelPicker } from "../models/ModelPicker";
import { useApp } from "../state/AppProvider";
import { Missing } from "../state/Missing";
import { showError } from "../state/showError";
import { applyTheme, keptTheme } from "../theme";
import type { Theme } from "../types";
import { Button, toast } from "../ui";

const themes: [Theme, string][] = [
  ["system", "As the system"],
  ["light", "Light"],
  ["dark", "Dark"],
];

export function SettingsPage() {
  const { settings, model, me, save } = useApp();
  useEffect(() => {
    document.title = "Settings – Show & Tell";
  }, []);
  const keep = (change: Parameters<typeof save>[0]) => save(change).catch(() => {});
  const shown = settings?.theme ?? keptTheme();
  return (
    <div className="column settings">
      <h1>Settings</h1>
      <section aria-labelledby="settings-model">
        <h2 id="settings-model">Model of new conversations</h2>
        <p className="soft">Each conversation may switch at any time.</p>
        <div className="settings-row">
          <ModelPicker label="Model of new conversations" chosen={model} onChoose={(id) => void keep({ model: id })} />
          {settings?.model && (
            <Button look="quiet" onClick={() => void keep({ model: null })}>
              Use the server’s choice
            </Button>
          )}
        </div>
      </section>
      <Instructions />
      <fieldset>
        <legend>Look</legend>
        <div className="choices">
          {themes.map(([theme, words]) => (
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
              {words}
            </label>
          ))}
        </div>
      </fieldset>
      {me && (
        <div className="settings-row">
          <p className="soft">
            Show &amp; Tell {me.version}
            {me.mode === "alone" ? ", for you alone" : `, signed in as ${me.name ?? me.user}`}.
            {me.mode === "accounts" && (
              <>
                {" "}
                Account id, with which others can share conversations with you: <code>{me.user}</code>
              </>
            )}
          </p>
          <Button onClick={() => void signOut("/logout")}>Sign out</Button>
          <Button look="quiet" onClick={() => void signOut("/logout/everywhere")}>
            Sign out everywhere
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
      <h2 id="settings-instructions">Instructions</h2>
      <p className="soft">
        Sent to every model before your messages: how to answer, in which language, what to keep in mind.
      </p>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void save({ instructions: text }).then(() => toast("Saved."), () => {});
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
          Save
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
