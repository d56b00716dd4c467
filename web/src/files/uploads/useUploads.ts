// The uploads of a composer.
import { useEffect, useReducer, useRef } from "preact/hooks";
import { makeTray, isBusy, type Tray } from "./tray";
import type { From, Limits } from "./values";

/** Trays outlive their composer, so that a visit to the settings loses nothing. */
const trays = new Map<string, Tray>();

export function trayOf(place: string): Tray {
  const tray = trays.get(place) ?? makeTray(place);
  trays.set(place, tray);
  return tray;
}

/** Moves attachments along when a new conversation gets its id. */
function moveTray(from: string, to: string) {
  const tray = trays.get(from);
  if (!tray || trays.has(to)) return;
  trays.delete(from);
  trays.set(to, tray);
  tray.move(to);
}

/** `place` is the key of the conversation. It changes when a new conversation gets its id. */
export function useUploads(limits: Limits | null | undefined, place: string = location.pathname) {
  const [, redraw] = useReducer((count: number) => count + 1, 0);
  const before = useRef(place);
  if (before.current !== place) moveTray(before.current, place);
  before.current = place;
  const tray = trayOf(place);
  useEffect(() => {
    redraw(undefined); // an update may have come between render and effect
    return tray.watch(() => redraw(undefined));
  }, [tray]);
  useEffect(() => {
    if (limits) tray.limit(limits);
  }, [tray, limits]);
  const items = tray.items();
  return {
    items,
    add: (files: Iterable<File>, from: From) => tray.add(files, from),
    addJob: tray.addJob,
    remove: tray.remove,
    retry: tray.retry,
    clear: tray.clear,
    /** No upload is in progress, so the message may be sent. */
    ready: !isBusy(items),
    attachments: items.flatMap((one) => (one.state === "ready" && one.attachment ? [one.attachment] : [])),
  };
}

export type Uploads = ReturnType<typeof useUploads>;
