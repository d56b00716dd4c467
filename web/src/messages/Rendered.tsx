// Markdown by streamdown, with our own elements. HTML in it stays text, and the result is sanitised:
// only http, https and mailto links, and only files of the conversation (`file:5`) as images.
import type { Element, ElementContent, Root, RootContent } from "hast";
import type { ComponentChildren, JSX } from "preact";
import { isValidElement } from "preact";
import remarkMath from "remark-math";
import { type Components, defaultRehypePlugins, defaultRemarkPlugins, Streamdown } from "streamdown";
import type { Pluggable } from "unified";
import { useFile } from "../chat/session/fileStore";
import { FileView, labelOf } from "../files";
import { t } from "../language";
import { CodeBlock, Writing } from "./CodeBlock";
import { Diagram } from "./Diagram";
import { Formula } from "./Formula";
import { markFormulas } from "./formulas";
import { splitReferences } from "./splitReferences";
import { usePlace } from "./placing";
import { Reference } from "./references";
import type { RenderedProps } from "./renderedProps";
import { SourceMark } from "./SourceMark";
import { Table } from "./Table";
import { MARK } from "./sources";

export function Rendered({ text, writing }: RenderedProps) {
  return (
    <Writing.Provider value={writing}>
      <Streamdown
        mode={writing ? "streaming" : "static"}
        parseIncompleteMarkdown={writing}
        isAnimating={writing}
        controls={false}
        lineNumbers={false}
        linkSafety={{ enabled: false }}
        remarkPlugins={remarkPlugins}
        rehypePlugins={plugins}
        urlTransform={(url) => url}
        components={components}
      >
        {markFormulas(text)}
      </Streamdown>
    </Writing.Provider>
  );
}

const remarkPlugins: Pluggable[] = [...Object.values(defaultRemarkPlugins), [remarkMath, { singleDollarTextMath: false }]];

/** Streamdown's sanitiser with our own URL protocols. */
function sanitiser(): Pluggable {
  const sanitizer = defaultRehypePlugins["sanitize"];
  if (!Array.isArray(sanitizer)) throw new Error("streamdown brings no sanitiser any more");
  const [sanitise, schema] = sanitizer as unknown as [Pluggable, Record<string, unknown>];
  const protocols = { href: ["http", "https", "mailto"], src: ["file"], cite: [], longDesc: [] };
  return [sanitise, { ...schema, protocols, tagNames: words(tags) }] as unknown as Pluggable;
}

const plainTags = "p ul ol li blockquote strong sup sub thead tbody tr th td section";
const tags = `${plainTags} a br code del em h1 h2 h3 h4 h5 h6 hr img input pre span table`;

const words = (text: string) => text.split(" ");

/** Turns "image 5" into `<a href="#file-5">`, marks into `<a href="#source-3">`, and keeps line breaks; within links and
 * code only marks are moved behind them. */
function referring() {
  const walk = (parent: Root | Element) => {
    const children: RootContent[] = [];
    for (const child of parent.children) {
      const before = children.at(-1);
      const isBroken = before?.type === "element" && before.tagName === "br";
      if (child.type === "text") children.push(...linesOf(child.value, isBroken));
      else if (child.type === "element" && ["a", "code", "pre"].includes(child.tagName)) {
        children.push(child, ...takeMarks(child));
      } else {
        if (child.type === "element") walk(child);
        children.push(child);
      }
    }
    parent.children = children as ElementContent[];
  };
  return walk;
}

/** Removes the marks within an element. */
function takeMarks(element: Element): ElementContent[] {
  return element.children.flatMap((child) => {
    if (child.type === "element") return takeMarks(child);
    if (child.type !== "text") return [];
    const marks = [...child.value.matchAll(MARK)].map(([, number]) => link(`#source-${number}`, `${number}`));
    child.value = child.value.replaceAll(MARK, "");
    return marks;
  });
}

const link = (href: string, words: string): Element => ({
  type: "element",
  tagName: "a",
  properties: { href },
  children: [{ type: "text", value: words }],
});

/** A text with its line breaks; whitespace between blocks is unchanged. */
function linesOf(text: string, isBroken: boolean): ElementContent[] {
  if (!text.trim()) return [{ type: "text", value: text }];
  const lines = text.split("\n");
  while (!lines.at(-1)) lines.pop();
  if (isBroken && !lines[0]) lines.shift();
  return lines.flatMap((line, index) => (index ? [lineEnd(), ...linked(line)] : linked(line)));
}

const lineEnd = (): ElementContent => ({ type: "element", tagName: "br", properties: {}, children: [] });

function linked(text: string): ElementContent[] {
  return text.split(MARK).flatMap((words, index) => {
    if (index % 2) return [link(`#source-${words}`, words)];
    const pieces = words ? splitReferences(words) : [];
    return pieces.map((piece) =>
      typeof piece === "string" ? { type: "text" as const, value: piece } : link(`#file-${piece.number}`, piece.words),
    );
  });
}

const plugins: Pluggable[] = [sanitiser(), referring];

type Props = {
  children?: ComponentChildren;
  href?: string;
  src?: string;
  alt?: string;
  className?: string;
  start?: number;
  /** Alignment of a table cell. */
  style?: { textAlign?: "left" | "center" | "right" };
};

function Link({ href = "", children }: Props) {
  const own = /^#file-(\d+)$/.exec(href)?.[1];
  if (own) return <Reference number={Number(own)}>{wordsIn(children)}</Reference>;
  const source = /^#source-(\d+)$/.exec(href)?.[1];
  if (source) return <SourceMark number={Number(source)} />;
  if (!/^(https?:|mailto:)/i.test(href)) return <>{children}</>;
  return (
    <a href={href} target="_blank" rel="noopener noreferrer nofollow">
      {children}
    </a>
  );
}

/** A file of the conversation at its first place, a link to it elsewhere; other images show their alt text. */
function Picture({ src = "", alt = "" }: Props) {
  const number = /^file:(\d{1,6})$/.exec(src)?.[1];
  const file = useFile(number ? Number(number) : null);
  const [place, isHere] = usePlace(file?.number ?? null);
  if (!file) return <span className="no-picture">{alt ? t("messages.pictureNamed", { name: alt }) : t("messages.picture")}</span>;
  if (!isHere) {
    return (
      <span ref={place}>
        <Reference number={Number(number)}>{alt || labelOf(file)}</Reference>
      </span>
    );
  }
  return (
    <span ref={place} className="placed">
      <FileView file={file} caption={alt} />
    </span>
  );
}

function Code({ children, className = "" }: Props) {
  if (className.includes(FORMULA)) return <Formula source={wordsIn(children)} isBlock={false} />;
  return <code className={className}>{children}</code>;
}

/** The class of a formula, in `code` within a line and in `pre` of its own. */
const FORMULA = "language-math";

function Pre({ children }: Props) {
  const code = isValidElement(children) ? (children as JSX.Element) : null;
  const props = (code?.props ?? {}) as Props;
  const text = wordsIn(props.children).replace(/\n$/, "");
  if (props.className?.includes(FORMULA)) return <Formula source={text} isBlock />;
  const language = /language-([\w+#.-]+)/.exec(props.className ?? "")?.[1];
  return language === "mermaid" ? <Diagram source={text} /> : <CodeBlock language={language} code={text} />;
}

/** The checkbox of a task list, as an image, because it can't be changed. */
function Tick({ checked }: { checked?: boolean }) {
  return (
    <span className={checked ? "tick tick-done" : "tick"} role="img" aria-label={t(checked ? "messages.done" : "messages.toDo")} />
  );
}

function wordsIn(children: ComponentChildren): string {
  if (children === null || children === undefined || typeof children === "boolean") return "";
  if (Array.isArray(children)) return children.map(wordsIn).join("");
  if (isValidElement(children)) return wordsIn((children.props as Props).children);
  return String(children);
}

/** Elements styled by our own style sheet; streamdown's elements need Tailwind classes. */
function plain(Tag: string) {
  const Element = Tag as "td";
  return function Plain({ children, start, style }: Props) {
    const at = style?.textAlign ? { className: `at-${style.textAlign}` } : {};
    return (
      <Element {...(start ? { start } : {})} {...at}>
        {children}
      </Element>
    );
  };
}

/** All headings are <h3> for a gapless outline below the message's own heading; the class keeps the level's style. */
function heading(level: number) {
  return function Heading({ children }: Props) {
    return <h3 className={`heading-${level}`}>{children}</h3>;
  };
}

const components = {
  ...Object.fromEntries(words(plainTags).map((name) => [name, plain(name)])),
  ...Object.fromEntries([1, 2, 3, 4, 5, 6].map((level) => [`h${level}`, heading(level)])),
  hr: () => <hr />,
  input: Tick,
  a: Link,
  img: Picture,
  pre: Pre,
  code: Code,
  inlineCode: Code,
  table: Table,
} as unknown as Components;
