// Inline SVG icons on a 24-pixel grid, in the text color. They are decorative; labels carry the meaning.
import type { ComponentChildren } from "preact";

type IconProps = { size?: number };

/** The frame of an icon; parts that load later draw their own in it. */
export function Icon({ size = 20, children }: IconProps & { children: ComponentChildren }) {
  return (
    <svg
      className="icon"
      width={size}
      height={size}
      viewBox="0 0 24 24"
      fill="none"
      stroke="currentColor"
      strokeWidth={1.75}
      strokeLinecap="round"
      strokeLinejoin="round"
      aria-hidden="true"
    >
      {children}
    </svg>
  );
}

export const drawn = (...paths: string[]) =>
  function DrawnIcon(props: IconProps) {
    return (
      <Icon {...props}>
        {paths.map((path) => (
          <path key={path} d={path} />
        ))}
      </Icon>
    );
  };

export const CloseIcon = drawn("M6 6l12 12", "M18 6L6 18");
export const PlusIcon = drawn("M12 5v14", "M5 12h14");
export const MoreIcon = drawn("M5 12h.01", "M12 12h.01", "M19 12h.01");
export const FilterIcon = drawn("M4 7h16", "M7 12h10", "M10 17h4");
export const MenuIcon = drawn("M4 7h16", "M4 12h16", "M4 17h10");
export const PanelIcon = drawn("M5 4h14a1 1 0 0 1 1 1v14a1 1 0 0 1-1 1H5a1 1 0 0 1-1-1V5a1 1 0 0 1 1-1z", "M9.5 4v16");
export const CodeIcon = drawn("M8 7l-5 5 5 5", "M16 7l5 5-5 5", "M13.5 5l-3 14");
export const WrapIcon = drawn("M4 6h16", "M4 12h13a3.5 3.5 0 0 1 0 7h-4", "M15.5 16.5L13 19l2.5 2.5", "M4 18h5");
export const SearchIcon = drawn("M11 4a7 7 0 1 0 0 14 7 7 0 0 0 0-14z", "M20 20l-4-4");
export const SendIcon = drawn("M12 19V5", "M6 11l6-6 6 6");
export const StopIcon = ({ size = 20 }: IconProps) => (
  <svg className="icon" width={size} height={size} viewBox="0 0 24 24" fill="currentColor" aria-hidden="true">
    <rect x="6" y="6" width="12" height="12" rx="2.5" />
  </svg>
);
export const AttachIcon = drawn(
  "M20 11.5l-8.2 8.2a5 5 0 0 1-7.1-7.1l8.5-8.5a3.4 3.4 0 0 1 4.8 4.8l-8.5 8.5a1.7 1.7 0 0 1-2.4-2.4l7.8-7.8",
);
export const CameraIcon = drawn(
  "M4 8h3l2-3h6l2 3h3a1 1 0 0 1 1 1v9a1 1 0 0 1-1 1H4a1 1 0 0 1-1-1V9a1 1 0 0 1 1-1z",
  "M12 10a3.3 3.3 0 1 0 0 6.6 3.3 3.3 0 0 0 0-6.6z",
);
export const LinkIcon = drawn(
  "M10 14a4 4 0 0 0 5.7 0l3.6-3.6a4 4 0 0 0-5.7-5.7L12 6.3",
  "M14 10a4 4 0 0 0-5.7 0l-3.6 3.6a4 4 0 0 0 5.7 5.7l1.6-1.6",
);
export const CopyIcon = drawn(
  "M9 9h10a1 1 0 0 1 1 1v10a1 1 0 0 1-1 1H9a1 1 0 0 1-1-1V10a1 1 0 0 1 1-1z",
  "M5 15H4a1 1 0 0 1-1-1V4a1 1 0 0 1 1-1h10a1 1 0 0 1 1 1v1",
);
export const CheckIcon = drawn("M5 12.5l4.5 4.5L19 7");
export const EditIcon = drawn("M4 20h4L19 9l-4-4L4 16z", "M13 7l4 4");
export const RetryIcon = drawn("M20 12a8 8 0 1 1-2.4-5.7", "M20 3v4h-4");
export const PeopleIcon = drawn(
  "M9 5.5a3 3 0 1 0 0 6 3 3 0 0 0 0-6z",
  "M3.5 19a5.5 5.5 0 0 1 11 0",
  "M15.5 6a3 3 0 0 1 0 5.5",
  "M17 14.2a5.5 5.5 0 0 1 3.5 4.8",
);
export const TrashIcon = drawn("M4 7h16", "M9 7V4h6v3", "M6 7l1 13h10l1-13", "M10 11v5", "M14 11v5");
export const DownloadIcon = drawn("M12 4v11", "M7 11l5 5 5-5", "M5 20h14");
export const UploadIcon = drawn("M12 16V5", "M7 9l5-5 5 5", "M5 20h14");
export const LeftIcon = drawn("M15 5l-7 7 7 7");
export const CropIcon = drawn("M7 3v14h14", "M3 7h14v14");
export const ColumnsIcon = drawn("M4 5h16v14H4z", "M12 5v14");
export const RightIcon = drawn("M9 5l7 7-7 7");
export const DownIcon = drawn("M5 9l7 7 7-7");
export const EyeIcon = drawn(
  "M2.5 12S6 5.5 12 5.5 21.5 12 21.5 12 18 18.5 12 18.5 2.5 12 2.5 12z",
  "M12 9a3 3 0 1 0 0 6 3 3 0 0 0 0-6z",
);
export const GearIcon = drawn(
  "M4 7h9",
  "M17 7h3",
  "M15 5a2 2 0 1 0 0 4 2 2 0 0 0 0-4z",
  "M4 17h3",
  "M11 17h9",
  "M9 15a2 2 0 1 0 0 4 2 2 0 0 0 0-4z",
);
export const StarIcon = drawn("M12 4l2.5 5 5.5.8-4 3.9.9 5.5L12 16.6l-4.9 2.6.9-5.5-4-3.9 5.5-.8z");
export const TableIcon = drawn("M4 5h16v14H4z", "M4 10h16", "M4 14.5h16", "M10 5v14");
export const ImageIcon = drawn("M4 5h16v14H4z", "M4 16l5-5 4 4 3-3 4 4", "M15.5 8.5h.01");
export const DocumentIcon = drawn("M6 3h8l4 4v14H6z", "M14 3v4h4", "M9 12h6", "M9 16h6");
export const AudioIcon = drawn(
  "M9 18V6l10-2v12",
  "M6.5 15.5a2.5 2.5 0 1 0 0 5 2.5 2.5 0 0 0 0-5z",
  "M16.5 13.5a2.5 2.5 0 1 0 0 5 2.5 2.5 0 0 0 0-5z",
);
export const VideoIcon = drawn("M4 6h11v12H4z", "M15 10.5l5-3v9l-5-3");
export const TextIcon = drawn("M5 6h14", "M5 10h14", "M5 14h9", "M5 18h6");
export const FileIcon = drawn("M6 3h8l4 4v14H6z", "M14 3v4h4");
export const ToolIcon = drawn(
  "M14.5 6.5a4 4 0 0 1 5-1l-3 3 1.5 1.5 3-3a4 4 0 0 1-5.5 5L8 19.5a2 2 0 0 1-3-3l7.5-7.5a4 4 0 0 1 2-2.5z",
);
export const WarnIcon = drawn("M12 4l9 16H3z", "M12 10v4", "M12 17h.01");
export const InfoIcon = drawn("M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18z", "M12 11v5", "M12 8h.01");
export const ArrowRightIcon = drawn("M5 12h14", "M13 6l6 6-6 6");
export const SwapIcon = drawn("M7 4L4 7l3 3", "M4 7h13", "M17 14l3 3-3 3", "M20 17H7");
export const BlockIcon = drawn("M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18z", "M5.8 5.8l12.4 12.4");
export const LockIcon = drawn("M6 11h12v9H6z", "M8.5 11V8a3.5 3.5 0 0 1 7 0v3", "M12 15v1.5");
export const ListIcon = drawn("M9 6h11", "M9 12h11", "M9 18h11", "M4.5 6h.01", "M4.5 12h.01", "M4.5 18h.01");
export const ZoomInIcon = drawn("M11 4a7 7 0 1 0 0 14 7 7 0 0 0 0-14z", "M20 20l-4-4", "M11 8v6", "M8 11h6");
export const ZoomOutIcon = drawn("M11 4a7 7 0 1 0 0 14 7 7 0 0 0 0-14z", "M20 20l-4-4", "M8 11h6");
