// What the answers of a conversation do once it is longer than the model's context.
import { t } from "../language";
import type { OnFull } from "../types";

type Props = { chosen: OnFull | undefined; onChange: (chosen: OnFull | undefined) => void };

const options: readonly OnFull[] = ["error", "drop_oldest", "summarize"];

export function WhenFull({ chosen, onChange }: Props) {
  return (
    <label className="own-part">
      <h3>{t("full.title")}</h3>
      <span className="soft">{t("full.choiceNote")}</span>
      <select className="field" value={chosen ?? ""} onChange={(event) => onChange(options.find((option) => option === event.currentTarget.value))}>
        <option value="">{t("ownSettings.temperatureUnset")}</option>
        {options.map((option) => (
          <option key={option} value={option}>
            {t(`full.choice.${option}`)}
          </option>
        ))}
      </select>
    </label>
  );
}
