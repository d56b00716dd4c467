// Above the messages, if there are earlier ones: loads them once the view comes near, or for a search of the page. Then
// says that the conversation begins there.
import type { RefObject } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { t } from "../language";
import { Button } from "../ui";
import type { SessionView } from "./session/useSession";

/** Pixels above the view that are filled before the user gets there. */
const AHEAD = 3000;

export function Earlier({ sessionView, box }: { sessionView: SessionView; box: RefObject<HTMLElement | null> }) {
  const { session, earlier, loadingEarlier } = sessionView;
  const hadEarlier = useRef(earlier);
  if (earlier) hadEarlier.current = true;
  useEffect(() => {
    const element = box.current;
    if (!earlier || !element) return;
    const onScroll = () => void (element.scrollTop < AHEAD && session.showEarlier());
    const onKey = (event: KeyboardEvent) => {
      // The browser finds and prints only what is on the page.
      if ((event.ctrlKey || event.metaKey) && ["f", "p"].includes(event.key)) void session.showEarlier(true);
    };
    element.addEventListener("scroll", onScroll, { passive: true });
    window.addEventListener("keydown", onKey);
    return () => {
      element.removeEventListener("scroll", onScroll);
      window.removeEventListener("keydown", onKey);
    };
  }, [session, earlier]);
  if (!earlier) return hadEarlier.current ? <p className="earlier beginning">{t("chat.beginning")}</p> : null;
  return (
    <Button className="earlier" disabled={loadingEarlier} onClick={() => void session.showEarlier()}>
      {t("chat.showEarlier")}
    </Button>
  );
}
