// One tool call: name and state, and expanded its arguments and output.
import type { ToolUIPart } from "ai";
import { useContext, useEffect, useState } from "preact/hooks";
import { LiveContext } from "../chat/session/liveStatus";
import { lazy } from "../files/lazy";
import { t } from "../language";
import { BlockIcon, CheckIcon, Spinner, ToolIcon, WarnIcon } from "../ui";
import { Approval } from "./Approval";
import { pretty } from "./pretty";
import { WithReferences } from "./references";

/** The reason of a denial that nobody decided: the user went on instead. */
const UNDECIDED = "the user went on without deciding about this call, so it was not run";

const HostedDetails = lazy(() => import("./HostedDetails").then((found) => found.HostedDetails));

const ViewedPages = lazy(() => import("./ViewedPages").then((found) => found.ViewedPages));

/** `asks`: it may still be approved, by this user if `mayWrite`. */
type Props = { part: ToolUIPart; writing: boolean; asks: boolean; mayWrite: boolean };

export function ToolCard({ part, writing, asks, mayWrite }: Props) {
  const [open, setOpen] = useState(false);
  const name = part.type.slice("tool-".length);
  const state = part.state === "approval-requested" ? askingOf(asks, mayWrite) : stateOf(part, writing);
  return (
    <div className={`tool tool-${state.look}`}>
      <details open={open} onToggle={(event) => setOpen(event.currentTarget.open)}>
        <summary>
          <ToolIcon size={16} />
          <code className="tool-name">{name}</code>
          {part.providerExecuted && <span className="tool-runner">{t("tools.byProvider")}</span>}
          <span className="tool-brief">{briefOf(part.input)}</span>
          <span className="tool-state">
            {state.look === "busy" ? <Spinner /> : <StateIcon look={state.look} />}
            {state.words}
          </span>
        </summary>
        {open && <Details part={part} />}
      </details>
      {state.look === "good" && <Viewed part={part} />}
      {state.look === "busy" && <Progress id={part.toolCallId} name={name} />}
      {part.state === "approval-requested" && asks && mayWrite && (
        <Approval id={part.approval.id} name={name} input={part.input} />
      )}
    </div>
  );
}

/** The pages that `view_file` showed the model. */
function Viewed({ part: { type, input } }: { part: ToolUIPart }) {
  const { number, pages } = (input ?? {}) as { number?: unknown; pages?: unknown };
  if (type !== "tool-view_file" || typeof number !== "number" || !Array.isArray(pages)) return null;
  return <ViewedPages number={number} pages={pages} />;
}

/** Progress that a tool reports. */
function Progress({ id, name }: { id: string; name: string }) {
  const progress = useContext(LiveContext).progress[id];
  if (!progress) return null;
  const { done, total, note, preview } = progress;
  return (
    <div className="tool-progress">
      {preview && <Preview uri={preview} name={name} />}
      {total ? <progress max={total} value={done ?? 0} aria-label={t("tools.progress", { name })} /> : null}
      {note && <span>{note}</span>}
    </div>
  );
}

/** A picture that a tool shows while it works. The page loads no `data:` URIs, so its bytes become a blob. */
function Preview({ uri, name }: { uri: string; name: string }) {
  const [url, setUrl] = useState("");
  useEffect(() => {
    const [, type, data] = /^data:(image\/\w+);base64,(.*)$/.exec(uri) ?? [];
    if (!type || !data) return;
    const blob = URL.createObjectURL(new Blob([Uint8Array.from(atob(data), (each) => each.charCodeAt(0))], { type }));
    setUrl(blob);
    return () => URL.revokeObjectURL(blob);
  }, [uri]);
  return url ? <img className="tool-preview" src={url} alt={t("tools.preview", { name })} /> : null;
}

function Details({ part }: { part: ToolUIPart }) {
  const raw = part.state === "output-error" && part.input === undefined ? part.rawInput : undefined;
  const output = part.state === "output-available" && !part.providerExecuted ? textOfOutput(part) : null;
  return (
    <div className="tool-details">
      {part.providerExecuted ? (
        <HostedDetails input={part.input} output={part.output} />
      ) : (
        <>
          <p className="tool-label">{t("tools.arguments")}</p>
          <pre tabIndex={0}>{raw !== undefined ? String(raw) : pretty(part.input)}</pre>
        </>
      )}
      {output !== null && (
        <>
          <p className="tool-label">{t("tools.result")}</p>
          <pre tabIndex={0}>
            <WithReferences text={output || t("tools.noText")} />
          </pre>
        </>
      )}
      {part.state === "output-error" && (
        <>
          <p className="tool-label">{t("tools.error")}</p>
          <pre tabIndex={0} className="tool-error">
            {part.errorText}
          </pre>
        </>
      )}
    </div>
  );
}

type Look = "busy" | "good" | "bad" | "asks" | "denied" | "left";

type State = { look: Look; words: string };

/** State of a call that needs approval; once another message follows, it can't be approved any more. */
function askingOf(asks: boolean, mayWrite: boolean): State {
  if (!asks) return { look: "left", words: t("tools.undecided") };
  return { look: "asks", words: t(mayWrite ? "tools.asksYou" : "tools.waits") };
}

/** State of any other call: text and style. */
function stateOf(part: Exclude<ToolUIPart, { state: "approval-requested" }>, writing: boolean): State {
  switch (part.state) {
    case "input-streaming":
    case "input-available":
      return writing ? { look: "busy", words: t("tools.running") } : { look: "left", words: t("tools.unfinished") };
    case "approval-responded":
      if (!part.approval.approved) return { look: "denied", words: t("tools.declined") };
      return part.providerExecuted && !writing ? { look: "left", words: t("tools.unfinished") } : { look: "busy", words: t("tools.allowed") };
    case "output-available":
      return { look: "good", words: t("tools.done") };
    case "output-error":
      return { look: "bad", words: t("tools.failed") };
    case "output-denied":
      return part.approval?.reason === UNDECIDED ? askingOf(false, false) : { look: "denied", words: t("tools.declined") };
  }
}

function StateIcon({ look }: { look: Look }) {
  if (look === "good") return <CheckIcon size={16} />;
  if (look === "denied" || look === "left") return <BlockIcon size={16} />;
  return <WarnIcon size={16} />;
}

/** The arguments on one short line. */
function briefOf(input: unknown): string {
  if (typeof input === "string") return input.slice(0, 160);
  if (input === null || typeof input !== "object") return "";
  const format = (value: unknown) => (typeof value === "string" ? value : JSON.stringify(value));
  const words = Object.entries(input).map(([name, value]) => `${name}: ${format(value)}`);
  return words.join(", ").slice(0, 160);
}


/** A result's text. Our server puts it beside a result with JSON. The files of a result are shown below the calls. */
function textOfOutput({ output, toolMetadata }: ToolUIPart): string {
  const own = toolMetadata?.showandtell;
  if (own === null || typeof own !== "object") return typeof output === "string" ? output : pretty(output);
  if ("text" in own) return String(own.text);
  return [output].flat().filter((part) => typeof part === "string").join("\n");
}
