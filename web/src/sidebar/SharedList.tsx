// Conversations that other people share with the user.
import { useEffect } from "preact/hooks";
import { api } from "../api";
import { t } from "../language";
import { at } from "../prefix";
import { follow, pathOf } from "../router";
import { subscribe } from "../state/list";
import { useLoaded } from "../state/loading";
import type { Shared } from "../types";

type Page = { conversations: Shared[]; next: string | null };
const path = "/api/conversations/shared?limit=200";

export function SharedList({ current }: { current: string | null }) {
  const { value, again } = useLoaded(path, (signal) => api.get<Page>(path, { signal }));
  useEffect(() => {
    const onVisible = () => document.visibilityState === "visible" && again();
    const silent = subscribe(again);
    document.addEventListener("visibilitychange", onVisible);
    return () => {
      silent();
      document.removeEventListener("visibilitychange", onVisible);
    };
  }, [again]);
  if (!value?.conversations.length) return null;
  return (
    <section aria-label={t("sidebar.sharedWithYou")}>
      <h2>{t("sidebar.sharedWithYou")}</h2>
      <ul>
        {value.conversations.map((row) => (
          <li key={row.id} className={`row ${row.id === current ? "row-current" : ""}`}>
            <a
              href={at(pathOf(row.id))}
              aria-current={row.id === current ? "page" : undefined}
              title={t("sidebar.sharedBy", { title: row.title || t("sidebar.untitled"), name: row.shared_by })}
              onClick={follow}
            >
              <span className="row-title">
                {row.title || t("sidebar.untitled")} <span className="soft">· {row.shared_by}</span>
              </span>
            </a>
          </li>
        ))}
      </ul>
    </section>
  );
}
