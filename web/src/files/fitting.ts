// Sizes in CSS pixels, computed before an image is loaded, so that the layout doesn't shift.

export type Size = { width: number; height: number };

/** Scales down to fit within `max`, keeping the aspect ratio. Never enlarges. */
export function fit(pixels: Size, max: Size): Size {
  const scale = Math.min(1, max.width / pixels.width, max.height / pixels.height);
  return { width: Math.max(1, Math.round(pixels.width * scale)), height: Math.max(1, Math.round(pixels.height * scale)) };
}

export function sizeFrom(pixels: [number, number] | null, otherwise: Size): Size {
  return pixels && pixels[0] > 0 && pixels[1] > 0 ? { width: pixels[0], height: pixels[1] } : otherwise;
}
