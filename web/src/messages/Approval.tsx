// A tool call that waits for approval.
import { useEffect, useRef, useState } from "preact/hooks";
import { useCurrentSession } from "../chat/session/useSession";
import { rich, t } from "../language";
import { Button } from "../ui";
import { pretty } from "./pretty";

type Props = { id: string; name: string; input: unknown };

export function Approval({ id, name, input }: Props) {
  const { answer } = useCurrentSession();
  const [answered, setAnswered] = useState(false);
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => box.current?.scrollIntoView({ block: "nearest" }), []); // the answer waits for it, so it must be visible
  const decide = (approved: boolean) => {
    setAnswered(true);
    answer(id, approved);
  };
  return (
    <div ref={box} className="approval" role="group" aria-label={t("tools.mayRun", { name })}>
      <p>{rich("tools.mayRunWith", { name, code: (words) => <code>{words}</code> })}</p>
      <pre tabIndex={0}>{pretty(input)}</pre>
      <div className="approval-actions">
        <Button look="main" disabled={answered} onClick={() => decide(true)}>
          {t("tools.yes")}
        </Button>
        <Button disabled={answered} onClick={() => decide(false)}>
          {t("tools.no")}
        </Button>
      </div>
    </div>
  );
}
