// Writes each asset of the page in compressed forms as well, which the server sends without any work of its own.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import type { Plugin } from "vite";

const { BROTLI_PARAM_LGWIN, BROTLI_PARAM_MODE, BROTLI_PARAM_SIZE_HINT, BROTLI_MODE_TEXT, BROTLI_MAX_WINDOW_BITS } = constants;
/** The byte of gzip's header that names the operating system. */
const GZIP_SYSTEM = 9;
const GZIP_UNKNOWN_SYSTEM = 255;

function brotli(bytes: Buffer): Buffer {
  return brotliCompressSync(bytes, {
    params: {
      [BROTLI_PARAM_MODE]: BROTLI_MODE_TEXT,
      [BROTLI_PARAM_LGWIN]: BROTLI_MAX_WINDOW_BITS,
      [BROTLI_PARAM_SIZE_HINT]: bytes.length,
    },
  });
}

function gzip(bytes: Buffer): Buffer {
  const compressed = gzipSync(bytes, { level: constants.Z_BEST_COMPRESSION });
  compressed[GZIP_SYSTEM] = GZIP_UNKNOWN_SYSTEM; // the same bytes on each system
  return compressed;
}

/** `x.js.br` and `x.js.gz` beside `x.js`, unless that is too small to gain from either. */
export const compressed: Plugin = {
  name: "compressed",
  apply: "build",
  writeBundle({ dir }, bundle) {
    for (const name of Object.keys(bundle).filter((path) => path.startsWith("assets/"))) {
      const path = join(dir ?? "", name);
      const bytes = readFileSync(path);
      const forms = { br: brotli(bytes), gz: gzip(bytes) };
      if (Object.values(forms).some((form) => form.length >= bytes.length)) continue;
      for (const [suffix, form] of Object.entries(forms)) writeFileSync(`${path}.${suffix}`, form);
    }
  },
};
