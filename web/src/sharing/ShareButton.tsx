// The button in the bar that says who shares the conversation, and opens the dialog.
import { useState } from "preact/hooks";
import { lazy } from "../files/lazy";
import { t } from "../language";
import type { Conversation } from "../types";
import { Button, PeopleIcon } from "../ui";

const Sharing = lazy(() => import("./Sharing").then((found) => found.Sharing));

export function ShareButton({ conversation }: { conversation: Conversation }) {
  const [open, setOpen] = useState(false);
  const owner = conversation.shared_by;
  return (
    <>
      <Button look="quiet" className="bar-share" onClick={() => setOpen(true)}>
        <PeopleIcon size={18} /> <span>{owner === null ? t("page.share") : t("sharing.sharedBy", { name: owner })}</span>
      </Button>
      {open && <Sharing conversation={conversation} onClose={() => setOpen(false)} />}
    </>
  );
}
