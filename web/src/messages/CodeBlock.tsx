// A block of code: its language, whether its lines wrap, a button that copies it, and its colours.
import { createContext } from "preact";
import { useContext, useState } from "preact/hooks";
import { t } from "../language";
import { IconButton, WrapIcon } from "../ui";
import { CopyButton } from "./CopyButton";
import { Highlighted } from "./Highlighted";

/** Whether the text around it is still streaming. */
export const Writing = createContext(false);

/** Facts that an answer gives with this language are folded. */
const DETAILS = "details";

type Props = { language: string | undefined; code: string; wrapped?: boolean };

export function CodeBlock({ language, code, wrapped = false }: Props) {
  const [wraps, setWraps] = useState(wrapped);
  const writing = useContext(Writing);
  if (language === DETAILS) {
    return (
      <details className="reasoning">
        <summary>{t("messages.details")}</summary>
        <CodeBlock language={undefined} code={code} wrapped />
      </details>
    );
  }
  return (
    <div className="code">
      <div className="code-head">
        <span>{language ?? t("messages.codeText")}</span>
        <span>
          <IconButton
            small
            label={t("messages.wrapLines")}
            aria-pressed={wraps}
            icon={<WrapIcon />}
            onClick={() => setWraps(!wraps)}
          />
          <CopyButton text={code} label={t("messages.copyCode")} />
        </span>
      </div>
      <pre tabIndex={0} className={wraps ? "wraps" : ""}>
        {language ? <Highlighted language={language} code={code} writing={writing} /> : <code>{code}</code>}
      </pre>
    </div>
  );
}
