// File kinds as shown to users.
export type Kind = "image" | "document" | "audio" | "video" | "text" | "other";
