// Icons of the actions on a conversation.
import { drawn } from "../ui/icons";

export { DownloadIcon, EditIcon, TrashIcon } from "../ui/icons";
export const PinIcon = drawn("M9 4h6l-.7 6 3.2 4H6.5l3.2-4z", "M12 14v6");
export const TagIcon = drawn("M4 4h7.5l8.5 8.5-7.5 7.5L4 11.5z", "M8 8h.01");
export const ArchiveIcon = drawn("M4 5h16v4H4z", "M5.5 9v10h13V9", "M10 13h4");
