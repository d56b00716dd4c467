// Text for people alone: no model gets it.
import { t } from "../language";
import { WithReferences } from "./references";

export function UserText({ text }: { text: string }) {
  return (
    <div className="user-text">
      <p className="tool-label">{t("messages.notForModel")}</p>
      <pre tabIndex={0}>
        <WithReferences text={text} />
      </pre>
    </div>
  );
}
