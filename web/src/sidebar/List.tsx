// Conversations by day, with infinite scrolling.
import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { t } from "../language";
import type { useList } from "../state/list";
import { Button, Spinner } from "../ui";
import { byDay } from "./days";
import { Row } from "./Row";

type Props = {
  list: ReturnType<typeof useList>;
  current: string | null;
  searched: string;
  /** Shown above the list. */
  children?: ComponentChildren;
};

export function List({ list, current, searched, children }: Props) {
  const { conversations, hasMore, more, fresh, problem } = list;
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
      {problem && conversations === null && (
        <div className="side-note" role="alert">
          <p>{problem}</p>
          <Button onClick={() => void fresh()}>{t("page.tryAgain")}</Button>
        </div>
      )}
      {!problem && conversations === null && (
        <div className="side-note">
          <Spinner label={t("sidebar.loading")} />
        </div>
      )}
      {conversations?.length === 0 && (
        <p className="side-note soft">
          {searched ? t("sidebar.nothingFound", { words: searched }) : t("sidebar.empty")}
        </p>
      )}
      {conversations &&
        byDay(conversations, new Date()).map(({ day, rows }) => (
          <section key={day} aria-label={day}>
            <h2>{day}</h2>
            <ul>
              {rows.map((row) => (
                <Row key={row.id} row={row} current={row.id === current} onChanged={fresh} />
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
