// Where this page is mounted: the server writes the prefix into the document.

/** The path before all paths of this application, such as "/assistant"; empty at the root. */
export const prefix = globalThis.document?.querySelector<HTMLMetaElement>('meta[name="prefix"]')?.content ?? "";

/** An address of this application for the browser. */
export const at = (path: string): string => prefix + path;

/** The path within this application of an address that `at` made. */
export const within = (path: string): string =>
  path === prefix ? "/" : path.startsWith(`${prefix}/`) ? path.slice(prefix.length) : path;
