// Image lightbox: next and previous, two side by side, zoom by wheel, pinch, double click or keys, and pan.
import "./viewer.css";
import { useEffect, useState } from "preact/hooks";
import { t } from "../language";
import { IconButton } from "../ui";
import { CloseIcon, ColumnsIcon, CropIcon, DownloadIcon, LeftIcon, RightIcon, TrashIcon, ZoomInIcon, ZoomOutIcon } from "../ui/icons";
import { useModal } from "../ui/useModal";
import { crop } from "./crop";
import { useBroken } from "./useBroken";
import { usePanZoom } from "./usePanZoom";
import { view, type Picture } from "./viewing";
import { pan, visiblePart, WHOLE, zoomAt, type Zoom } from "./zoom";

const STEP = 1.4;
const SHIFT = 80;
const MIDDLE = { x: 0, y: 0 };
const ARROWS: Record<string, [number, number]> = { ArrowLeft: [1, 0], ArrowRight: [-1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };

const close = () => view(null);

export function Pictures(p: { pictures: readonly Picture[]; at: number }) {
  const dialog = useModal(close);
  const { at, beside, turn, compare } = useChosen(p.at, p.pictures.length);
  const { stage, zoom, change, ...touch } = usePanZoom(turn, close, beside === null ? at : "both");
  const picture = p.pictures[at];
  const other = beside === null ? undefined : p.pictures[beside];
  const shown = beside ?? at;
  useNeighbours(p.pictures, shown);
  if (!picture) return null;
  const attachPart = async () => {
    const image = stage.current?.querySelector<HTMLImageElement>(".viewer-picture");
    if (!image?.parentElement || zoom.scale === 1) return;
    const part = visiblePart(zoom, boxOf(image), boxOf(image.parentElement));
    const file = await crop(image, part, picture.name ?? picture.title);
    close();
    if (file) picture.attach?.(file);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const next = event.ctrlKey || event.metaKey || event.altKey ? undefined : zoomBy(event.key, zoom);
    if (next) change(next);
    else if (event.key === "ArrowLeft" || event.key === "ArrowRight") turn(event.key === "ArrowLeft" ? -1 : 1);
    else return;
    event.preventDefault();
  };
  return (
    <dialog ref={dialog} className="viewer" aria-label={t("viewer.pictures")} onKeyDown={onKeyDown}>
      <header className="viewer-bar">
        <p className="viewer-title" aria-live="polite">
          <span>{other ? t("viewer.both", { one: picture.title, other: other.title }) : picture.title}</span>
          <span className="file-quiet">{[!other && picture.note, count(shown, p.pictures.length)].filter(Boolean).join(" · ")}</span>
        </p>
        <IconButton
          label={t("viewer.smaller")}
          icon={<ZoomOutIcon />}
          aria-disabled={zoom.scale === 1}
          onClick={() => change((from) => zoomAt(from, 1 / STEP, MIDDLE))}
        />
        <IconButton label={t("viewer.larger")} icon={<ZoomInIcon />} onClick={() => change((from) => zoomAt(from, STEP, MIDDLE))} />
        {p.pictures.length > 1 && (
          <IconButton label={t("viewer.compare")} icon={<ColumnsIcon />} aria-pressed={Boolean(other)} onClick={compare} />
        )}
        {!other && picture.attach && (
          <IconButton label={t(zoom.scale === 1 ? "viewer.zoomFirst" : "viewer.attachPart")} icon={<CropIcon />} aria-disabled={zoom.scale === 1} onClick={attachPart} />
        )}
        {!other && picture.download && (
          <a className="icon-button" href={picture.download} download="" aria-label={t("files.downloadShort")} title={t("files.downloadShort")}>
            <DownloadIcon />
          </a>
        )}
        {!other && picture.remove && (
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
        {other && <Sight key={other.large} picture={other} zoom={zoom} />}
      </div>
      {p.pictures.length > 1 && (
        <nav className="viewer-turn" aria-label={t("viewer.others")}>
          <IconButton label={t("viewer.previous")} icon={<LeftIcon />} aria-disabled={shown === 0} onClick={() => turn(-1)} />
          <IconButton
            label={t("viewer.next")}
            icon={<RightIcon />}
            aria-disabled={shown === p.pictures.length - 1}
            onClick={() => turn(1)}
          />
        </nav>
      )}
    </dialog>
  );
}

/** The picture that is shown, and the one to its right that it is compared with: then that one is turned. */
function useChosen(first: number, count: number) {
  const [at, go] = useState(first);
  const [beside, put] = useState<number | null>(null);
  const within = (now: number) => Math.min(count - 1, Math.max(0, now));
  const turn = (by: number) => (beside === null ? go(within(at + by)) : put(within(beside + by)));
  const compare = () => put(beside === null ? (at + 1 < count ? at + 1 : at - 1) : null);
  return { at, beside, turn, compare };
}

function Sight(p: { picture: Picture; zoom: Zoom }) {
  const [loaded, load] = useState(false);
  const [broken, onBroken] = useBroken();
  const { large, small, title, width, height } = p.picture;
  const { x, y, scale } = p.zoom;
  if (broken) return <p className="viewer-words">{t("viewer.broken")}</p>;
  return (
    <div className="viewer-pane">
      {!loaded && small && small !== large && (
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
        onLoad={() => load(true)}
        onError={onBroken}
      />
    </div>
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

const boxOf = (element: HTMLElement) => ({ width: element.clientWidth, height: element.clientHeight });

const count = (at: number, of: number) => (of > 1 ? t("viewer.position", { at: at + 1, count: of }) : "");
