// Buttons that attach files from disk, on touch devices from the camera, and from an address where the server allows it.
import { useRef } from "preact/hooks";
import { t } from "../language";
import { touches } from "../state/media";
import { AttachIcon, CameraIcon, IconButton, LinkIcon } from "../ui";

type Props = { onFiles: (files: FileList, from: "picker" | "camera") => void; onAddress: (() => void) | undefined };

export function Attaching({ onFiles, onAddress }: Props) {
  const picker = useRef<HTMLInputElement>(null);
  const camera = useRef<HTMLInputElement>(null);
  const onPicked = (from: "picker" | "camera") => (event: Event) => {
    const input = event.currentTarget as HTMLInputElement;
    if (input.files?.length) onFiles(input.files, from);
    input.value = ""; // allow choosing the same file again
  };
  return (
    <>
      <IconButton label={t("composer.attach")} icon={<AttachIcon />} onClick={() => picker.current?.click()} />
      <input ref={picker} type="file" multiple hidden aria-label={t("composer.attachInput")} onChange={onPicked("picker")} />
      {touches && (
        <>
          <IconButton label={t("composer.camera")} icon={<CameraIcon />} onClick={() => camera.current?.click()} />
          <input
            ref={camera}
            type="file"
            accept="image/*"
            capture="environment"
            hidden
            aria-label={t("composer.cameraInput")}
            onChange={onPicked("camera")}
          />
        </>
      )}
      {onAddress && <IconButton label={t("addresses.open")} icon={<LinkIcon />} onClick={onAddress} />}
    </>
  );
}
