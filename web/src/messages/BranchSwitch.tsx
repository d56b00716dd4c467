// ‹ 2/3 ›: switches between alternative versions of a message.
import { useCurrentSession } from "../chat/session/useSession";
import { t } from "../language";
import { showError } from "../state/showError";
import type { Branches } from "../types";
import { IconButton, LeftIcon, RightIcon } from "../ui";

export function BranchSwitch({ branches }: { branches: Branches }) {
  const session = useCurrentSession();
  const branch = (id: string) => void session.branch(id).catch((error: unknown) => showError(error));
  const { index, count, others } = branches;
  if (count < 2) return null;
  // `others` excludes the shown message and is in the order of writing.
  const before = others[index - 1];
  const after = others[index];
  return (
    <span className="branches when-idle" role="group" aria-label={t("messages.branches")}>
      <IconButton
        small
        label={t("messages.previousBranch")}
        icon={<LeftIcon />}
        disabled={!before}
        onClick={() => before && branch(before)}
      />
      <span>
        {index + 1}/{count}
      </span>
      <IconButton
        small
        label={t("messages.nextBranch")}
        icon={<RightIcon />}
        disabled={!after}
        onClick={() => after && branch(after)}
      />
    </span>
  );
}
