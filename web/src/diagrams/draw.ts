// Draws diagrams, one after the other, in a sandboxed frame (frame.ts). A frame that takes too long is removed.
import address from "virtual:diagrams";
import { COLOURS, type Drawing, type DrawingReply, type DrawingRequest, type Look } from "./protocol";

export type { Drawing } from "./protocol";

const LONGEST_LOAD = 60_000;
const LONGEST_DRAWING = 8_000;
/** Longer sources are not drawn, and larger drawings not shown. */
const MAX_SOURCE = 20_000;
const MAX_DRAWING = 4_000_000;
const MAX_SIDE = 20_000;

let frame: HTMLIFrameElement | null = null;
let last: Promise<unknown> = Promise.resolve();
let count = 0;

/** Rejects if the diagram can't be drawn. */
export function draw(source: string): Promise<Drawing> {
  if (source.length > MAX_SOURCE) return Promise.reject(new Error("the diagram is too long"));
  const drawing = last.then(() => drawNow(source));
  last = drawing.catch(() => {});
  return drawing;
}

async function drawNow(source: string): Promise<Drawing> {
  frame ??= await openFrame();
  try {
    return await within(LONGEST_DRAWING, ask(frame, { id: ++count, source, look: currentLook() }));
  } catch (error) {
    frame?.remove();
    frame = null;
    throw error;
  }
}

async function openFrame(): Promise<HTMLIFrameElement> {
  const opened = document.createElement("iframe");
  opened.className = "diagram-frame";
  opened.setAttribute("sandbox", "allow-scripts");
  opened.ariaHidden = "true";
  opened.tabIndex = -1;
  opened.src = address;
  const loaded = new Promise((done) => opened.addEventListener("load", done, { once: true }));
  document.body.append(opened);
  try {
    await within(LONGEST_LOAD, loaded);
  } catch (error) {
    opened.remove();
    throw error;
  }
  return opened;
}

async function ask(from: HTMLIFrameElement, request: DrawingRequest): Promise<Drawing> {
  const done = new AbortController();
  const reply = new Promise<unknown>((take) => {
    const read = ({ source, data }: MessageEvent<DrawingReply | null>) => {
      if (source === from.contentWindow && data?.id === request.id) take(data.drawing);
    };
    addEventListener("message", read, { signal: done.signal });
  });
  from.contentWindow?.postMessage(request, "*"); // the frame has no origin that could be named
  try {
    const drawing = await reply;
    if (!isDrawing(drawing)) throw new Error("the diagram can't be drawn");
    return drawing;
  } finally {
    done.abort();
  }
}

/** The frame isn't trusted. */
function isDrawing(value: unknown): value is Drawing {
  const { svg, width, height, title } = (value ?? {}) as Partial<Drawing>;
  const isSide = (side: unknown) => typeof side === "number" && side > 0 && side <= MAX_SIDE;
  return typeof svg === "string" && svg.length <= MAX_DRAWING && typeof title === "string" && isSide(width) && isSide(height);
}

function within<T>(milliseconds: number, work: Promise<T>): Promise<T> {
  const late = new Promise<never>((_, reject) => setTimeout(() => reject(new Error("it took too long")), milliseconds));
  return Promise.race([work, late]);
}

/** The page's own colours, as they are now. */
function currentLook(): Look {
  const styles = getComputedStyle(document.documentElement);
  const valueOf = (name: string) => styles.getPropertyValue(name).trim();
  const colours = Object.fromEntries(COLOURS.map((name) => [name, valueOf(`--${name}`)])) as Look["colours"];
  return { dark: styles.colorScheme === "dark", font: valueOf("--sans").replaceAll('"', "'"), colours };
}
