// A PDF as page images, loaded as they come near. The original is only downloaded: PDF viewers run its scripts.
import "./viewer.css";
import { useEffect, useRef, useState } from "preact/hooks";
import { t } from "../language";
import { IconButton } from "../ui";
import { CloseIcon } from "../ui/icons";
import { useModal } from "../ui/useModal";
import { titleOf, partOf, type Attachment } from "./attachment";
import { Download } from "./Download";
import { useBroken } from "./useBroken";
import { view } from "./viewing";

/** Maximum number of pages shown; the download has all of them. */
const MAX_PAGES = 1000;
const KEYS: Record<string, number> = { ArrowLeft: -1, ArrowRight: 1, k: -1, j: 1 };

const close = () => view(null);

/** `from` is the page to begin with. */
export function Pages(p: { file: Attachment; from?: number | undefined }) {
  const { file } = p;
  const dialog = useModal(close);
  const shown = useRef<HTMLDivElement>(null);
  const pages = Math.min(MAX_PAGES, file.pages ?? 1);
  const [page, go] = usePage(shown, pages);
  useEffect(() => {
    shown.current?.focus(); // not the number, which opens the keyboard of a phone
    if (p.from) go(() => p.from ?? 1);
  }, []);
  const onKeyDown = (event: KeyboardEvent) => {
    const by = event.target instanceof HTMLInputElement ? undefined : KEYS[event.key];
    if (!by) return;
    event.preventDefault();
    go((now) => now + by);
  };
  return (
    <dialog ref={dialog} className="viewer viewer-document" aria-label={titleOf(file)} onKeyDown={onKeyDown}>
      <header className="viewer-bar">
        <p className="viewer-title">
          <span>{titleOf(file)}</span>
        </p>
        <PageNumber page={page} pages={pages} go={(to) => go(() => to)} />
        <Download file={file} />
        <IconButton label={t("page.close")} icon={<CloseIcon />} onClick={close} />
      </header>
      <div ref={shown} className="viewer-pages" tabIndex={0} role="region" aria-label={t("viewer.pages")}>
        {Array.from({ length: pages }, (_, index) => (
          <Page key={index} file={file} page={index + 1} />
        ))}
        {(file.pages ?? 1) > pages && <p className="viewer-words">{t("viewer.morePages", { pages: file.pages ?? 1 })}</p>}
      </div>
    </dialog>
  );
}

function Page(p: { file: Attachment; page: number }) {
  const [broken, onBroken] = useBroken();
  return (
    <div className="viewer-page" data-page={p.page}>
      {broken ? (
        <p className="viewer-words">{t("viewer.pageBroken", { page: p.page })}</p>
      ) : (
        <img
          src={partOf(p.file, `pages/${p.page}`)}
          alt={t("viewer.page", { page: p.page })}
          width="794"
          height="1123"
          loading="lazy"
          decoding="async"
          onError={onBroken}
        />
      )}
    </div>
  );
}

function PageNumber(p: { page: number; pages: number; go(to: number): void }) {
  const field = useRef<HTMLInputElement>(null);
  if (p.pages < 2) return null;
  const onSubmit = (event: Event) => {
    event.preventDefault();
    p.go(Number(field.current?.value));
  };
  return (
    <form className="viewer-number" onSubmit={onSubmit}>
      <label>
        <span className="unseen">{t("viewer.pageNumber")}</span>
        <input ref={field} type="number" min="1" max={p.pages} value={p.page} onBlur={onSubmit} />
      </label>{" "}
      {t("viewer.ofPages", { pages: p.pages })}
    </form>
  );
}

/** The page in view, and a function that scrolls to another one. */
function usePage(shown: { current: HTMLElement | null }, pages: number) {
  const [page, draw] = useState(1);
  const now = useRef(1);
  const see = (read: number) => draw((now.current = read));
  useEffect(() => {
    const root = shown.current;
    if (!root) return;
    const watch = new IntersectionObserver(
      (seen) => {
        const read = seen.find((one) => one.isIntersecting)?.target;
        if (read instanceof HTMLElement) see(root.scrollTop < 1 ? 1 : Number(read.dataset["page"]));
      },
      { root, rootMargin: "-45% 0px -50% 0px" },
    );
    for (const one of root.querySelectorAll("[data-page]")) watch.observe(one);
    return () => watch.disconnect();
  }, [pages]);
  const go = (to: (now: number) => number) => {
    const wanted = Math.min(pages, Math.max(1, Math.round(to(now.current)) || 1));
    shown.current?.querySelector(`[data-page="${wanted}"]`)?.scrollIntoView({ block: "start" });
    see(wanted);
  };
  return [page, go] as const;
}
