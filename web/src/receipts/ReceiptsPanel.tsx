// "What the model saw": a button under an answer, and the panel that it opens.
import { useEffect, useRef, useState } from "preact/hooks";
import { t } from "../language";
import { Button, Dialog, EyeIcon, Spinner } from "../ui";
import { lazy } from "../files/lazy";
import { countFiles, countUnseen, stepsOf, type StepMessage } from "./receipts";

const Steps = lazy(() => import("./Steps").then((found) => found.Steps), { meanwhile: () => <Spinner label={t("page.loading")} /> });

/** Renders nothing if the answer has no steps. */
export function ReceiptsPanel(p: { message: StepMessage }) {
  const [open, show] = useState(false);
  const opener = useOpener(open);
  const steps = stepsOf(p.message);
  if (!steps.length) return null;
  const [files, unseen] = [countFiles(steps), countUnseen(steps)];
  return (
    <span ref={opener} className="receipts-opener">
      <Button look="quiet" aria-haspopup="dialog" onClick={() => show(true)}>
        <EyeIcon size={16} /> {t("receipts.title")}
        {files > 0 && <span className="receipts-count">{t("files.count", { count: files })}</span>}
        {unseen > 0 && <span className="receipts-count receipts-unseen">{t("receipts.notSent", { count: unseen })}</span>}
      </Button>
      <Dialog open={open} onClose={() => show(false)} title={t("receipts.title")} place="side">
        <Steps message={p.message} steps={steps} />
      </Dialog>
    </span>
  );
}

/** Returns the focus to the button after the panel has closed; elements outside of an open modal can't be focused. */
function useOpener(open: boolean) {
  const opener = useRef<HTMLSpanElement>(null);
  const was = useRef(false);
  useEffect(() => {
    if (was.current && !open) opener.current?.querySelector("button")?.focus();
    was.current = open;
  }, [open]);
  return opener;
}
