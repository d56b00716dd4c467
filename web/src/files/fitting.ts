// Sizes on the screen, in CSS pixels: known before a picture is loaded, so that nothing jumps when it comes.

export type Size = { width: number; height: number };

/** The largest size of the same shape within `most`; a picture is never enlarged. */
export function fit(pixels: Size, most: Size): Size {
  const scale = Math.min(1, most.width / pixels.width, most.height / pixels.height);
  return { width: Math.max(1, Math.round(pixels.width * scale)), height: Math.max(1, Math.round(pixels.height * scale)) };
}

export function sizeFrom(pixels: [number, number] | null, otherwise: Size): Size {
  return pixels && pixels[0] > 0 && pixels[1] > 0 ? { width: pixels[0], height: pixels[1] } : otherwise;
}
