// Sends one file as it is, tells how far it has come, and can be stopped.
import { ApiError, errorOf, unreachable } from "../../api";
import type { Attachment } from "../attachment";

export type Told = {
  progress(done: number): void;
  ready(attachment: Attachment): void;
  failed(error: ApiError): void;
};

/** XMLHttpRequest, for fetch doesn't tell how much was sent. What is returned stops it; then nothing is told any more. */
export function send(file: Blob, name: string, told: Told): () => void {
  const request = new XMLHttpRequest();
  request.open("PUT", `/api/attachments?name=${encodeURIComponent(name)}`);
  request.setRequestHeader("content-type", file.type || "application/octet-stream");
  request.setRequestHeader("accept", "application/json");
  request.upload.onprogress = (event) => told.progress(event.loaded);
  request.onerror = () => told.failed(unreachable());
  request.onload = () => {
    const answer = read(request);
    if (answer instanceof ApiError) told.failed(answer);
    else told.ready(answer);
  };
  request.send(file);
  return () => request.abort();
}

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

/** Whether the server will never take these bytes, so that trying again is no help. */
export const isFinal = (error: ApiError) => [400, 413, 415, 422].includes(error.status);
