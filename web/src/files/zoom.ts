// Arithmetic of pan and zoom. Points and offsets are CSS pixels from the center.
import type { Size } from "./fitting";

export type Point = { x: number; y: number };
export type Zoom = Point & { scale: number };

export const WHOLE: Zoom = { scale: 1, x: 0, y: 0 };
const MAX_SCALE = 12;

/** Zooms by `factor` around `point`. */
export function zoomAt(zoom: Zoom, factor: number, point: Point): Zoom {
  const scale = Math.min(MAX_SCALE, Math.max(1, zoom.scale * factor));
  if (scale === 1) return WHOLE;
  const grown = scale / zoom.scale;
  return { scale, x: point.x - (point.x - zoom.x) * grown, y: point.y - (point.y - zoom.y) * grown };
}

export function pan(zoom: Zoom, by: Point): Zoom {
  return { ...zoom, x: zoom.x + by.x, y: zoom.y + by.y };
}

/** Limits the offset so that a picture of size `shown` (at scale 1) covers its stage as far as possible. */
export function clampZoom(zoom: Zoom, shown: Size, stage: Size): Zoom {
  const reach = (of: number, within: number) => Math.max(0, (of * zoom.scale - within) / 2);
  const [across, down] = [reach(shown.width, stage.width), reach(shown.height, stage.height)];
  return { ...zoom, x: clamp(zoom.x, across), y: clamp(zoom.y, down) };
}

export type Part = { left: number; top: number; width: number; height: number };

/** The part of a picture of size `shown` (at scale 1) that is visible in its pane, in fractions of the picture. */
export function visiblePart(zoom: Zoom, shown: Size, pane: Size): Part {
  const [left, width] = visibleAlong(zoom.x, shown.width * zoom.scale, pane.width);
  const [top, height] = visibleAlong(zoom.y, shown.height * zoom.scale, pane.height);
  return { left, top, width, height };
}

function visibleAlong(offset: number, length: number, within: number): [start: number, length: number] {
  const start = Math.max(0, 0.5 - (within / 2 + offset) / length);
  const end = Math.min(1, 0.5 + (within / 2 - offset) / length);
  return [start, Math.max(0, end - start)];
}

const clamp = (value: number, max: number) => Math.min(max, Math.max(-max, value)) || 0;

export const between = (one: Point, other: Point): Point => ({ x: (one.x + other.x) / 2, y: (one.y + other.y) / 2 });
export const distance = (one: Point, other: Point) => Math.hypot(one.x - other.x, one.y - other.y);
