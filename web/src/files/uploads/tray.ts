// The uploads of one message: three at a time, each can be aborted, retried or removed. Independent of components.
import { api, ApiError, wordsOf } from "../../api";
import { t } from "../../language";
import { isDrawn, ownAddress, type Attachment } from "../attachment";
import { storeUploads, loadUploads, type StoredUpload } from "./storedUploads";
import { type Job, sendFile } from "./send";
import { isOpen, nameOf, refuse, type From, type Limits, type Upload } from "./values";

const AT_ONCE = 3;

export type Tray = ReturnType<typeof makeTray>;

/** `at` is the key of the conversation. Attachments from before a reload are restored. */
export function makeTray(at: string) {
  let place = at;
  let items: readonly Upload[] = [];
  let limits: Limits | null = null;
  let [made, pasted] = [0, 0];
  const watchers = new Set<() => void>();
  const jobs = new Map<string, Job>();
  const stops = new Map<string, () => void>();

  const find = (key: string) => items.find((one) => one.key === key);
  const set = (next: readonly Upload[]) => {
    items = next;
    storeUploads(place, items.filter((one) => one.state !== "refused").map(keptOf));
    for (const watch of watchers) watch();
  };
  const change = (key: string, to: Partial<Upload>) => set(items.map((one) => (one.key === key ? { ...one, ...to } : one)));
  const fresh = (name: string, size: number | null): Upload => ({ ...BLANK, key: `${place} ${++made}`, name, size });

  function add(picked: Iterable<File>, from: From) {
    for (const file of picked) {
      const name = nameOf(file, from, from === "paste" ? pasted + 1 : 0);
      if (name !== file.name) pasted += 1;
      const item = fresh(name, file.size);
      jobs.set(item.key, sendFile(file, name));
      set([...items, { ...item, preview: isDrawn(file.type) ? URL.createObjectURL(file) : null }]);
    }
    admit();
  }

  /** Adds a file that a job brings to the server. Its size is not known before. */
  function addJob(name: string, job: Job) {
    const item = fresh(name, null);
    jobs.set(item.key, job);
    set([...items, item]);
    admit();
  }

  /** Tells the tray the server's limits. Files that are added before wait for them. */
  function limit(to: Limits) {
    limits = to;
    admit();
  }

  /** Refuses files that are too large, queues others up to the limit of one message, and starts uploads. */
  function admit() {
    if (!limits) return;
    const now = limits;
    const queued = (one: Upload) => jobs.has(one.key) && (one.state === "waiting" || one.state === "later");
    let space = now.max_message_files - items.filter((one) => one.state !== "refused" && !queued(one)).length;
    const place = (one: Upload): Partial<Upload> => {
      const problem = refuse(one, now);
      return problem ? { state: "refused", problem } : { state: space-- > 0 ? "waiting" : "later" };
    };
    set(items.map((one) => (queued(one) ? { ...one, ...place(one) } : one)));
    begin();
  }

  /** Starts waiting uploads while there are free slots. */
  function begin() {
    for (const item of items) {
      const job = jobs.get(item.key);
      if (stops.size >= AT_ONCE) return;
      if (item.state === "waiting" && job) start(item, job);
    }
  }

  function start(item: Upload, job: Job) {
    const { key } = item;
    const end = (to: Partial<Upload>) => {
      stops.delete(key);
      change(key, to);
      begin();
    };
    stops.set(
      key,
      job({
        progress: (done, size = item.size) => change(key, { size, done: Math.min(done, size ?? done) }),
        ready: (attachment) => end(arrived(attachment, item)),
        failed: (error, isFinal) => end(isFinal ? refused(error) : failed(error)),
      }),
    );
    change(key, { state: "sending", done: 0, problem: null });
  }

  /** Removes one, also from the server. */
  function remove(key: string) {
    const item = find(key);
    if (!item) return;
    forget([item]);
    set(items.filter((one) => one !== item));
    if (item.id) api.del(pathOf(item.id)).catch(() => undefined); // the server deletes it after a day anyway
    admit();
  }

  function forget(removed: readonly Upload[]) {
    for (const { key, preview } of removed) {
      stops.get(key)?.();
      stops.delete(key);
      jobs.delete(key);
      if (preview?.startsWith("blob:")) URL.revokeObjectURL(preview);
    }
  }

  function retry(key: string) {
    const item = find(key);
    if (item?.state !== "failed") return;
    change(key, { state: "waiting", problem: null });
    if (jobs.has(key)) admit();
    else if (item.id) void fetchAgain(key, item.id);
  }

  /** Removes sent and refused files; the others stay. */
  function clear() {
    const removed = items.filter((one) => one.state === "ready" || one.state === "refused");
    forget(removed);
    set(items.filter((one) => !removed.includes(one)));
    admit();
  }

  /** Adds files that the server already has. */
  function adopt(attachments: readonly Attachment[]) {
    set([...items, ...attachments.map((one) => ({ ...fresh(one.name, one.size ?? 0), ...arrived(one, BLANK) }))]);
  }

  function restore() {
    for (const { id, name, size } of loadUploads(place)) {
      const item = fresh(name, size);
      if (id === null) set([...items, { ...item, state: "failed", again: false, problem: t("uploads.unfinished") }]);
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
      else set(items.filter((one) => one.key !== key)); // it was sent meanwhile
    } catch (error) {
      const removed = error instanceof ApiError && error.status === 404;
      change(key, removed ? { state: "failed", again: false, problem: t("uploads.gone"), id: null } : failed(error));
    }
  }

  /** Moves the tray to the new conversation's id. */
  function move(to: string) {
    storeUploads(place, []);
    place = to;
    set(items);
  }

  const watch = (listener: () => void) => {
    watchers.add(listener);
    return () => void watchers.delete(listener);
  };
  restore();
  return { items: () => items, watch, add, addJob, limit, remove, retry, clear, adopt, move };
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
const keptOf = ({ id, name, size }: Upload): StoredUpload => ({ id, name, size });

/** The state after a finished upload. Uses the server's thumbnail if the browser has no preview. */
function arrived(attachment: Attachment, item: Upload): Partial<Upload> {
  const { id, name, thumbnail } = attachment;
  const size = attachment.size ?? item.size ?? 0;
  const preview = item.preview ?? ownAddress(thumbnail) ?? null;
  return { id, name, size, done: size, preview, attachment, state: "ready", problem: null };
}

export const isBusy = (items: readonly Upload[]) => items.some(isOpen);
