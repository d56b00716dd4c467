// What is done with a conversation of the list: by a key of its row, or by the menu of its actions.
import "./finding.css";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { t } from "../language";
import { notify } from "../state/list";
import type { Own } from "../types";
import { Deletion } from "./Deletion";
import { change, erase } from "./organize";
import { focusRow, keepFocus, linkOf } from "./rowFocus";
import { RowMenu } from "./RowMenu";
import { Tags } from "./Tags";

type Props = { row: Own; title: string; current: boolean; pressed: string; onDone: () => void };

export function RowAction({ row, title, current, pressed, onDone }: Props) {
  const [key, press] = useState(pressed);
  const place = useRef<HTMLSpanElement>(null);
  const link = () => linkOf(place.current);
  const done = () => {
    focusRow(link());
    onDone();
  };
  useLayoutEffect(() => {
    // At once: the next key may follow.
    const changes = changesOf(key, row);
    if (!changes) return;
    keepFocus(link());
    void change(row, changes);
    done();
  }, [key]);
  switch (key) {
    case "F2":
      return (
        <span ref={place} className="row-action">
          <TitleBox
            title={title}
            onDone={(wanted) => {
              if (wanted && wanted !== row.title) void change(row, { title: wanted });
              done();
            }}
            onCancel={done}
          />
        </span>
      );
    case "Delete":
    case "Backspace":
      return (
        <span ref={place} className="row-action">
          <Deletion
            row={row}
            title={title}
            onClose={done}
            onDelete={() => {
              keepFocus(link());
              void erase(row, current);
              done();
            }}
          />
        </span>
      );
    case "t":
      return (
        <span ref={place} className="row-action">
          <Tags
            row={row}
            title={title}
            onClose={() => {
              keepFocus(link());
              notify({ what: "list" });
              done();
            }}
          />
        </span>
      );
    default:
      return (
        <span ref={place} className="row-action">
          {!changesOf(key, row) && <RowMenu row={row} title={title} onChoose={press} onClose={done} />}
        </span>
      );
  }
}

/** What a key changes at once. */
function changesOf(key: string, row: Own) {
  if (key === "p") return { pinned: !row.pinned };
  return key === "a" ? { archived: !row.archived } : null;
}

type TitleProps = { title: string; onDone: (title: string) => void; onCancel: () => void };

function TitleBox({ title, onDone, onCancel }: TitleProps) {
  const box = useRef<HTMLInputElement>(null);
  const isOver = useRef(false);
  useLayoutEffect(() => box.current?.select(), []);
  const end = (act: () => void) => {
    if (isOver.current) return; // the box loses the focus when it is removed
    isOver.current = true;
    act();
  };
  return (
    <input
      ref={box}
      className="field row-box"
      aria-label={t("sidebar.titleBox")}
      maxLength={200}
      defaultValue={title}
      onBlur={(event) => end(() => onDone(event.currentTarget.value.trim()))}
      onKeyDown={(event) => {
        if (event.key === "Enter" && !event.isComposing) event.currentTarget.blur();
        if (event.key === "Escape") {
          event.stopPropagation();
          end(onCancel);
        }
      }}
    />
  );
}
