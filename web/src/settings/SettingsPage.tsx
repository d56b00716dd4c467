// What a person may set: the model of new conversations, what every model is told, light or dark.
import { useEffect, useState } from "preact/hooks";
import type { ViewProps } from "../App";
import { api } from "../api";
import { Bar } from "../chat/Bar";
import { ModelPicker } from "../models/ModelPicker";
import { useHouse } from "../state/House";
import { applyTheme } from "../theme";
import type { Theme } from "../types";
import { Button, toast } from "../ui";

const themes: [Theme, string][] = [
  ["system", "As the system"],
  ["light", "Light"],
  ["dark", "Dark"],
];

export function SettingsPage(view: ViewProps) {
  const { settings, model, me, save } = useHouse();
  const [instructions, setInstructions] = useState(settings.instructions);
  useEffect(() => setInstructions(settings.instructions), [settings.instructions]);
  useEffect(() => {
    document.title = "Settings – Show & Tell";
  }, []);
  const changed = instructions !== settings.instructions;
  const keep = (change: Parameters<typeof save>[0]) => save(change).catch(() => {});
  return (
    <>
      <Bar {...view}>
        <h1 className="bar-title">Settings</h1>
      </Bar>
      <div className="talk">
        <div className="column settings">
          <section aria-labelledby="settings-model">
            <h2 id="settings-model">Model of new conversations</h2>
            <p className="soft">Each conversation may switch at any time.</p>
            <div className="settings-row">
              <ModelPicker
                label="Model of new conversations"
                chosen={model}
                onChoose={(id) => void keep({ model: id })}
              />
              {settings.model && (
                <Button look="quiet" onClick={() => void keep({ model: null })}>
                  Use the server’s choice
                </Button>
              )}
            </div>
          </section>
          <section aria-labelledby="settings-instructions">
            <h2 id="settings-instructions">Instructions</h2>
            <p className="soft">
              Every model is told this before your messages: how to answer, in which language, what to keep in mind.
            </p>
            <form
              onSubmit={(event) => {
                event.preventDefault();
                void save({ instructions }).then(() => toast("Saved."), () => {});
              }}
            >
              <textarea
                className="field"
                aria-labelledby="settings-instructions"
                rows={6}
                maxLength={20000}
                value={instructions}
                onInput={(event) => setInstructions(event.currentTarget.value)}
              />
              <Button look="main" type="submit" disabled={!changed}>
                Save
              </Button>
            </form>
          </section>
          <fieldset>
            <legend>Look</legend>
            <div className="choices">
              {themes.map(([theme, words]) => (
                <label key={theme} className="choice">
                  <input
                    type="radio"
                    name="theme"
                    checked={settings.theme === theme}
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
              {me.mode === "accounts" && (
                <Button onClick={() => void signOut()}>Sign out</Button>
              )}
            </div>
          )}
        </div>
      </div>
    </>
  );
}

/** Ends this browser's visit. By fetch: without a referrer, a form would be taken for another site's. */
async function signOut(): Promise<void> {
  const { to } = await api.post<{ to: string }>("/logout");
  location.assign(to);
}
