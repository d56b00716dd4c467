// The tags of the user's conversations.
import { api } from "../api";

export type Tag = { name: string; conversations: number };

export const loadTags = (signal?: AbortSignal) =>
  api.get<{ tags: Tag[] }>("/api/conversations/tags", signal ? { signal } : {}).then(({ tags }) => tags);
