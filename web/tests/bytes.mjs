// Counts what a page transfers, as the browser's network log does: responses with their headers, as they were sent.

/** The bytes of each URL that this page loads from now on, with an empty cache. */
export async function countBytes(page) {
  const network = await page.context().newCDPSession(page);
  await network.send("Network.enable");
  await network.send("Network.clearBrowserCache");
  const [urls, sizes] = [new Map(), new Map()];
  network.on("Network.requestWillBeSent", ({ requestId, request }) => urls.set(requestId, request.url));
  network.on("Network.loadingFinished", ({ requestId, encodedDataLength }) => sizes.set(urls.get(requestId), encodedDataLength));
  return sizes;
}
