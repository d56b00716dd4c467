// The chat client validates chunks with zod, which tries `new Function` when loaded. Our CSP forbids that.
// Must be imported before any module that imports zod.
import { config } from "zod/v4/core";

config({ jitless: true });

// Our CSP requires Trusted Types: no string becomes HTML or a script's address. The one exception is the decoder of
// character references (`&eacute;`) in Markdown, which reads them back from `innerHTML`; all else is refused.
type Policies = { createPolicy(name: string, rules: { createHTML(text: string): string | null }): unknown };
const { trustedTypes } = globalThis as { trustedTypes?: Policies };
trustedTypes?.createPolicy("default", { createHTML: (text) => (/^&[a-zA-Z0-9]{1,40};$/.test(text) ? text : null) });
