// The list of a user's files, loaded page by page.
import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import { api, wordsOf } from "../api";
import type { Attachment } from "../files";

type Place = { conversation_id: string; title: string; file_id: string; number: number };

/** A file with the conversations that have its bytes: the one that changed last first. */
export type UsedFile = Attachment & { places: Place[]; more_places: number };

/** `ended`: there are no more. */
type List = { query: string; files: UsedFile[]; ended: boolean };

/** Files that are loaded at once. */
export const SIZE = 100;

/** `query` is that of `/api/files`. The files of an earlier query stay until those of a new one are there. */
export function useFileList(query: string) {
  const [list, setList] = useState<List | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  const requests = useRef(0);
  const underway = useRef<string | null>(null);

  const load = useCallback(
    async (files: readonly UsedFile[]) => {
      // The last file that is left: a deleted one has no place in the order any more.
      const address = `/api/files?limit=${SIZE}${query}${files.length ? `&before=${files.at(-1)?.id}` : ""}`;
      if (underway.current === address) return;
      underway.current = address;
      const mine = ++requests.current;
      try {
        const found = await api.get<{ files: UsedFile[]; next: string | null }>(address);
        if (mine !== requests.current) return;
        setProblem(null);
        setList((now) => added(files.length && now ? now.files : [], found.files, query, found.next === null));
      } catch (error) {
        if (mine === requests.current) setProblem(wordsOf(error));
      }
      if (mine === requests.current) underway.current = null;
    },
    [query],
  );

  const again = useCallback(() => {
    underway.current = null;
    return load([]);
  }, [load]);
  useEffect(() => void again(), [again]);
  const more = useCallback(() => void (list && !list.ended && list.query === query && load(list.files)), [list, load]);
  const drop = useCallback((ids: ReadonlySet<string>) => {
    requests.current++; // what is loading may have them still
    underway.current = null;
    setList((now) => now && { ...now, files: now.files.filter((file) => !ids.has(file.id)) });
  }, []);
  return { list, problem, again, more, drop };
}

/** A file may have moved to a later page meanwhile. */
function added(before: readonly UsedFile[], found: UsedFile[], query: string, ended: boolean): List {
  const known = new Set(before.map((file) => file.id));
  return { query, files: [...before, ...found.filter((file) => !known.has(file.id))], ended };
}
