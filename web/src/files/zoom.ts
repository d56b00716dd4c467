// How a picture is moved and enlarged, as plain arithmetic: points and shifts are CSS pixels from the middle.
import type { Size } from "./fitting";

export type Point = { x: number; y: number };
export type Zoom = Point & { scale: number };

export const WHOLE: Zoom = { scale: 1, x: 0, y: 0 };
const MOST = 12;

/** Enlarges by `factor` so that what is under `point` stays there. */
export function zoomAt(zoom: Zoom, factor: number, point: Point): Zoom {
  const scale = Math.min(MOST, Math.max(1, zoom.scale * factor));
  if (scale === 1) return WHOLE;
  const grown = scale / zoom.scale;
  return { scale, x: point.x - (point.x - zoom.x) * grown, y: point.y - (point.y - zoom.y) * grown };
}

export function pan(zoom: Zoom, by: Point): Zoom {
  return { ...zoom, x: zoom.x + by.x, y: zoom.y + by.y };
}

/** Keeps a picture of size `shown` (at scale 1) over its stage: no edge comes further in than it must. */
export function hold(zoom: Zoom, shown: Size, stage: Size): Zoom {
  const reach = (of: number, within: number) => Math.max(0, (of * zoom.scale - within) / 2);
  const [across, down] = [reach(shown.width, stage.width), reach(shown.height, stage.height)];
  return { ...zoom, x: clamp(zoom.x, across), y: clamp(zoom.y, down) };
}

const clamp = (value: number, most: number) => Math.min(most, Math.max(-most, value)) || 0;

export const between = (one: Point, other: Point): Point => ({ x: (one.x + other.x) / 2, y: (one.y + other.y) / 2 });
export const distance = (one: Point, other: Point) => Math.hypot(one.x - other.x, one.y - other.y);
