// Dialog with all shortcuts of the page.
import "./finding.css";
import { type PlainKey, t } from "../language";
import { Dialog } from "../ui";

const apple = /Mac|iP/.test(navigator.platform);

/** Keys are words of the catalogue, or stand for themselves. `+` is between keys that are pressed together. */
type Shortcut = { keys: readonly string[]; words: PlainKey };
type Group = { title: PlainKey; shortcuts: readonly Shortcut[] };

const NAMES: Record<string, PlainKey> = {
  Control: "shortcuts.control",
  Shift: "shortcuts.shift",
  Enter: "shortcuts.enter",
  Escape: "shortcuts.escape",
  Delete: "shortcuts.delete",
  Menu: "shortcuts.menuKey",
  Arrows: "shortcuts.arrows",
};

const GROUPS: readonly Group[] = [
  {
    title: "shortcuts.page",
    shortcuts: [
      { keys: ["Control+K"], words: "shortcuts.search" },
      { keys: ["?"], words: "shortcuts.show" },
      { keys: ["Escape"], words: "shortcuts.close" },
    ],
  },
  {
    title: "shortcuts.list",
    shortcuts: [
      { keys: ["Arrows"], words: "shortcuts.move" },
      { keys: ["Enter"], words: "shortcuts.open" },
      { keys: ["F2"], words: "finding.rename" },
      { keys: ["P"], words: "shortcuts.pin" },
      { keys: ["T"], words: "finding.tags" },
      { keys: ["A"], words: "shortcuts.archive" },
      { keys: ["Delete"], words: "page.delete" },
      { keys: ["Shift+F10", "Menu"], words: "shortcuts.menu" },
    ],
  },
  {
    title: "shortcuts.writing",
    shortcuts: [
      { keys: ["Enter"], words: "shortcuts.send" },
      { keys: ["Shift+Enter"], words: "shortcuts.line" },
      { keys: ["@"], words: "shortcuts.files" },
      { keys: ["Escape"], words: "shortcuts.stop" },
    ],
  },
  {
    title: "shortcuts.viewer",
    shortcuts: [
      { keys: ["Arrows"], words: "shortcuts.turn" },
      { keys: ["+", "-"], words: "shortcuts.zoom" },
      { keys: ["0"], words: "shortcuts.whole" },
      { keys: ["J", "K"], words: "shortcuts.pages" },
      { keys: ["Arrows"], words: "shortcuts.cells" },
    ],
  },
];

export function Shortcuts({ onClose }: { onClose: () => void }) {
  return (
    <Dialog open onClose={onClose} title={t("shortcuts.title")} className="shortcuts">
      {GROUPS.map(({ title, shortcuts }) => (
        <section key={title} aria-label={t(title)}>
          <h3>{t(title)}</h3>
          <dl>
            {shortcuts.map(({ keys, words }) => (
              <div key={words}>
                <dt>
                  {keys.map((key) => (
                    <Keys key={key} keys={key} />
                  ))}
                </dt>
                <dd>{t(words)}</dd>
              </div>
            ))}
          </dl>
        </section>
      ))}
    </Dialog>
  );
}

/** Keys that are pressed together. */
function Keys({ keys }: { keys: string }) {
  const names = keys.length > 1 ? keys.split("+") : [keys];
  return (
    <span className="shortcut">
      {names.map((name) => (
        <kbd key={name}>{nameOf(name)}</kbd>
      ))}
    </span>
  );
}

function nameOf(key: string): string {
  if (apple && key === "Control") return "⌘";
  const words = NAMES[key];
  return words ? t(words) : key;
}
