// Copies text, or what a function makes of it then, to the clipboard and confirms it.
import { useState } from "preact/hooks";
import { t } from "../language";
import { CheckIcon, CopyIcon, IconButton, toast } from "../ui";

export function CopyButton({ text, label }: { text: string | (() => string); label: string }) {
  const [done, setDone] = useState(false);
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(typeof text === "string" ? text : text());
      setDone(true);
      setTimeout(() => setDone(false), 1500);
    } catch {
      toast(t("messages.cantCopy"), "bad");
    }
  };
  const icon = done ? <CheckIcon /> : <CopyIcon />;
  return <IconButton small label={done ? t("messages.copied") : label} icon={icon} onClick={() => void copy()} />;
}
