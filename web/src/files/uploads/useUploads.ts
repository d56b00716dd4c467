// The uploads of the message that is being written, for its composer.
import { useEffect, useReducer, useRef } from "preact/hooks";
import { makeTray, isBusy, type Tray } from "./tray";
import type { From, Limits } from "./values";

/** A tray outlives its composer, so that going to the settings and back loses nothing. */
const trays = new Map<string, Tray>();

export function trayOf(place: string): Tray {
  const tray = trays.get(place) ?? makeTray(place);
  trays.set(place, tray);
  return tray;
}

/** A new conversation got its name: what is still attached goes along. */
function moveTray(from: string, to: string) {
  const tray = trays.get(from);
  if (!tray || trays.has(to)) return;
  trays.delete(from);
  trays.set(to, tray);
  tray.move(to);
}

/** `place` tells conversations apart; where it changes for the same composer, the conversation got its name. */
export function useUploads(limits: Limits | null | undefined, place: string = location.pathname) {
  const [, redraw] = useReducer((count: number) => count + 1, 0);
  const before = useRef(place);
  if (before.current !== place) moveTray(before.current, place);
  before.current = place;
  const tray = trayOf(place);
  useEffect(() => {
    redraw(undefined); // something may have come since it was drawn
    return tray.watch(() => redraw(undefined));
  }, [tray]);
  const items = tray.items();
  return {
    items,
    add: (files: Iterable<File>, from: From) => tray.add(files, from, limits ?? null),
    remove: tray.remove,
    retry: tray.retry,
    clear: tray.clear,
    /** Nothing is on its way any more: the message may be sent. */
    ready: !isBusy(items),
    attachments: items.flatMap((one) => (one.state === "ready" && one.attachment ? [one.attachment] : [])),
  };
}

export type Uploads = ReturnType<typeof useUploads>;
