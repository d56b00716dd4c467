// A part of a picture as a new file.
import { type Part } from "./zoom";

/** Draws a part of a loaded image, in the image's own pixels. Null if the browser can't. */
export async function crop(image: HTMLImageElement, part: Part, name: string): Promise<File | null> {
  const [across, down] = [image.naturalWidth, image.naturalHeight];
  const width = Math.max(1, Math.round(part.width * across));
  const height = Math.max(1, Math.round(part.height * down));
  const canvas = Object.assign(document.createElement("canvas"), { width, height });
  const context = canvas.getContext("2d");
  if (!context) return null;
  context.drawImage(image, Math.round(part.left * across), Math.round(part.top * down), width, height, 0, 0, width, height);
  const bytes = await new Promise<Blob | null>((done) => canvas.toBlob(done, "image/png"));
  return bytes && new File([bytes], nameOfPart(name), { type: "image/png" });
}

/** "chart.jpg" gives "chart-part.png". */
export const nameOfPart = (name: string) => `${name.replace(/\.[^.]*$/, "")}-part.png`;
