// What the person wrote: the files, the text, what their references mean, and the ways to change it.
import { memo } from "preact/compat";
import { useMemo, useState } from "preact/hooks";
import { useNews } from "../chat/filing";
import { filesIn, textOf } from "../chat/merging";
import { useTalkHere } from "../chat/useTalk";
import { FileGrid } from "../files";
import type { Message } from "../types";
import { EditIcon, IconButton } from "../ui";
import { BranchSwitch } from "./BranchSwitch";
import { CopyButton } from "./CopyButton";
import { EditBox } from "./EditBox";
import { Meant } from "./Meant";
import { WithReferences } from "./references";

export const Question = memo(function Question({ message }: { message: Message }) {
  const talk = useTalkHere();
  const [editing, setEditing] = useState(false);
  const text = textOf(message);
  const sent = useMemo(() => filesIn(message), [message]);
  const shown = useNews(sent); // they get their numbers when the message has arrived
  return (
    <li className="message question" aria-label="You">
      <h2 className="unseen">You</h2>
      {shown.length > 0 && <FileGrid files={shown} />}
      {editing ? (
        <EditBox
          text={text}
          onCancel={() => setEditing(false)}
          onSave={(changed) => {
            setEditing(false);
            talk.edit(message, changed);
          }}
        />
      ) : (
        text && (
          <p className="question-text">
            <WithReferences text={text} />
          </p>
        )
      )}
      <Meant message={message} />
      <div className="message-actions">
        {message.metadata?.branches && <BranchSwitch branches={message.metadata.branches} />}
        {text && <CopyButton text={text} label="Copy your message" />}
        {!editing && (
          <IconButton
            small
            className="when-idle"
            label="Edit your message"
            icon={<EditIcon />}
            onClick={() => setEditing(true)}
          />
        )}
      </div>
    </li>
  );
});
