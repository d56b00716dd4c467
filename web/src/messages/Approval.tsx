// A tool call that waits for approval.
import { useEffect, useRef, useState } from "preact/hooks";
import { useCurrentSession } from "../chat/session/useSession";
import { Button } from "../ui";

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
    <div ref={box} className="approval" role="group" aria-label={`May ${name} run?`}>
      <p>
        May <code>{name}</code> run with this?
      </p>
      <pre tabIndex={0}>{JSON.stringify(input, null, 2)}</pre>
      <div className="approval-actions">
        <Button look="main" disabled={answered} onClick={() => decide(true)}>
          Yes, run it
        </Button>
        <Button disabled={answered} onClick={() => decide(false)}>
          No
        </Button>
      </div>
    </div>
  );
}
