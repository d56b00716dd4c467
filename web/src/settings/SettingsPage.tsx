// What a person may set: the model of new conversations, what every model is told, light or dark.
import { useEffect, useRef, useState } from "preact/hooks";
import { api } from "../api";
import { keepDraft, keptDraft } from "../composer/drafts";
import { ModelPicker } from "../models/ModelPicker";
import { useHouse } from "../state/House";
import { Missing } from "../state/Missing";
import { applyTheme, keptTheme } from "../theme";
import type { Theme } from "../types";
import { Button, toast } from "../ui";

const themes: [Theme, string][] = [
  ["system", "As the system"],
  ["light", "Light"],
  ["dark", "Dark"],
];

export function SettingsPage() {
  const { settings, model, me, save } = useHouse();
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
            {me.mode === "accounts" ? `, signed in as ${me.user}` : ", for you alone on this machine"}.
          </p>
          {me.mode === "accounts" && <Button onClick={() => void signOut()}>Sign out</Button>}
        </div>
      )}
    </div>
  );
}

/** Under which name instructions are kept that weren't saved. */
const place = "instructions";

/** Nobody writes over instructions that weren't read. */
function Instructions() {
  const { settings, save } = useHouse();
  const stored = settings?.instructions ?? "";
  const [text, setText] = useState(() => keptDraft(place) || stored);
  const before = useRef(stored);
  useEffect(() => keepDraft(place, text === stored ? "" : text), [text, stored]);
  useEffect(() => {
    setText((now) => (now === before.current ? stored : now)); // what was begun here stays
    before.current = stored;
  }, [stored]);
  return (
    <section aria-labelledby="settings-instructions">
      <h2 id="settings-instructions">Instructions</h2>
      <p className="soft">
        Every model is told this before your messages: how to answer, in which language, what to keep in mind.
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

/** Ends this browser's visit. By fetch: without a referrer, a form would be taken for another site's. */
async function signOut(): Promise<void> {
  const { to } = await api.post<{ to: string }>("/logout");
  location.assign(to);
}
