// The pages of a PDF that a tool showed the model, as pictures below its call.
import "./viewedPages.css";
import { useFile } from "../chat/session/fileStore";
import { isThere, labelOf, partOf } from "../files/attachment";
import { useBroken } from "../files/useBroken";
import { view } from "../files/viewing";
import { t } from "../language";

/** Maximum number of pages; the viewer has all of them. */
const SHOWN = 10;

export function ViewedPages({ number, pages }: { number: number; pages: readonly unknown[] }) {
  const file = useFile(number);
  const count = file?.media_type === "application/pdf" && isThere(file) ? (file.pages ?? 0) : 0;
  const isPage = (page: unknown): page is number => typeof page === "number" && page >= 1 && page <= count;
  const shown = pages.filter(isPage).slice(0, SHOWN);
  if (!file || !shown.length) return null;
  return (
    <div className="viewed-pages">
      {shown.map((page) => (
        <ViewedPage
          key={page}
          address={partOf(file, `pages/${page}`)}
          label={t("viewer.openPage", { page, label: labelOf(file) })}
          onOpen={() => view({ what: "pages", file, page })}
        />
      ))}
    </div>
  );
}

function ViewedPage(p: { address: string | undefined; label: string; onOpen: () => void }) {
  const [broken, onBroken] = useBroken();
  if (broken || !p.address) return null;
  return (
    <button type="button" aria-label={p.label} onClick={p.onOpen}>
      <img src={p.address} alt="" loading="lazy" decoding="async" onError={onBroken} />
    </button>
  );
}
