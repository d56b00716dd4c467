// The tools that a conversation can have, each with a switch. Null means all of them, also later ones.
import { t } from "../language";
import { Button } from "../ui";
import type { Choices } from "./settings";

type Props = { choices: Choices | null; chosen: string[] | null; onChange: (chosen: string[] | null) => void };

export function Tools({ choices, chosen, onChange }: Props) {
  if (!choices?.tools.length) return null;
  const names = choices.tools.map((tool) => tool.name);
  const isOn = (name: string) => chosen?.includes(name) ?? true;
  const toggle = (name: string) => {
    const next = names.filter((each) => (each === name ? !isOn(each) : isOn(each)));
    onChange(next.length === names.length ? null : next);
  };
  return (
    <fieldset className="own-part">
      <legend>{t("ownSettings.tools")}</legend>
      <p className="soft">{t("ownSettings.toolsNote")}</p>
      <div className="own-row">
        <Button look="quiet" disabled={names.every(isOn)} onClick={() => onChange(null)}>
          {t("ownSettings.allOn")}
        </Button>
        <Button look="quiet" disabled={!names.some(isOn)} onClick={() => onChange([])}>
          {t("ownSettings.allOff")}
        </Button>
      </div>
      {choices.tools.map(({ name, description, approval, hosted }) => (
        <label key={name} className="own-tool">
          <input type="checkbox" checked={isOn(name)} onChange={() => toggle(name)} />
          <span>
            <code>{name}</code>
            {approval && <span className="soft"> {t("ownSettings.approval")}</span>}
            {hosted && <span className="soft"> {t("ownSettings.hosted")}</span>}
            {description && (
              <span className="own-about soft" lang="en">
                {description}
              </span>
            )}
          </span>
        </label>
      ))}
    </fieldset>
  );
}
