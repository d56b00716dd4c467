// Files as people give them: by the picker, dropped, or pasted.

export const picker = (page) => page.getByLabel("Files to attach");
export const tray = (page) => page.getByRole("list", { name: "Files of this message" });

/** A small picture that is really one: PNG, four pixels. */
export const PIXEL = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAIAAAACCAIAAAD91JpzAAAAFklEQVR4nGM8ISfHwMDAxMDAwMDAAAANBAEIfXHKZgAAAABJRU5ErkJggg==",
  "base64",
);

export const text = (name, words) => ({ name, mimeType: "text/plain", buffer: Buffer.from(words) });
export const picture = (name) => ({ name, mimeType: "image/png", buffer: PIXEL });

/** An empty archive, which no model is shown. */
export const archive = (name) => ({
  name,
  mimeType: "application/zip",
  buffer: Buffer.from("504b0506000000000000000000000000000000000000", "hex"),
});

/** Loads a page anew that believes that every model takes every file: then the server alone refuses one. */
export async function believe(page) {
  await page.route("**/api/models", async (route) => {
    const told = await (await route.fetch()).json();
    const takes = { image: "native", document: "native", audio: "native", video: "native", text: "native", other: "native" };
    await route.fulfill({ json: { ...told, models: told.models.map((one) => ({ ...one, takes })) } });
  });
  await page.reload();
}

/** Chooses files in the browser's own dialogue, and waits until they are there. */
export async function pick(page, ...files) {
  await picker(page).setInputFiles(files);
  await uploaded(page);
}

/** Nothing is on its way any more. */
export async function uploaded(page) {
  await tray(page).waitFor();
  await page.waitForFunction(() => !document.querySelector(".tray progress"));
}

/** What the clipboard or the mouse carries, made within the page. */
function carried(page, files) {
  const given = files.map(({ name, mimeType, buffer }) => ({ name, mimeType, data: buffer.toString("base64") }));
  return page.evaluateHandle((all) => {
    const transfer = new DataTransfer();
    for (const { name, mimeType, data } of all) {
      const bytes = Uint8Array.from(atob(data), (one) => one.charCodeAt(0));
      transfer.items.add(new File([bytes], name, { type: mimeType }));
    }
    return transfer;
  }, given);
}

export async function drop(page, ...files) {
  const dataTransfer = await carried(page, files);
  await page.dispatchEvent("main", "dragenter", { dataTransfer });
  await page.getByText("Drop files to attach them").waitFor();
  await page.dispatchEvent("main", "dragover", { dataTransfer });
  await page.dispatchEvent("main", "drop", { dataTransfer });
}

export async function paste(page, ...files) {
  const clipboardData = await carried(page, files);
  await page.getByRole("textbox", { name: "Message", exact: true }).evaluate((box, given) => {
    box.dispatchEvent(new ClipboardEvent("paste", { clipboardData: given, bubbles: true, cancelable: true }));
  }, clipboardData);
}
