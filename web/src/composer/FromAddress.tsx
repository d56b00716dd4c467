// The dialog that attaches the file at an address.
import "./fromAddress.css";
import { useState } from "preact/hooks";
import { fetchFile } from "../files/uploads/fetchFile";
import type { Job } from "../files/uploads/send";
import { t } from "../language";
import { Button, Dialog } from "../ui";

type Props = { onAttach: (name: string, job: Job) => void; onClose: () => void };

export function FromAddress({ onAttach, onClose }: Props) {
  const [text, setText] = useState("");
  const onSubmit = (event: SubmitEvent) => {
    event.preventDefault();
    const url = complete(text.trim());
    (event.currentTarget as Element).closest("dialog")?.close(); // gives the focus back, before it goes elsewhere
    onAttach(nameOf(url), fetchFile(url));
  };
  return (
    <Dialog open onClose={onClose} title={t("addresses.open")}>
      <form onSubmit={onSubmit}>
        <p id="address-note" className="address-note">{t("addresses.note")}</p>
        <input
          className="field"
          type="text"
          inputMode="url"
          autoComplete="off"
          autoCapitalize="off"
          spellcheck={false}
          autoFocus
          required
          maxLength={8000}
          placeholder={t("addresses.field")}
          aria-label={t("addresses.field")}
          aria-describedby="address-note"
          value={text}
          onInput={(event) => setText(event.currentTarget.value)}
        />
        <div className="dialog-actions">
          <Button onClick={onClose}>{t("page.cancel")}</Button>
          <Button look="main" type="submit" disabled={!text.trim()}>
            {t("addresses.attach")}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

/** Addresses are often written without their scheme. */
const complete = (text: string) => (/^[a-z][a-z\d+.-]*:/i.test(text) ? text : `https://${text}`);

/** What the file is called until the server knows its name. */
function nameOf(url: string): string {
  try {
    const { pathname, hostname } = new URL(url);
    return decodeURIComponent(pathname.slice(pathname.lastIndexOf("/") + 1)) || hostname || url;
  } catch {
    return url;
  }
}
