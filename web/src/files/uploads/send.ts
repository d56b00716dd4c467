// Uploads one file with progress events; can be aborted.
import { ApiError, errorOf, unreachable } from "../../api";
import { at } from "../../prefix";
import type { Attachment } from "../attachment";

export type UploadListener = {
  /** `size` is null as long as it is unknown. */
  progress(done: number, size?: number | null): void;
  ready(attachment: Attachment): void;
  /** `isFinal`: a retry is pointless. */
  failed(error: ApiError, isFinal: boolean): void;
};

/** Starts an upload, and returns a function that aborts it; no callback follows. */
export type Job = (listener: UploadListener) => () => void;

/** Uses XMLHttpRequest, because fetch has no upload progress. */
export const sendFile = (file: Blob, name: string): Job => (listener) => {
  const request = new XMLHttpRequest();
  request.open("PUT", at(`/api/attachments?name=${encodeURIComponent(name)}`));
  request.setRequestHeader("content-type", file.type || "application/octet-stream");
  request.setRequestHeader("accept", "application/json");
  request.upload.onprogress = (event) => listener.progress(event.loaded);
  request.onerror = () => listener.failed(unreachable(), false);
  request.onload = () => {
    const result = read(request);
    if (result instanceof ApiError) listener.failed(result, isFinal(result));
    else listener.ready(result);
  };
  request.send(file);
  return () => request.abort();
};

function read(request: XMLHttpRequest): Attachment | ApiError {
  const { status, responseText } = request;
  if (status === 401) window.dispatchEvent(new CustomEvent("signed-out"));
  if (status !== 200 && status !== 201) return errorOf(status, responseText, request.getResponseHeader("retry-after"));
  try {
    return JSON.parse(responseText) as Attachment;
  } catch {
    return errorOf(status, responseText);
  }
}

/** Whether the server will never accept these bytes, so that a retry is pointless. */
const isFinal = (error: ApiError) => [400, 413, 415, 422].includes(error.status);
