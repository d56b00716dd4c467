// What the page and the document that draws diagrams send to each other.

/** Names of the page's colours (styles/tokens.css). */
export const COLOURS = [
  "surface", "sunken", "line", "line-strong", "ink", "ink-soft",
  "accent", "accent-soft", "good", "good-soft", "warn", "warn-soft", "bad", "bad-soft",
] as const; // prettier-ignore

/** Colours are hexadecimal. */
export type Look = { dark: boolean; font: string; colours: Record<(typeof COLOURS)[number], string> };

export type DrawingRequest = { id: number; source: string; look: Look };

/** A drawing as an SVG image with its size in pixels, and the title that its source gives it. */
export type Drawing = { svg: string; width: number; height: number; title: string };

export type DrawingReply = { id: number; drawing: Drawing | null };
