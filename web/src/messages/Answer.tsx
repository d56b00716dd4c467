// One answer: text, reasoning, tool calls and files in stream order, and the panel "What the model saw".
import { memo } from "preact/compat";
import { useMemo } from "preact/hooks";
import { useLatestFiles } from "../chat/session/fileStore";
import { useCurrentSession } from "../chat/session/useSession";
import { type Attachment, FileGrid } from "../files";
import { lazy } from "../files/lazy";
import { type PlainKey, t } from "../language";
import { ReceiptsPanel } from "../receipts";
import type { Message } from "../types";
import { ArrowRightIcon, Button, IconButton, InfoIcon, RetryIcon, WarnIcon } from "../ui";
import { BranchSwitch } from "./BranchSwitch";
import { CopyButton } from "./CopyButton";
import { blocksOf } from "./blocks";
import { Markdown } from "./Markdown";
import { layOutNearby } from "./nearby";
import { makePlacing, type Placing, PlacingContext, useUnplaced } from "./placing";
import { Reasoning } from "./Reasoning";
import { NotesContext } from "./sources";
import { ToolCard } from "./ToolCard";
import { UserText } from "./UserText";

const FullContext = lazy(() => import("./FullContext").then((found) => found.FullContext));
const Footnotes = lazy(() => import("./Footnotes").then((found) => found.Footnotes));

/** `isErrorShown`: a notice below already shows the error. `mayWrite`: the user may write in this conversation. */
type Props = { message: Message; writing: boolean; isLast: boolean; isErrorShown: boolean; mayWrite: boolean };

export const Answer = memo(function Answer({ message, writing, isLast, isErrorShown, mayWrite }: Props) {
  const session = useCurrentSession();
  const placing = useMemo(makePlacing, []);
  const blocks = blocksOf(message.parts);
  const text = blocks.flatMap((block) => (block.is === "text" ? [block.text] : [])).join("\n\n");
  const status = writing ? undefined : message.metadata?.status;
  const ending = writing ? null : endingOf(message, isLast, isErrorShown, mayWrite);
  const canRetry = isErrorShown || status === "error"; // beside the text that says why
  return (
    <li
      id={message.id}
      ref={layOutNearby}
      tabIndex={-1}
      className={`message answer ${isLast ? "message-last" : ""}`}
      aria-label={t("messages.answer")}
    >
      <h2 className="unseen">{t("messages.answer")}</h2>
      <PlacingContext.Provider value={placing}>
        {blocks.map((block) => {
          switch (block.is) {
            case "text":
              return (
                <NotesContext.Provider key={block.key} value={{ id: `${message.id}-${block.key}`, notes: block.notes }}>
                  {block.text && <Markdown text={block.text} marked={block.marked} writing={writing && block.open} />}
                  {block.notes.length > 0 && <Footnotes />}
                </NotesContext.Provider>
              );
            case "reasoning":
              return <Reasoning key={block.key} text={block.text} writing={writing && block.open} />;
            case "tool":
              return <ToolCard key={block.key} part={block.part} writing={writing} asks={isLast} mayWrite={mayWrite} />;
            case "userText":
              return <UserText key={block.key} text={block.text} />;
            case "files":
              return <Unplaced key={block.key} placing={placing} files={block.files} />;
          }
        })}
      </PlacingContext.Provider>
      {!isErrorShown && status === "error" && <Failure message={message} mayWrite={mayWrite} />}
      {status === "error" && isLast && session.state().about?.right === "owner" && <FullContext message={message} />}
      {ending && (
        <p className="ending">
          <InfoIcon size={16} /> {ending}
        </p>
      )}
      {!writing && (
        <div className="message-actions">
          {mayWrite && message.metadata?.branches && <BranchSwitch branches={message.metadata.branches} />}
          {text && <CopyButton text={text} label={t("messages.copyAnswer")} />}
          {mayWrite && !canRetry && (
            <IconButton
              small
              className="when-idle"
              label={t("messages.answerAgain")}
              icon={<RetryIcon />}
              onClick={() => session.regenerate(message)}
            />
          )}
          {mayWrite && isLast && status === "incomplete" && (
            <Button look="quiet" className="when-idle" onClick={() => session.goOn(message)}>
              <ArrowRightIcon size={16} /> {t("messages.continue")}
            </Button>
          )}
          <ReceiptsPanel message={message} />
        </div>
      )}
    </li>
  );
});

const reasons: Record<string, PlainKey> = {
  steps: "messages.stoppedSteps",
  budget: "messages.stoppedBudget",
  length: "messages.stoppedLength",
  cut: "messages.stoppedCut",
  cancelled: "messages.stopped",
  undecided: "messages.undecided",
};

/** Files that the model hasn't placed in its text. */
function Unplaced({ placing, files }: { placing: Placing; files: readonly Attachment[] }) {
  const unplaced = useUnplaced(placing, useLatestFiles(files));
  return unplaced.length ? <FileGrid files={unplaced} /> : null;
}

/** A failed answer with a retry button. */
function Failure({ message, mayWrite }: { message: Message; mayWrite: boolean }) {
  const session = useCurrentSession();
  return (
    <div className="notice notice-bad notice-answer">
      <WarnIcon />
      <span>{message.metadata?.reason ?? t("messages.failed")}</span>
      {mayWrite && (
        <Button className="when-idle" onClick={() => session.regenerate(message)}>
          <RetryIcon size={16} /> {t("page.tryAgain")}
        </Button>
      )}
    </div>
  );
}

/** Text for an answer that isn't complete; only the last one can wait for a decision. */
function endingOf(message: Message, isLast: boolean, isErrorShown: boolean, mayWrite: boolean): string | null {
  const { status, reason } = message.metadata ?? {};
  if (status === "refused") return refusalOf(reason ?? null, isErrorShown);
  if (status === "waiting" && isLast) return t(mayWrite ? "messages.waitsForYou" : "messages.waits");
  if (status !== "incomplete") return null;
  const known = reasons[reason ?? ""];
  if (known) return t(known);
  return reason ? t("messages.incompleteWhy", { why: reason }) : t("messages.incomplete");
}

/** Either the model declined, or it doesn't support a file; then the reason names the file. */
function refusalOf(reason: string | null, isErrorShown: boolean): string {
  if (!reason || reason === "refusal") return t("messages.declined");
  const why = reason === "file" ? t("messages.cantBeShown") : `${reason}.`;
  return isErrorShown ? t("messages.notAsked") : `${why} ${t("messages.notAsked")}`;
}
