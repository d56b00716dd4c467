// The model's reasoning, collapsed.
import { t } from "../language";
import { Markdown } from "./Markdown";
import { PlacingContext } from "./placing";

export function Reasoning({ text, writing }: { text: string; writing: boolean }) {
  return (
    <details className="reasoning">
      <summary>{t(writing ? "messages.thinking" : "messages.thoughts")}</summary>
      <div className="reasoning-text">
        <PlacingContext.Provider value={null}>
          <Markdown text={text} writing={writing} />
        </PlacingContext.Provider>
      </div>
    </details>
  );
}
