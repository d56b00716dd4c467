// Follows answers to their end, also while another conversation is shown: notifies of long ones, and reads the titles
// that models give to new conversations.
import { api, ApiError } from "../api";
import { addressOf } from "../chat/session/stored";
import { type PlainKey, t } from "../language";
import { go, here, pathOf } from "../router";
import { notify, subscribe } from "../state/list";
import { pause } from "../state/pause";
import type { Conversation, Listed, Message, Settings } from "../types";
import { wantsNotifications } from "./choice";
import { show } from "./show";

/** Seconds from which on an answer is long. */
const LONG = 10;
/** Milliseconds between looks at running answers. */
const PACE = 4000;
/** Milliseconds in which another tab may say that its user has seen the end. */
const OTHERS = 1000;
/** Milliseconds between looks for a title: the server's model has 30 seconds for it. */
const TITLE_WAITS = [1000, 2000, 3000, 5000, 8000, 12000];

/** The conversations with a running answer, kept for a reload of this tab. */
const KEY = "showandtell.awaited";
const awaited = new Set<string>(read<string[]>(sessionStorage, KEY, []));

/** The last ends that were seen in a tab or announced, by conversation, for all tabs. */
const KNOWN = "showandtell.announced";
const MAX_KNOWN = 50;

let isStarted = false;
let timer: ReturnType<typeof setTimeout> | undefined;
let round: Promise<void> | null = null;

export function start(): void {
  if (isStarted) return;
  isStarted = true;
  subscribe((news) => {
    if (news.what === "run") expect(news.id);
    else if (news.what === "list" && awaited.size) void look();
  });
  document.addEventListener("visibilitychange", () => void (awaited.size && look()));
  void look();
}

function expect(id: string): void {
  awaited.add(id);
  keepAwaited();
  plan();
}

const keepAwaited = () => sessionStorage.setItem(KEY, JSON.stringify([...awaited]));

function plan(): void {
  clearTimeout(timer);
  if (awaited.size) timer = setTimeout(() => void look(), PACE);
}

/** Looks which answers have ended, once at a time. */
async function look(): Promise<void> {
  while (round) await round;
  round = lookOnce().catch(() => undefined); // the next look may succeed
  await round;
  round = null;
  plan();
}

async function lookOnce(): Promise<void> {
  const { conversations } = await api.get<{ conversations: Listed[] }>("/api/conversations?limit=100");
  const running = new Set(conversations.filter((each) => each.running).map((each) => each.id));
  for (const id of [...running, ...awaited]) {
    awaited.add(id);
    if (running.has(id)) continue;
    const found = await load(id);
    if (found?.running) continue;
    awaited.delete(id);
    if (found) onEnd(found);
  }
  keepAwaited();
}

/** A conversation with its newest answer; null if there is none any more. */
async function load(id: string): Promise<Conversation | null> {
  try {
    return await api.get<Conversation>(`${addressOf(id)}?newest=1`);
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return null;
    throw error;
  }
}

function onEnd(ended: Conversation): void {
  const answer = ended.messages.findLast((message) => message.role === "assistant");
  if (answer && wantsNotifications()) void announce(ended, answer);
  if (answer && !ended.earlier && ended.right === "owner") void readTitle(ended).catch(() => undefined);
}

const WORDS: Record<NonNullable<NonNullable<Message["metadata"]>["status"]>, PlainKey> = {
  complete: "notifications.complete",
  incomplete: "notifications.incomplete",
  refused: "notifications.failed",
  error: "notifications.failed",
  waiting: "notifications.waiting",
};

/** Notifies of the end of a long answer, unless the user sees it in this tab or another one. */
async function announce({ id, title }: Conversation, { metadata = {} }: Message): Promise<void> {
  const { created, finished, run_id, status = "incomplete" } = metadata;
  if (!created || !finished || finished - created < LONG) return;
  const end = `${run_id} ${finished}`;
  const isSeen = () => document.visibilityState === "visible" && here() === pathOf(id);
  if (!isSeen()) await pause(OTHERS);
  await navigator.locks.request(`showandtell ${end}`, { ifAvailable: true }, async (lock) => {
    const known = read<Record<string, string>>(localStorage, KNOWN, {});
    if (!lock || known[id] === end) return;
    const others = Object.entries(known).filter(([other]) => other !== id);
    localStorage.setItem(KNOWN, JSON.stringify(Object.fromEntries([...others, [id, end]].slice(-MAX_KNOWN))));
    if (!isSeen()) show(title || t("sidebar.untitled"), t(WORDS[status]), id, () => go(pathOf(id)));
    await pause(OTHERS); // until the other tabs can read it
  });
}

/** Waits until the model has given a new conversation its title, where the user wants that. */
async function readTitle({ id, title }: Conversation): Promise<void> {
  if (!(await api.get<Settings>("/api/settings")).titles) return;
  if (title) notify({ what: "title", id, title }); // what is shown may have been loaded a moment earlier
  for (const wait of TITLE_WAITS) {
    await pause(wait);
    const now = (await load(id))?.title;
    if (now && now !== title) return notify({ what: "title", id, title: now });
  }
}

function read<T>(storage: Storage, key: string, nothing: T): T {
  try {
    return (JSON.parse(storage.getItem(key) ?? "null") as T | null) ?? nothing;
  } catch {
    return nothing;
  }
}
