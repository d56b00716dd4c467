// What is true only while an answer is written: a tool's progress, and that the provider is asked again.
import { createContext } from "preact";
import type { Data } from "../types";

export type Live = { progress: Readonly<Record<string, Data["progress"]>>; retry: Data["retry"] | null };

export const quiet: Live = { progress: {}, retry: null };

export const LiveContext = createContext<Live>(quiet);
