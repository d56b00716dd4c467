// The temperature of a conversation: a number in the range of the model's API, or nothing.
import { useState } from "preact/hooks";
import { t } from "../language";
import type { Choices } from "./settings";

type Props = { choices: Choices | null; chosen: number | null; onChange: (chosen: number | null) => void };

export const isOutside = (choices: Choices | null, chosen: number | null) =>
  choices !== null && chosen !== null && !(chosen >= 0 && chosen <= choices.max_temperature);

export function Temperature({ choices, chosen, onChange }: Props) {
  const [text, setText] = useState("");
  const isWrong = isOutside(choices, chosen);
  // What is being typed stays as it is: "0." is the number 0, too.
  const shown = numberIn(text) === chosen ? text : `${chosen ?? ""}`;
  return (
    <label className="own-part">
      <h3>{t("ownSettings.temperature")}</h3>
      <span className={isWrong ? "own-problem" : "soft"} id="own-temperature">
        {choices ? t("ownSettings.temperatureNote", { highest: choices.max_temperature }) : t("page.loading")}
      </span>
      <input
        className="field own-number"
        type="number"
        step="any"
        placeholder={t("ownSettings.temperatureUnset")}
        aria-describedby="own-temperature"
        aria-invalid={isWrong}
        value={shown}
        onInput={(event) => {
          setText(event.currentTarget.value);
          onChange(numberIn(event.currentTarget.value));
        }}
      />
    </label>
  );
}

const numberIn = (text: string) => (text === "" ? null : Number(text));
