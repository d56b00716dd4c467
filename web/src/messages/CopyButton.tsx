// Copies text, or what a function makes of it then, to the clipboard and confirms it.
import { useState } from "preact/hooks";
import { CheckIcon, CopyIcon, IconButton, toast } from "../ui";

export function CopyButton({ text, label }: { text: string | (() => string); label: string }) {
  const [done, setDone] = useState(false);
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(typeof text === "string" ? text : text());
      setDone(true);
      setTimeout(() => setDone(false), 1500);
    } catch {
      toast("The browser doesn’t let this page write to the clipboard. Select the text and copy it.", "bad");
    }
  };
  const icon = done ? <CheckIcon /> : <CopyIcon />;
  return <IconButton small label={done ? "Copied" : label} icon={icon} onClick={() => void copy()} />;
}
