// Pan and zoom by wheel, pinch and double click; a swipe over the unzoomed picture turns to the next one.
import { useEffect, useRef, useState } from "preact/hooks";
import { between, distance, clampZoom, pan, WHOLE, zoomAt, type Point, type Zoom } from "./zoom";

const SWIPE = 60;
const TAP = 6;
const CLOSER = 2.5;

type Change = (from: Zoom) => Zoom;

/**
 * `stage` is the element around the panes, each with an <img>, which all move alike. `turn` receives 1 or -1; `leave` is
 * called for a tap beside the pictures.
 */
export function usePanZoom(turn: (by: number) => void, leave: () => void, key: unknown) {
  const stage = useRef<HTMLDivElement>(null);
  const [zoom, set] = useState(WHOLE);
  const change = (to: Change) => set((from) => clampToStage(stage.current, to(from)));
  useEffect(() => set(WHOLE), [key]);
  useWheel(stage, change);
  const touch = useFingers(change, zoom, { turn, leave });
  const onDblClick = (event: MouseEvent) => change((from) => toggle(from, pointOf(event, paneAt(stage.current, event))));
  return { stage, zoom, change, ...touch, onDblClick };
}

const toggle = (from: Zoom, at: Point) => (from.scale > 1 ? WHOLE : zoomAt(from, CLOSER, at));

function clampToStage(stage: HTMLElement | null, zoom: Zoom): Zoom {
  const image = stage?.querySelector("img");
  if (!image?.parentElement) return zoom;
  const size = (of: HTMLElement) => ({ width: of.clientWidth, height: of.clientHeight });
  return clampZoom(zoom, size(image), size(image.parentElement));
}

/** A non-passive listener, so that the wheel doesn't scroll the page behind. */
function useWheel(stage: { current: HTMLElement | null }, change: (to: Change) => void) {
  useEffect(() => {
    const turnWheel = (event: WheelEvent) => {
      event.preventDefault();
      const factor = Math.exp(-event.deltaY * (event.ctrlKey ? 0.01 : 0.002));
      const at = pointOf(event, paneAt(stage.current, event));
      change((from) => zoomAt(from, factor, at));
    };
    stage.current?.addEventListener("wheel", turnWheel, { passive: false });
    return () => stage.current?.removeEventListener("wheel", turnWheel);
  }, []);
}

type Deeds = { turn: (by: number) => void; leave: () => void };

function useFingers(change: (to: Change) => void, zoom: Zoom, deeds: Deeds) {
  const fingers = useRef(new Map<number, Point>());
  const swiped = useRef(0);
  const moved = useRef(0);
  const pane = useRef<Element | null>(null); // of the first finger: the others are measured from there, too
  const onPointerDown = (event: PointerEvent) => {
    if (event.button !== 0) return;
    const stage = event.currentTarget as HTMLElement;
    stage.setPointerCapture(event.pointerId);
    if (!fingers.current.size) pane.current = paneAt(stage, event);
    fingers.current.set(event.pointerId, pointOf(event, pane.current));
    swiped.current = 0;
    moved.current = fingers.current.size > 1 ? Infinity : 0;
  };
  const onPointerMove = (event: PointerEvent) => {
    const before = fingers.current.get(event.pointerId);
    if (!before) return;
    const now = pointOf(event, pane.current);
    const other = [...fingers.current].find(([id]) => id !== event.pointerId)?.[1];
    fingers.current.set(event.pointerId, now);
    moved.current += distance(before, now);
    if (other) change(pinch(before, now, other));
    else if (zoom.scale > 1) change((from) => pan(from, { x: now.x - before.x, y: now.y - before.y }));
    else swiped.current += now.x - before.x;
  };
  const onPointerUp = (event: PointerEvent) => {
    if (!fingers.current.delete(event.pointerId) || fingers.current.size || zoom.scale > 1) return;
    if (Math.abs(swiped.current) > SWIPE) deeds.turn(swiped.current < 0 ? 1 : -1);
    else if (moved.current < TAP && isBeside(event)) deeds.leave();
  };
  const onPointerCancel = (event: PointerEvent) => void fingers.current.delete(event.pointerId);
  return { onPointerDown, onPointerMove, onPointerUp, onPointerCancel };
}

function isBeside(event: PointerEvent): boolean {
  const images = [...(event.currentTarget as HTMLElement).querySelectorAll("img")];
  return images.length > 0 && images.every((image) => !holds(image, event));
}

function pinch(before: Point, now: Point, other: Point): Change {
  const factor = distance(now, other) / Math.max(1, distance(before, other));
  const [was, is] = [between(before, other), between(now, other)];
  return (from) => pan(zoomAt(from, factor, is), { x: is.x - was.x, y: is.y - was.y });
}

function holds(element: Element, { clientX: x, clientY: y }: MouseEvent): boolean {
  const box = element.getBoundingClientRect();
  return x >= box.left && x <= box.right && y >= box.top && y <= box.bottom;
}

function paneAt(stage: HTMLElement | null, event: MouseEvent): Element | null {
  const panes = [...(stage?.children ?? [])];
  return panes.find((pane) => holds(pane, event)) ?? panes[0] ?? stage;
}

function pointOf(event: MouseEvent, pane: Element | null): Point {
  const box = pane?.getBoundingClientRect() ?? new DOMRect();
  return { x: event.clientX - box.left - box.width / 2, y: event.clientY - box.top - box.height / 2 };
}

