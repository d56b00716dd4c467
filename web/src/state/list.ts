// The list of conversations: paged, searchable, and refreshed after changes in this or another tab.
import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import { api, wordsOf } from "../api";
import type { Own } from "../types";

const channel = "BroadcastChannel" in window ? new BroadcastChannel("showandtell") : null;
type News = { what: "list" } | { what: "run"; id: string } | { what: "title"; id: string; title: string };

/** Notifies this and other tabs that the list changed, or that a run started in a conversation. */
export function notify(news: News): void {
  window.dispatchEvent(new CustomEvent("news", { detail: news }));
  channel?.postMessage(news);
}

/** Subscribes to notifications of this and other tabs. Returns a function that unsubscribes. */
export function subscribe(read: (news: News, here: boolean) => void): () => void {
  const here = (event: Event) => read((event as CustomEvent<News>).detail, true);
  const there = (event: MessageEvent<News>) => read(event.data, false);
  window.addEventListener("news", here);
  channel?.addEventListener("message", there);
  return () => {
    window.removeEventListener("news", here);
    channel?.removeEventListener("message", there);
  };
}

/** `query` is what the page was found by. */
type Page = { conversations: Own[]; next: string | null; query: string };
const size = 40;

/** `query` is what to search for, as parameters such as "&q=invoice"; empty for the whole list. */
export function useList(query: string) {
  const [page, setPage] = useState<Page | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  const requests = useRef(0);

  const load = useCallback(
    async (before: string | null, earlier: Own[], limit = size) => {
      const mine = ++requests.current;
      try {
        const found = await api.get<Page>(`/api/conversations?limit=${limit}${query}${before ? `&before=${before}` : ""}`);
        if (mine !== requests.current) return;
        const ids = new Set(earlier.map((each) => each.id));
        const others = found.conversations.filter((each) => !ids.has(each.id));
        setPage({ conversations: [...earlier, ...others], next: found.next, query });
        setProblem(null);
      } catch (error) {
        if (mine === requests.current) setProblem(wordsOf(error));
      }
    },
    [query],
  );

  const shown = page?.conversations.length ?? 0;
  const fresh = useCallback(() => load(null, [], Math.min(200, Math.max(size, shown))), [load, shown]);
  const latest = useRef(fresh);
  latest.current = fresh;

  useEffect(() => void load(null, []), [load]);
  useEffect(() => {
    const again = () => void (document.visibilityState === "visible" && latest.current());
    const silent = subscribe(again);
    document.addEventListener("visibilitychange", again);
    window.addEventListener("online", again);
    return () => {
      silent();
      document.removeEventListener("visibilitychange", again);
      window.removeEventListener("online", again);
    };
  }, []);
  // Refresh while anything runs, so that its dot disappears in time.
  const runs = page?.conversations.some((each) => each.running) ?? false;
  useEffect(() => {
    if (!runs) return;
    const timer = setInterval(() => document.visibilityState === "visible" && latest.current(), 8000);
    return () => clearInterval(timer);
  }, [runs]);

  const more = useCallback(() => {
    if (page?.next) void load(page.next, page.conversations);
  }, [page, load]);
  return { page, more, fresh, problem: page?.query === query ? null : problem };
}
