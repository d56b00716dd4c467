// One answer: text, thoughts, tool calls and what tools showed, in the order it came, and what the model saw.
import { memo } from "preact/compat";
import { textOf } from "../chat/merging";
import { useTalkHere } from "../chat/useTalk";
import { FileGrid } from "../files";
import { SawPanel } from "../saw";
import type { Message } from "../types";
import { Button, IconButton, InfoIcon, RetryIcon, WarnIcon } from "../ui";
import { BranchSwitch } from "./BranchSwitch";
import { CopyButton } from "./CopyButton";
import { blocksOf } from "./blocks";
import { Markdown } from "./Markdown";
import { Reasoning } from "./Reasoning";
import { ToolCard } from "./ToolCard";

/** `isTold`: what went wrong is said below already. */
type Props = { message: Message; writing: boolean; isLast: boolean; isTold: boolean };

export const Answer = memo(function Answer({ message, writing, isLast, isTold }: Props) {
  const talk = useTalkHere();
  const blocks = blocksOf(message.parts);
  const text = textOf(message);
  const ending = writing ? null : endingOf(message, isTold);
  const offersAgain = isTold || message.metadata?.status === "error"; // beside the words that say why
  return (
    <li className={`message answer ${isLast ? "message-last" : ""}`} aria-label="Answer">
      <h2 className="unseen">Answer</h2>
      {blocks.map((block) => {
        switch (block.is) {
          case "text":
            return <Markdown key={block.key} text={block.text} writing={writing && block.open} />;
          case "reasoning":
            return <Reasoning key={block.key} text={block.text} writing={writing && block.open} />;
          case "tool":
            return <ToolCard key={block.key} part={block.part} writing={writing} />;
          case "files":
            return <FileGrid key={block.key} files={block.files} />;
        }
      })}
      {!writing && !isTold && message.metadata?.status === "error" && <Failure message={message} />}
      {ending && (
        <p className="ending">
          <InfoIcon size={16} /> {ending}
        </p>
      )}
      {!writing && (
        <div className="message-actions">
          {message.metadata?.branches && <BranchSwitch branches={message.metadata.branches} />}
          {text && <CopyButton text={text} label="Copy the answer" />}
          {!offersAgain && (
            <IconButton
              small
              className="when-idle"
              label="Answer again"
              icon={<RetryIcon />}
              onClick={() => talk.regenerate(message)}
            />
          )}
          <SawPanel message={message} />
        </div>
      )}
    </li>
  );
});

const reasons: Record<string, string> = {
  steps: "Stopped at the limit of steps. Write “go on” to continue.",
  budget: "Stopped at the budget for this answer. Write “go on” to continue.",
  length: "The answer was cut at its longest. Write “go on” to continue.",
  cut: "The model’s stream ended too early. Ask again to get the whole answer.",
  cancelled: "Stopped.",
};

/** An answer that failed, and the way to another one. */
function Failure({ message }: { message: Message }) {
  const talk = useTalkHere();
  return (
    <div className="notice notice-bad">
      <WarnIcon />
      <span>{message.metadata?.reason ?? "The answer failed."}</span>
      <Button className="when-idle" onClick={() => talk.regenerate(message)}>
        <RetryIcon size={16} /> Try again
      </Button>
    </div>
  );
}

/** What is to be said of an answer that isn't simply complete. */
function endingOf(message: Message, isTold: boolean): string | null {
  const { status, reason } = message.metadata ?? {};
  if (status === "refused") return refusalOf(reason ?? null, isTold);
  if (status === "waiting") return "Waits for your decision above.";
  if (status !== "incomplete") return null;
  return reasons[reason ?? ""] ?? `The answer is incomplete${reason ? `: ${reason}` : ""}.`;
}

/** Either the model declined, or there are files that it can't be shown: then the reason names them. */
function refusalOf(reason: string | null, isTold: boolean): string {
  if (!reason || reason === "refusal") return "The model declined to answer. Put the question in another way.";
  const why = isTold ? "" : `${reason === "file" ? "The model can’t be shown a file of this message" : reason}. `;
  return `${why}The model wasn’t asked: choose another model, or edit the message and leave the file out.`;
}
