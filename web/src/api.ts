// Client for the server's JSON API.

import { t } from "./language";
import { at } from "./prefix";

/** A failed request; status 0 means that the network failed. */
export class ApiError extends Error {
  constructor(
    readonly kind: string,
    readonly text: string,
    readonly status: number,
    /** Seconds to wait before the next attempt, if the server sends `Retry-After`. */
    readonly retryAfter: number | null = null,
  ) {
    super(text);
    this.name = "ApiError";
  }
}

export type Limits = { max_file_bytes: number; max_message_files: number };

export type Me = {
  user: string;
  /** The display name that other people see. */
  name: string | null;
  mode: "alone" | "accounts" | "host";
  limits: Limits;
  /** Whether the server attaches files by their address. */
  addresses: boolean;
  /** Whether the user may enter keys of providers. */
  keys: boolean;
  login: string | null;
  version: string;
};

type Options = { signal?: AbortSignal };

/** Reads an error response. Our server sends `{"error": {kind, text}}`; a proxy may send anything. */
export async function readError(response: Response): Promise<ApiError> {
  const body = await response.text().catch(() => "");
  return errorOf(response.status, body, response.headers.get("retry-after"));
}

/** Builds the error from status and body. Uploads use it too, because they go through XMLHttpRequest. */
export function errorOf(status: number, body: string, retryAfter: string | null = null): ApiError {
  const seconds = retryAfter && /^\d+$/.test(retryAfter) ? Number(retryAfter) : null;
  try {
    const { kind, text } = JSON.parse(body).error;
    if (typeof kind === "string" && typeof text === "string") return new ApiError(kind, text, status, seconds);
  } catch {
    // Not our JSON; use the fallback text below.
  }
  return new ApiError("Unexpected", t("errors.unexpected", { status }), status, seconds);
}

/** The error of a request that got no response. */
export function unreachable(): ApiError {
  return new ApiError("Unreachable", t("errors.unreachable"), 0);
}

async function ask<T>(method: string, path: string, body: unknown, options: Options): Promise<T> {
  const init: RequestInit = { method, headers: { accept: "application/json" } };
  if (options.signal) init.signal = options.signal;
  if (body !== undefined) {
    init.headers = { accept: "application/json", "content-type": "application/json" };
    init.body = JSON.stringify(body);
    init.keepalive = init.body.length < 16_000; // complete the request even if the page is closed
  }
  return exchange(path, init);
}

async function exchange<T>(path: string, init: RequestInit): Promise<T> {
  const response = await fetch(at(path), init).catch((error: unknown) => {
    if (error instanceof DOMException && error.name === "AbortError") throw error;
    throw unreachable();
  });
  if (!response.ok) {
    const error = await readError(response);
    if (error.status === 401) window.dispatchEvent(new Event("signed-out"));
    throw error;
  }
  if (response.status === 204) return undefined as T;
  return (await response.json()) as T;
}

export const api = {
  get: <T>(path: string, options: Options = {}) => ask<T>("GET", path, undefined, options),
  post: <T>(path: string, body: unknown = {}, options: Options = {}) => ask<T>("POST", path, body, options),
  put: <T>(path: string, body: unknown, options: Options = {}) => ask<T>("PUT", path, body, options),
  patch: <T>(path: string, body: unknown, options: Options = {}) => ask<T>("PATCH", path, body, options),
  /** Posts bytes. */
  send: <T>(path: string, body: Blob, type: string, { signal = null }: { signal?: AbortSignal | null } = {}) =>
    exchange<T>(path, { method: "POST", headers: { accept: "application/json", "content-type": type }, body, signal }),
  del: <T = void>(path: string, options: Options = {}) => ask<T>("DELETE", path, undefined, options),
};

/** Text for the user about a thrown value. */
export function wordsOf(error: unknown): string {
  if (error instanceof ApiError) return error.text;
  return error instanceof Error ? error.message : String(error);
}
