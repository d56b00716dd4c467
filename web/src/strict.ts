// The chat client validates chunks with zod, which tries `new Function` when loaded. Our CSP forbids that.
// Must be imported before any module that imports zod.
import { config } from "zod/v4/core";

config({ jitless: true });
