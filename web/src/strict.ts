// The chat client checks each chunk with zod, which tries `new Function` as it is loaded: our page forbids that.
// Loaded before anything that brings zod.
import { config } from "zod/v4/core";

config({ jitless: true });
