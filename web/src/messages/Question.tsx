// What the person wrote: the files, the text, what their references mean, and the ways to change it.
import { memo } from "preact/compat";
import { useContext, useState } from "preact/hooks";
import { TalkContext } from "../chat/talking";
import { textOf } from "../chat/useConversation";
import { type Attachment, FileGrid } from "../files";
import type { Message } from "../types";
import { EditIcon, IconButton } from "../ui";
import { BranchSwitch } from "./BranchSwitch";
import { CopyButton } from "./CopyButton";
import { EditBox } from "./EditBox";
import { WithReferences } from "./references";

type Props = {
  message: Message;
  /** All files of the conversation by id: those of a new message get their numbers a little later. */
  files: ReadonlyMap<string, Attachment>;
  idle: boolean;
};

export const Question = memo(function Question({ message, files, idle }: Props) {
  const talk = useContext(TalkContext);
  const [editing, setEditing] = useState(false);
  const text = textOf(message);
  const shown = message.parts.flatMap((part) =>
    part.type === "data-attachment" ? [files.get(part.data.id) ?? part.data] : [],
  );
  return (
    <li className="message question" aria-label="You">
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
      <div className="message-actions">
        {message.metadata?.branches && <BranchSwitch branches={message.metadata.branches} idle={idle} />}
        {text && <CopyButton text={text} label="Copy your message" />}
        {idle && !editing && (
          <IconButton small label="Edit your message" icon={<EditIcon />} onClick={() => setEditing(true)} />
        )}
      </div>
    </li>
  );
}, same);

/** `files` changes with every new file: that matters only to a message whose files got their numbers by it. */
function same(before: Props, after: Props): boolean {
  if (before.message !== after.message || before.idle !== after.idle) return false;
  if (before.files === after.files) return true;
  return after.message.parts.every(
    (part) => part.type !== "data-attachment" || before.files.get(part.data.id) === after.files.get(part.data.id),
  );
}
