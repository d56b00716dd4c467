// Image lightbox: next and previous, zoom by wheel, pinch, double click or keys, and pan.
import "./viewer.css";
import { useEffect, useState } from "preact/hooks";
import { t } from "../language";
import { IconButton } from "../ui";
import { CloseIcon, DownloadIcon, LeftIcon, RightIcon, TrashIcon, ZoomInIcon, ZoomOutIcon } from "../ui/icons";
import { useModal } from "../ui/useModal";
import { usePanZoom } from "./usePanZoom";
import { view, type Picture } from "./viewing";
import { pan, WHOLE, zoomAt, type Zoom } from "./zoom";

const STEP = 1.4;
const SHIFT = 80;
const MIDDLE = { x: 0, y: 0 };
const ARROWS: Record<string, [number, number]> = { ArrowLeft: [1, 0], ArrowRight: [-1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };

const close = () => view(null);

export function Pictures(p: { pictures: readonly Picture[]; at: number }) {
  const dialog = useModal(close);
  const [at, go] = useState(p.at);
  const turn = (by: number) => go((now) => Math.min(p.pictures.length - 1, Math.max(0, now + by)));
  const { stage, zoom, change, ...touch } = usePanZoom(turn, close, at);
  const picture = p.pictures[at];
  useNeighbours(p.pictures, at);
  if (!picture) return null;
  const onKeyDown = (event: KeyboardEvent) => {
    const next = event.ctrlKey || event.metaKey || event.altKey ? undefined : zoomBy(event.key, zoom);
    if (next) change(next);
    else if (event.key === "ArrowLeft" || event.key === "ArrowRight") turn(event.key === "ArrowLeft" ? -1 : 1);
    else return;
    event.preventDefault();
  };
  return (
    <dialog ref={dialog} className="viewer" aria-label={t("viewer.pictures")} onClose={close} onKeyDown={onKeyDown}>
      <header className="viewer-bar">
        <p className="viewer-title" aria-live="polite">
          <span>{picture.title}</span>
          <span className="file-quiet">{[picture.note, count(at, p.pictures.length)].filter(Boolean).join(" · ")}</span>
        </p>
        <IconButton
          label={t("viewer.smaller")}
          icon={<ZoomOutIcon />}
          aria-disabled={zoom.scale === 1}
          onClick={() => change((from) => zoomAt(from, 1 / STEP, MIDDLE))}
        />
        <IconButton label={t("viewer.larger")} icon={<ZoomInIcon />} onClick={() => change((from) => zoomAt(from, STEP, MIDDLE))} />
        {picture.download && (
          <a className="icon-button" href={picture.download} download="" aria-label={t("files.downloadShort")} title={t("files.downloadShort")}>
            <DownloadIcon />
          </a>
        )}
        {picture.remove && (
          <IconButton
            label={t("page.delete")}
            icon={<TrashIcon />}
            onClick={() => {
              close();
              picture.remove?.();
            }}
          />
        )}
        <IconButton label={t("page.close")} icon={<CloseIcon />} onClick={close} />
      </header>
      <div ref={stage} className={zoom.scale > 1 ? "viewer-stage viewer-near" : "viewer-stage"} {...touch}>
        <Sight key={picture.large} picture={picture} zoom={zoom} />
      </div>
      {p.pictures.length > 1 && (
        <nav className="viewer-turn" aria-label={t("viewer.others")}>
          <IconButton label={t("viewer.previous")} icon={<LeftIcon />} aria-disabled={at === 0} onClick={() => turn(-1)} />
          <IconButton
            label={t("viewer.next")}
            icon={<RightIcon />}
            aria-disabled={at === p.pictures.length - 1}
            onClick={() => turn(1)}
          />
        </nav>
      )}
    </dialog>
  );
}

function Sight(p: { picture: Picture; zoom: Zoom }) {
  const [state, set] = useState<"waiting" | "here" | "failed">("waiting");
  const { large, small, title, width, height } = p.picture;
  const { x, y, scale } = p.zoom;
  if (state === "failed") return <p className="viewer-words">{t("viewer.broken")}</p>;
  return (
    <>
      {state === "waiting" && small && small !== large && (
        <img className="viewer-small" src={small} alt="" width={width} height={height} />
      )}
      <img
        className="viewer-picture"
        src={large}
        alt={title}
        width={width}
        height={height}
        draggable={false}
        style={{ transform: `translate(${x}px, ${y}px) scale(${scale})` }}
        onLoad={() => set("here")}
        onError={() => set("failed")}
      />
    </>
  );
}

/** Preloads the next and the previous image. */
function useNeighbours(pictures: readonly Picture[], at: number) {
  useEffect(() => {
    for (const near of [pictures[at + 1], pictures[at - 1]]) if (near) new Image().src = near.large;
  }, [at]);
}

function zoomBy(key: string, zoom: Zoom): ((from: Zoom) => Zoom) | undefined {
  if (key === "+" || key === "=") return (from) => zoomAt(from, STEP, MIDDLE);
  if (key === "-") return (from) => zoomAt(from, 1 / STEP, MIDDLE);
  if (key === "0") return () => WHOLE;
  const arrow = zoom.scale > 1 ? ARROWS[key] : undefined;
  return arrow && ((from) => pan(from, { x: arrow[0] * SHIFT, y: arrow[1] * SHIFT }));
}

const count = (at: number, of: number) => (of > 1 ? t("viewer.position", { at: at + 1, count: of }) : "");
