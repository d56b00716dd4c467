// The kinds of files that people are told of.
export type Kind = "image" | "document" | "audio" | "video" | "text" | "other";
