// Dialog with the tags of a conversation: each is stored as soon as it is added or removed.
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { wordsOf } from "../api";
import { t } from "../language";
import type { Own } from "../types";
import { Button, CloseIcon, Dialog, IconButton } from "../ui";
import { store } from "./organize";
import { loadTags, type Tag } from "./tagList";

/** What the server takes. */
const LONGEST = 40;

export function Tags({ row, title, onClose }: { row: Own; title: string; onClose: () => void }) {
  const [tags, setTags] = useState(row.tags);
  const [known, setKnown] = useState<Tag[]>([]);
  const [typed, setTyped] = useState("");
  const [problem, setProblem] = useState<string | null>(null);
  const box = useRef<HTMLInputElement>(null);
  useLayoutEffect(() => box.current?.focus(), []);
  useEffect(() => {
    void loadTags().then(setKnown, () => {}); // suggestions alone
  }, []);
  const save = async (wanted: string[]) => {
    try {
      setTags((await store(row.id, { tags: wanted })).tags);
      setProblem(null);
      return true;
    } catch (error) {
      setProblem(wordsOf(error));
      return false;
    }
  };
  return (
    <Dialog open onClose={onClose} title={t("finding.tagsOf", { title })}>
      {tags.length === 0 ? (
        <p className="soft">{t("finding.noTags")}</p>
      ) : (
        <ul className="tags" aria-label={t("finding.tags")}>
          {tags.map((tag) => (
            <li key={tag} className="tag">
              <span>{tag}</span>
              <IconButton
                small
                label={t("finding.removeTag", { tag })}
                icon={<CloseIcon />}
                onClick={() => {
                  box.current?.focus();
                  void save(tags.filter((each) => each !== tag));
                }}
              />
            </li>
          ))}
        </ul>
      )}
      <form
        className="tags-form"
        onSubmit={(event) => {
          event.preventDefault();
          const wanted = typed.trim();
          if (wanted) void save([...tags, wanted]).then((isStored) => isStored && setTyped(""));
        }}
      >
        <input
          ref={box}
          className="field"
          aria-label={t("finding.newTag")}
          placeholder={t("finding.newTag")}
          list="known-tags"
          maxLength={LONGEST}
          value={typed}
          onInput={(event) => setTyped(event.currentTarget.value)}
        />
        <datalist id="known-tags">
          {known.filter(({ name }) => !tags.includes(name)).map(({ name }) => (
            <option key={name} value={name} />
          ))}
        </datalist>
        <Button look="main" type="submit" disabled={!typed.trim()}>
          {t("finding.addTag")}
        </Button>
      </form>
      {problem && (
        <p className="share-problem" role="alert">
          {problem}
        </p>
      )}
    </Dialog>
  );
}
