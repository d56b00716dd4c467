// ‹ 2/3 ›: the messages that were written in each other's place.
import { useTalkHere } from "../chat/session/useSession";
import { complain } from "../state/complain";
import type { Branches } from "../types";
import { IconButton, LeftIcon, RightIcon } from "../ui";

export function BranchSwitch({ branches }: { branches: Branches }) {
  const talk = useTalkHere();
  const branch = (id: string) => void talk.branch(id).catch((error: unknown) => complain(error));
  const { index, count, others } = branches;
  if (count < 2) return null;
  // `others` leaves the shown one out, in the order they were written.
  const before = others[index - 1];
  const after = others[index];
  return (
    <span className="branches when-idle" role="group" aria-label="Branches">
      <IconButton
        small
        label="Previous branch"
        icon={<LeftIcon />}
        disabled={!before}
        onClick={() => before && branch(before)}
      />
      <span>
        {index + 1}/{count}
      </span>
      <IconButton
        small
        label="Next branch"
        icon={<RightIcon />}
        disabled={!after}
        onClick={() => after && branch(after)}
      />
    </span>
  );
}
