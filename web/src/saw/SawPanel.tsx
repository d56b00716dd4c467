// "What the model saw": a button under an answer, and the panel that it opens.
import { useRef, useState } from "preact/hooks";
import { Button, Dialog, EyeIcon, Spinner } from "../ui";
import { lazily } from "../files/lazily";
import { countFiles, countUnseen, stepsOf, type Told } from "./told";

const Steps = lazily(() => import("./Steps").then((found) => found.Steps), <Spinner label="Loading" />);

/** Nothing where the answer tells of no step. */
export function SawPanel(p: { message: Told }) {
  const [open, show] = useState(false);
  const button = useRef<HTMLSpanElement>(null);
  const steps = stepsOf(p.message);
  if (!steps.length) return null;
  const close = () => {
    show(false);
    button.current?.querySelector("button")?.focus();
  };
  const [files, unseen] = [countFiles(steps), countUnseen(steps)];
  return (
    <span ref={button} className="saw-opener">
      <Button look="quiet" aria-haspopup="dialog" onClick={() => show(true)}>
        <EyeIcon size={16} /> What the model saw
        {files > 0 && <span className="saw-count">{files === 1 ? "1 file" : `${files} files`}</span>}
        {unseen > 0 && <span className="saw-count saw-unseen">{unseen} not sent</span>}
      </Button>
      <Dialog open={open} onClose={close} title="What the model saw" place="side">
        <Steps message={p.message} steps={steps} />
      </Dialog>
    </span>
  );
}
