// The language of the page: the browser's, or the user's choice.
import { useEffect, useRef, useState } from "preact/hooks";
import { keptLanguage, LANGUAGES, preferredLanguage, spokenLanguage, t } from "../language";
import { useApp } from "../state/AppProvider";
import { applyLanguage } from "../state/applyLanguage";

/** Whether the choice was made here, so that the focus returns when the page is drawn in the other language. */
let isChosen = false;

export function LanguageChoice() {
  const { save } = useApp();
  const [kept, setKept] = useState(keptLanguage);
  const box = useRef<HTMLFieldSetElement>(null);
  useEffect(() => {
    if (isChosen) box.current?.querySelector<HTMLInputElement>("input:checked")?.focus();
    isChosen = false;
  }, []);
  const choose = (language: string | null) => {
    setKept(language);
    void applyLanguage(language);
    isChosen = preferredLanguage() !== spokenLanguage();
    save({ language }).catch(() => {});
  };
  return (
    <fieldset ref={box}>
      <legend>{t("settings.language")}</legend>
      <div className="choices">
        {[null, ...LANGUAGES].map((language) => (
          <label key={language} className="choice" lang={language ?? undefined}>
            <input type="radio" name="language" checked={kept === language} onChange={() => choose(language)} />
            {language ? nameOf(language) : t("settings.languageOfBrowser")}
          </label>
        ))}
      </div>
    </fieldset>
  );
}

/** The name of a language in itself: Deutsch. */
const nameOf = (language: string) => new Intl.DisplayNames([language], { type: "language" }).of(language) ?? language;
