// A message of the person's, open for a change. Sending it begins another branch; the old one stays.
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { Button } from "../ui";

type Props = { text: string; onSave: (text: string) => void; onCancel: () => void };

export function EditBox({ text, onSave, onCancel }: Props) {
  const [value, setValue] = useState(text);
  const box = useRef<HTMLTextAreaElement>(null);
  useLayoutEffect(() => {
    box.current?.focus();
    box.current?.setSelectionRange(text.length, text.length);
  }, []);
  const save = () => value.trim() && onSave(value.trim());
  return (
    <form
      className="edit-box"
      onSubmit={(event) => {
        event.preventDefault();
        save();
      }}
    >
      <textarea
        ref={box}
        className="field"
        aria-label="Your message"
        rows={Math.min(12, value.split("\n").length + 1)}
        value={value}
        onInput={(event) => setValue(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key === "Escape") onCancel();
          if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
          event.preventDefault();
          save();
        }}
      />
      <p className="soft">Sending it starts another branch. You can switch back.</p>
      <div className="dialog-actions">
        <Button onClick={onCancel}>Cancel</Button>
        <Button look="main" type="submit" disabled={!value.trim()}>
          Send
        </Button>
      </div>
    </form>
  );
}
