// The sources of a text, below it: addresses of the web, and places in files of the conversation.
import { useContext } from "preact/hooks";
import { useFile } from "../chat/session/fileStore";
import { labelOf, openAt } from "../files";
import { momentOf } from "../files/attachment";
import { factsOf, t } from "../language";
import { type Footnote, hostOf, NotesContext } from "./sources";

export function Footnotes() {
  const { id, notes } = useContext(NotesContext);
  return (
    <ol className="sources" aria-label={t("messages.sources")}>
      {notes.map((note) => (
        <li key={note.number} id={`${id}-source-${note.number}`} value={note.number} tabIndex={-1}>
          <Title note={note} />
          {note.quotes.map((quote, index) => (
            <q key={index}>{quote}</q>
          ))}
        </li>
      ))}
    </ol>
  );
}

function Title({ note }: { note: Footnote }) {
  const file = useFile(note.file);
  const place = factsOf([note.page !== null && t("files.page", { page: note.page }), note.seconds !== null && momentOf(note.seconds)]);
  if (note.url)
    return (
      <>
        <a href={note.url} target="_blank" rel="noopener noreferrer nofollow">
          {note.title}
        </a>{" "}
        <small>{hostOf(note)}</small>
      </>
    );
  if (!file?.number) return <>{factsOf([note.title, place])}</>;
  return (
    <>
      <a
        href={`#file-${file.number}`}
        onClick={(event) => {
          event.preventDefault();
          openAt(file, note.page, note.seconds);
        }}
      >
        {note.title}
      </a>{" "}
      <small>{factsOf([labelOf(file), place])}</small>
    </>
  );
}
