// Conversations by day, with infinite scrolling.
import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { lazy } from "../files/lazy";
import { t } from "../language";
import type { useList } from "../state/list";
import { Button, Spinner } from "../ui";
import { byDay } from "./days";
import { Row } from "./Row";

const Results = lazy(() => import("./Results").then((found) => found.Results));

type Props = {
  list: ReturnType<typeof useList>;
  current: string | null;
  /** Sets the filters. */
  onFilter: (filters: string) => void;
  /** Shown above the list. */
  children?: ComponentChildren;
};

export function List({ list, current, onFilter, children }: Props) {
  const { page, more, fresh, problem } = list;
  const hasMore = page?.next;
  const end = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const element = end.current;
    if (!element || !hasMore) return;
    const watch = new IntersectionObserver((entries) => entries.some((entry) => entry.isIntersecting) && more(), {
      rootMargin: "300px",
    });
    watch.observe(element);
    return () => watch.disconnect();
  }, [hasMore, more]);

  return (
    <div className="side-list">
      {children}
      {problem && (
        <div className="side-note" role="alert">
          <p>{problem}</p>
          <Button onClick={() => void fresh()}>{t("page.tryAgain")}</Button>
        </div>
      )}
      {!problem && !page && (
        <div className="side-note">
          <Spinner label={t("sidebar.loading")} />
        </div>
      )}
      {page?.query && <Results page={page} current={current} onFilter={onFilter} />}
      {page?.query === "" && page.conversations.length === 0 && <p className="side-note soft">{t("sidebar.empty")}</p>}
      {page?.query === "" &&
        byDay(page.conversations, new Date()).map(({ day, rows }) => (
          <section key={day} aria-label={day}>
            <h2>{day}</h2>
            <ul>
              {rows.map((row) => (
                <Row key={row.id} row={row} current={row.id === current} />
              ))}
            </ul>
          </section>
        ))}
      {hasMore && (
        <div ref={end} className="side-note">
          <Spinner label={t("sidebar.loadingMore")} />
        </div>
      )}
    </div>
  );
}
