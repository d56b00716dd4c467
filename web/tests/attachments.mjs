// Files that users attach: chosen, dropped or pasted.
import { inflateSync } from "node:zlib";

export const fileInput = (page) => page.getByLabel(/^(Files to attach|Anzuhängende Dateien)$/);
export const tray = (page) => page.getByRole("list", { name: /^(Files of this message|Dateien dieser Nachricht)$/ });

/** A PNG of 2 x 2 pixels. */
export const PIXELS = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAIAAAACCAIAAAD91JpzAAAAFklEQVR4nGM8ISfHwMDAxMDAwMDAAAANBAEIfXHKZgAAAABJRU5ErkJggg==",
  "base64",
);

export const textFile = (name, content) => ({ name, mimeType: "text/plain", buffer: Buffer.from(content) });
export const imageFile = (name) => ({ name, mimeType: "image/png", buffer: PIXELS });

/** A document of an old Word without text, which no model takes. */
export const docFile = (name) => ({
  name,
  mimeType: "application/msword",
  buffer: inflateSync(Buffer.from(
    "eNrt1DEOgjAYBeBXEIVNFwcmT+KkF2DxAOqoJkQHj+MRPIkeQQ8i5ZWUpHGqo/o+8vKTNm0hf9L7bfK4XMsn3syRorEFhsGY8emMwXlr3WtfHStf5cW4/qXs3YDJGNfzEZMzhe+v/KYKBz5HzLDEnrXGGZ+YIjP9XiZyTXhfrHh6jQ0WrGucsMO2+45YJRIT/k/MmsTfXyIiIiIiIiIi/6AFnrDA1g==",
    "base64",
  )),
}); // prettier-ignore

/** An empty ZIP archive, which is for tools only. */
export const zipFile = (name) => ({
  name,
  mimeType: "application/zip",
  buffer: Buffer.from("504b0506000000000000000000000000000000000000", "hex"),
});

/** Reloads a page that believes that every model takes every file, so that only the server refuses some. */
export async function acceptAllFiles(page) {
  await page.route("**/api/models", async (route) => {
    const catalog = await (await route.fetch()).json();
    const takes = { image: "native", document: "native", audio: "native", video: "native", text: "native", other: "native" };
    await route.fulfill({ json: { ...catalog, models: catalog.models.map((model) => ({ ...model, takes })) } });
  });
  await page.reload();
}

/** Chooses files in the browser's dialog, and waits for their uploads. */
export async function attach(page, ...files) {
  await fileInput(page).setInputFiles(files);
  await waitForUploads(page);
}

/** Waits until no upload is in progress. */
export async function waitForUploads(page) {
  await tray(page).waitFor();
  await page.waitForFunction(() => !document.querySelector(".tray progress"));
}

/** A `DataTransfer` object of the page that holds files. */
function dataTransferOf(page, files) {
  const encoded = files.map(({ name, mimeType, buffer }) => ({ name, mimeType, data: buffer.toString("base64") }));
  return page.evaluateHandle((items) => {
    const transfer = new DataTransfer();
    for (const { name, mimeType, data } of items) {
      const bytes = Uint8Array.from(atob(data), (character) => character.charCodeAt(0));
      transfer.items.add(new File([bytes], name, { type: mimeType }));
    }
    return transfer;
  }, encoded);
}

export async function drop(page, ...files) {
  const dataTransfer = await dataTransferOf(page, files);
  await page.getByRole("textbox", { name: "Message", exact: true }).waitFor(); // what takes files comes with it
  await page.dispatchEvent("main", "dragenter", { dataTransfer });
  await page.getByText("Drop files to attach them").waitFor();
  await page.dispatchEvent("main", "dragover", { dataTransfer });
  await page.dispatchEvent("main", "drop", { dataTransfer });
}

export async function paste(page, ...files) {
  const clipboardData = await dataTransferOf(page, files);
  await page.getByRole("textbox", { name: "Message", exact: true }).evaluate((box, data) => {
    box.dispatchEvent(new ClipboardEvent("paste", { clipboardData: data, bubbles: true, cancelable: true }));
  }, clipboardData);
}
