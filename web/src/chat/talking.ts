// What a message on the page can ask of its conversation.
import { createContext } from "preact";
import type { Attachment } from "../files";
import type { Message } from "../types";

export type Talking = {
  send: (text: string, attachments: Attachment[]) => Promise<void>;
  regenerate: (message: Message) => void;
  edit: (message: Message, text: string) => void;
  branch: (messageId: string) => void;
  answer: (approvalId: string, approved: boolean) => void;
};

const nothing = () => {};

export const TalkContext = createContext<Talking>({
  send: async () => {},
  regenerate: nothing,
  edit: nothing,
  branch: nothing,
  answer: nothing,
});
