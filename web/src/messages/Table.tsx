// A table that scrolls in its own box, with a button that copies it as CSV.
import type { ComponentChildren } from "preact";
import { useRef } from "preact/hooks";
import { t } from "../language";
import { CopyButton } from "./CopyButton";
import { toCsv } from "./tableCsv";

export function Table({ children }: { children?: ComponentChildren }) {
  const table = useRef<HTMLTableElement>(null);
  return (
    <div className="table">
      <div className="table-box" tabIndex={0} role="group" aria-label={t("messages.table")}>
        <table ref={table}>{children}</table>
      </div>
      <CopyButton text={() => (table.current ? toCsv(table.current) : "")} label={t("messages.copyTable")} />
    </div>
  );
}
