"""HTML made into Markdown, for the child only. Nothing that it refers to is opened, and pictures leave a mark alone."""

from __future__ import annotations

import re
from typing import Any

from showandtell.media.convert.extras import missing

try:
    import lxml.etree as untyped_etree  # pyright: ignore[reportMissingTypeStubs] - it ships none
    import lxml.html as untyped_html  # pyright: ignore[reportMissingTypeStubs] - the same
    import markdownify as found_writer
except ImportError:
    untyped_etree = untyped_html = None
    found_writer = None

etree: Any = untyped_etree
parsed: Any = untyped_html
Converter: Any = found_writer.MarkdownConverter if found_writer else object

#: Measured: a megabyte of bare markup takes 2 to 4 s, and about 100 MiB.
MARKUP_LIMIT = 1_000_000
#: Deeper than this only words are kept: each level of lists writes its own indentation.
DEEPEST = 60
#: A cell may be so many columns wide.
WIDEST = 40
UNREAD = ("script", "style", "template", "noscript", "iframe", "object", "embed", "svg", "math", "canvas", "select")
#: They say nothing in Markdown, and markdownify counts the rows in them anew for each row.
TABLE_PARTS = ("thead", "tbody", "tfoot", "colgroup")
LONG_VALUE, LONG_TAG = re.compile(r"""=("[^"<>]{2000,}"|'[^'<>]{2000,}')"""), re.compile("<[^<>]{4000,}>?")
LINKS = ("http://", "https://", "mailto:")
OPTIONS = {
    "heading_style": "atx",
    "bullets": "-",
    "escape_asterisks": False,
    "escape_underscores": False,
    "table_infer_header": True,
    "bs4_options": "lxml",
}


def write_markdown(text: str) -> tuple[str, bool]:
    """HTML as Markdown: headings, lists, tables, links; and whether the end was cut off. Raises `BadFile`."""
    if parsed is None:
        raise missing("office")
    parser = parsed.HTMLParser(encoding="utf-8", no_network=True)
    try:
        root = parsed.document_fromstring(trim(text).encode(), parser=parser)
    except etree.ParserError:  # of a page without anything
        return "", False
    markup = tidy(root)
    is_deep = any("depth" in one.message for one in parser.error_log)
    # What was cut in the middle of a tag is closed by the parser.
    return MarkdownWriter(**OPTIONS).convert(markup[:MARKUP_LIMIT]).strip(), is_deep or len(markup) > MARKUP_LIMIT


def trim(text: str) -> str:
    """Markup without long values, such as pictures, and long tags: of many attributes each is compared with all."""
    return LONG_TAG.sub(" ", LONG_VALUE.sub('=""', text))


def tidy(root: Any) -> str:
    """Markup without what is never read, and without what takes markdownify time that grows with the square."""
    etree.strip_elements(root, *UNREAD, with_tail=False)
    etree.strip_elements(root, etree.Comment, etree.ProcessingInstruction, with_tail=False)
    etree.strip_tags(root, *TABLE_PARTS)
    for picture in root.iter("img"):
        picture.attrib.pop("src", None)
    for cell in root.iter("td", "th"):
        width = cell.attrib.pop("colspan", "1")
        if width.isascii() and width.isdigit() and len(width) < 6:
            cell.set("colspan", str(min(int(width), WIDEST)))
    for ordered in root.iter("ol"):
        for number, item in enumerate(ordered.findall("li"), 1):
            item.set("value", str(number))
    return etree.tostring(root, encoding="unicode", method="html")


class MarkdownWriter(Converter):
    """Markdownify's rules, and ours for what must not be kept."""

    depth = 0

    def process_tag(self, node: Any, parent_tags: Any = None) -> str:
        """The words alone where tags are nested too deeply."""
        rules: Any = super()
        self.depth += 1
        try:
            return node.get_text(" ") if self.depth > DEEPEST else rules.process_tag(node, parent_tags)
        finally:
            self.depth -= 1

    def convert_img(self, el: Any, text: str, parent_tags: Any) -> str:  # noqa: ARG002 - called by these names
        """A mark, with what the picture's author says of it."""
        said = " ".join(str(el.get("alt") or "").split())
        return f"[image: {said}]" if said else "[image]"

    def convert_a(self, el: Any, text: str, parent_tags: Any) -> str:
        """A link, where it leads to another page; a footnote's way back is left out."""
        rules: Any = super()
        if str(el.get("href") or "").lower().startswith(LINKS):
            return rules.convert_a(el, text, parent_tags)
        return "" if text.strip() == "↑" else text

    def convert_li(self, el: Any, text: str, parent_tags: Any) -> str:  # noqa: ARG002 - the same
        """An item under its number or a dash."""
        number = el.get("value") if el.parent is not None and el.parent.name == "ol" else None
        mark = f"{number}. " if number else "- "
        lines = text.strip().splitlines()
        return mark + f"\n{' ' * len(mark)}".join(lines) + "\n" if lines else "\n"

    def convert_td(self, el: Any, text: str, parent_tags: Any) -> str:
        """A cell; a bar inside it would end it."""
        rules: Any = super()
        return rules.convert_td(el, text.replace("|", "\\|"), parent_tags)

    def convert_th(self, el: Any, text: str, parent_tags: Any) -> str:
        """The same."""
        rules: Any = super()
        return rules.convert_th(el, text.replace("|", "\\|"), parent_tags)

    def convert_title(self, el: Any, text: str, parent_tags: Any) -> str:  # noqa: ARG002 - the same
        """The title, in a line of its own."""
        return f"{' '.join(text.split())}\n\n"
