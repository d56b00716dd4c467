// The uploads of one message: three at a time, each can be stopped, tried again or taken out. Knows no component.
import { api, ApiError, wordsOf } from "../../api";
import { isDrawn, ownAddress, type Attachment } from "../attachment";
import { keep, recall, type Kept } from "./kept";
import { isFinal, send } from "./send";
import { isOpen, nameOf, refuse, type From, type Limits, type Upload } from "./values";

const AT_ONCE = 3;
const UNFINISHED = "The page was left before it was uploaded. Attach it again.";
const GONE = "It is no longer on the server. Attach it again.";

export type Tray = ReturnType<typeof makeTray>;

/** `at` names the conversation; what was attached there before a reload is fetched again. */
export function makeTray(at: string) {
  let place = at;
  let items: readonly Upload[] = [];
  let [made, pasted, most] = [0, 0, Infinity];
  const watchers = new Set<() => void>();
  const files = new Map<string, File>();
  const stops = new Map<string, () => void>();

  const find = (key: string) => items.find((one) => one.key === key);
  const set = (next: readonly Upload[]) => {
    items = next;
    keep(place, items.filter((one) => one.state !== "refused").map(keptOf));
    for (const watch of watchers) watch();
  };
  const change = (key: string, to: Partial<Upload>) => set(items.map((one) => (one.key === key ? { ...one, ...to } : one)));
  const fresh = (name: string, size: number): Upload => ({ ...BLANK, key: `${place} ${++made}`, name, size });

  function add(given: Iterable<File>, from: From, limits: Limits | null) {
    for (const file of given) {
      const name = nameOf(file, from, from === "paste" ? pasted + 1 : 0);
      if (name !== file.name) pasted += 1;
      const problem = refuse(file, limits);
      const item = fresh(name, file.size);
      if (problem) set([...items, { ...item, state: "refused", problem }]);
      else {
        files.set(item.key, file);
        set([...items, { ...item, state: "later", preview: isDrawn(file.type) ? URL.createObjectURL(file) : null }]);
      }
    }
    most = limits?.max_message_files ?? most;
    admit();
    begin();
  }

  /** So many as one message takes get their turn; the others go with the next one. */
  function admit() {
    let room = most - items.filter((one) => one.state !== "refused" && one.state !== "later").length;
    set(items.map((one) => (one.state === "later" && room-- > 0 ? { ...one, state: "waiting" } : one)));
  }

  /** Sends what waits, as far as there are places. */
  function begin() {
    for (const item of items) {
      const file = files.get(item.key);
      if (stops.size >= AT_ONCE) return;
      if (item.state === "waiting" && file) start(item, file);
    }
  }

  function start(item: Upload, file: File) {
    const { key } = item;
    const end = (to: Partial<Upload>) => {
      stops.delete(key);
      change(key, to);
      begin();
    };
    stops.set(
      key,
      send(file, item.name, {
        progress: (done) => change(key, { done: Math.min(done, item.size) }),
        ready: (attachment) => end(arrived(attachment, item)),
        failed: (error) => end(isFinal(error) ? refused(error) : failed(error)),
      }),
    );
    change(key, { state: "sending", done: 0, problem: null });
  }

  /** Takes one out; what the server has of it is dropped there, too. */
  function remove(key: string) {
    const item = find(key);
    if (!item) return;
    forget([item]);
    set(items.filter((one) => one !== item));
    admit();
    if (item.id) api.del(pathOf(item.id)).catch(() => undefined); // it ends by itself after a day
    begin();
  }

  function forget(gone: readonly Upload[]) {
    for (const { key, preview } of gone) {
      stops.get(key)?.();
      stops.delete(key);
      files.delete(key);
      if (preview?.startsWith("blob:")) URL.revokeObjectURL(preview);
    }
  }

  function retry(key: string) {
    const item = find(key);
    if (item?.state !== "failed") return;
    change(key, { state: "waiting", problem: null });
    if (files.has(key)) begin();
    else if (item.id) void fetchAgain(key, item.id);
  }

  /** What was sent is taken out, and what can never be; what may still be sent stays. */
  function clear() {
    const gone = items.filter((one) => one.state === "ready" || one.state === "refused");
    forget(gone);
    set(items.filter((one) => !gone.includes(one)));
    admit();
    begin();
  }

  /** Puts files of which the server already has the bytes into the message. */
  function adopt(attachments: readonly Attachment[]) {
    set([...items, ...attachments.map((one) => ({ ...fresh(one.name, one.size ?? 0), ...arrived(one, BLANK) }))]);
  }

  function restore() {
    for (const { id, name, size } of recall(place)) {
      const item = fresh(name, size);
      if (id === null) set([...items, { ...item, state: "failed", again: false, problem: UNFINISHED }]);
      else {
        set([...items, { ...item, id }]);
        void fetchAgain(item.key, id);
      }
    }
  }

  async function fetchAgain(key: string, id: string) {
    try {
      const attachment = await api.get<Attachment>(pathOf(id));
      if (attachment.state === "pending") change(key, arrived(attachment, BLANK));
      else set(items.filter((one) => one.key !== key)); // it was sent in the meantime
    } catch (error) {
      const gone = error instanceof ApiError && error.status === 404;
      change(key, gone ? { state: "failed", again: false, problem: GONE, id: null } : failed(error));
    }
  }

  /** The conversation got its name. */
  function move(to: string) {
    keep(place, []);
    place = to;
    set(items);
  }

  const watch = (told: () => void) => {
    watchers.add(told);
    return () => void watchers.delete(told);
  };
  restore();
  return { items: () => items, watch, add, remove, retry, clear, adopt, move };
}

const BLANK: Upload = {
  key: "",
  id: null,
  name: "",
  size: 0,
  state: "waiting",
  done: 0,
  preview: null,
  problem: null,
  again: true,
  attachment: null,
};

const pathOf = (id: string) => `/api/attachments/${encodeURIComponent(id)}`;
const failed = (error: unknown): Partial<Upload> => ({ state: "failed", problem: wordsOf(error) });
const refused = (error: ApiError): Partial<Upload> => ({ state: "refused", problem: error.text, again: false });
const keptOf = ({ id, name, size }: Upload): Kept => ({ id, name, size });

/** What is known once the server has a file; its own small picture stands in where the browser has none. */
function arrived(attachment: Attachment, item: Upload): Partial<Upload> {
  const { id, name, thumbnail } = attachment;
  const size = attachment.size ?? item.size;
  const preview = item.preview ?? ownAddress(thumbnail) ?? null;
  return { id, name, size, done: size, preview, attachment, state: "ready", problem: null };
}

export const isBusy = (items: readonly Upload[]) => items.some(isOpen);
