// The model's thoughts, folded: they are no answer.
import { Markdown } from "./Markdown";

export function Reasoning({ text, writing }: { text: string; writing: boolean }) {
  return (
    <details className="reasoning">
      <summary>{writing ? "Thinking…" : "Thoughts"}</summary>
      <div className="reasoning-text">
        <Markdown text={text} writing={writing} />
      </div>
    </details>
  );
}
