// The storage that a user's files take: in words, and as a bar if there is a limit.
import "../styles/progress.css";
import "./storageUse.css";
import { api } from "../api";
import { factsOf, sizeOf, t } from "../language";
import { type Loaded, useLoaded } from "../state/loading";

type Use = { bytes: number; limit: number | null; files: number; conversations: number };

export const useStorage = (): Loaded<Use> =>
  useLoaded("use", (signal) => api.get<Use>("/api/files/use", { signal }));

export function StorageUse({ use }: { use: Use | null }) {
  return (
    <div className="storage">
      <p className="soft">{use ? wordsOf(use) : t("page.loading")}</p>
      {use && use.limit !== null && <progress max={use.limit} value={use.bytes} aria-label={t("data.stored")} />}
    </div>
  );
}

const wordsOf = ({ bytes, limit, files, conversations }: Use) =>
  factsOf([
    limit ? t("data.usedOf", { used: sizeOf(bytes), limit: sizeOf(limit) }) : sizeOf(bytes),
    t("data.files", { count: files }),
    t("data.conversations", { count: conversations }),
  ]);
