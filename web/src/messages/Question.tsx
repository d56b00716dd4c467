// A user message: files, text, resolved references and actions.
import { memo } from "preact/compat";
import { useMemo, useState } from "preact/hooks";
import { useLatestFiles } from "../chat/session/fileStore";
import { filesIn, textOf } from "../chat/session/mergeMessages";
import { useCurrentSession } from "../chat/session/useSession";
import { keepDraft, keptDraft } from "../composer/drafts";
import { t } from "../language";
import { useApp } from "../state/AppProvider";
import { FileGrid } from "../files";
import { lazy } from "../files/lazy";
import type { Message } from "../types";
import { Button, EditIcon, IconButton } from "../ui";
import { authorOf } from "./author";
import { BranchSwitch } from "./BranchSwitch";
import { CopyButton } from "./CopyButton";
import { layOutNearby } from "./nearby";
import { ResolvedReferences } from "./ResolvedReferences";
import { WithReferences } from "./references";
import { UserText } from "./UserText";

const EditBox = lazy(() => import("./EditBox").then((found) => found.EditBox));

type Props = {
  message: Message;
  mayWrite: boolean;
  /** Display name of the conversation's owner, if that is another person. */
  owner: string | null;
};

export const Question = memo(function Question({ message, mayWrite, owner }: Props) {
  const session = useCurrentSession();
  const { me } = useApp();
  const author = authorOf(message, owner, me?.name ?? null);
  const place = `edit.${message.id}`;
  const [editing, setEditing] = useState(() => mayWrite && keptDraft(place) !== "");
  const close = () => {
    keepDraft(place, "");
    setEditing(false);
  };
  const text = textOf(message);
  const sent = useMemo(() => filesIn(message), [message]);
  const shown = useLatestFiles(sent); // files get their numbers when the server has the message
  return (
    <li id={message.id} ref={layOutNearby} tabIndex={-1} className="message question" aria-label={author ?? t("messages.you")}>
      <h2 className={author ? "question-author" : "unseen"}>{author ?? t("messages.you")}</h2>
      {shown.length > 0 && <FileGrid files={shown} />}
      {editing ? (
        <EditBox
          place={place}
          text={text}
          files={shown}
          onCancel={close}
          onSave={(changed, files) => {
            close();
            session.edit(message, changed, files);
          }}
        />
      ) : (
        text && <Words text={text} />
      )}
      {message.parts.map((part) => part.type === "data-user-text" && <UserText key={part.id} text={part.data.text} />)}
      <ResolvedReferences message={message} />
      <div className="message-actions">
        {mayWrite && message.metadata?.branches && <BranchSwitch branches={message.metadata.branches} />}
        {text && !editing && <CopyButton text={text} label={t("messages.copyQuestion")} />}
        {mayWrite && !editing && (
          <IconButton
            small
            className="when-idle"
            label={t("messages.edit")}
            icon={<EditIcon />}
            onClick={() => setEditing(true)}
          />
        )}
      </div>
    </li>
  );
});

/** The text; a long one, such as a pasted log, is collapsed. */
function Words({ text }: { text: string }) {
  const [all, setAll] = useState(false);
  const isLong = text.length > 1600 || text.split("\n").length > 16;
  return (
    <>
      <p className={`question-text ${isLong && !all ? "question-cut" : ""}`}>
        <WithReferences text={text} />
      </p>
      {isLong && (
        <Button look="quiet" aria-expanded={all} onClick={() => setAll(!all)}>
          {t(all ? "page.showLess" : "page.showAll")}
        </Button>
      )}
    </>
  );
}
