// The list of conversations: paged, searchable, and refreshed after changes in this or another tab.
import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import { api, wordsOf } from "../api";
import type { Listed } from "../types";

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

type Page = { conversations: Listed[]; next: string | null };
const size = 40;

export function useList(words: string) {
  const [page, setPage] = useState<Page | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  const requests = useRef(0);

  const load = useCallback(
    async (before: string | null, earlier: Listed[], limit = size) => {
      const mine = ++requests.current;
      const query = new URLSearchParams({ limit: String(limit) });
      if (words) query.set("q", words);
      if (before) query.set("before", before);
      try {
        const found = await api.get<Page>(`/api/conversations?${query}`);
        if (mine !== requests.current) return;
        const ids = new Set(earlier.map((each) => each.id));
        const others = found.conversations.filter((each) => !ids.has(each.id));
        setPage({ conversations: [...earlier, ...others], next: found.next });
        setProblem(null);
      } catch (error) {
        if (mine === requests.current) setProblem(wordsOf(error));
      }
    },
    [words],
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
  return { conversations: page?.conversations ?? null, hasMore: Boolean(page?.next), more, fresh, problem };
}
