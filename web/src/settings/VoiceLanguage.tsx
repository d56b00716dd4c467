// The language of voice input: the page's, or another one. Only where the browser has voice input.
import { useState } from "preact/hooks";
import { keepVoiceLanguage, keptVoiceLanguage, makeRecognition } from "../composer/speech";
import { spokenLanguage, t } from "../language";

/** Beside those of the browser. Which of them it understands is known only to its vendor. */
const COMMON =
  "ar-EG bg-BG cs-CZ da-DK de-AT de-CH de-DE el-GR en-GB en-IN en-US es-ES es-MX fi-FI fr-CA fr-FR he-IL hi-IN hu-HU id-ID it-IT ja-JP ko-KR nb-NO nl-NL pl-PL pt-BR pt-PT ro-RO ru-RU sv-SE th-TH tr-TR uk-UA vi-VN yue-Hant-HK zh-CN zh-TW".split(" ");

export function VoiceLanguage() {
  const [chosen, choose] = useState(keptVoiceLanguage);
  if (!makeRecognition()) return null;
  const names = new Intl.DisplayNames([spokenLanguage()], { type: "language" });
  const codes = new Set([...navigator.languages.filter((code) => code.includes("-")), ...COMMON, ...(chosen ? [chosen] : [])]);
  const languages = [...codes].map((code) => [code, nameOf(names, code)] as const);
  languages.sort(([, one], [, other]) => one.localeCompare(other, spokenLanguage()));
  return (
    <div className="setting">
      <h3 id="voice-language">{t("voice.settings")}</h3>
      <select
        className="field"
        aria-labelledby="voice-language"
        value={chosen ?? ""}
        onChange={(event) => {
          const code = event.currentTarget.value || null;
          keepVoiceLanguage(code);
          choose(code);
        }}
      >
        <option value="">{t("voice.asPage")}</option>
        {languages.map(([code, name]) => (
          <option key={code} value={code}>
            {name}
          </option>
        ))}
      </select>
    </div>
  );
}

/** Some browsers name what `Intl` refuses, such as en-US@posix. */
function nameOf(names: Intl.DisplayNames, code: string): string {
  try {
    return names.of(code) ?? code;
  } catch {
    return code;
  }
}
