"""Converts HTML to Markdown, only in the child. Nothing that it refers to is opened; images only leave a mark."""

from __future__ import annotations

import re
from itertools import islice
from typing import Any

from showandtell.media.convert.extras import missing

try:
    import lxml.etree as untyped_etree  # pyright: ignore[reportMissingTypeStubs] - it ships none
    import lxml.html as untyped_html  # pyright: ignore[reportMissingTypeStubs] - it ships none
    import markdownify as untyped_markdownify
except ImportError:
    untyped_etree = untyped_html = None
    untyped_markdownify = None

etree: Any = untyped_etree
parsed: Any = untyped_html
Converter: Any = untyped_markdownify.MarkdownConverter if untyped_markdownify else object

#: Maximum characters and tags of markup. Measured: 80,000 tags take about 1 s, and a megabyte about 100 MiB.
MARKUP_LIMIT, MAX_TAGS = 1_000_000, 80_000
#: Markdownify takes quadratic time for a run of blanks; 64 are more than any indentation.
BLANKS = re.compile("[ \\t]{65,}")
#: Each level of quotes marks every line again.
MAX_QUOTES = 4
#: Deeper elements become plain text: each level of lists adds indentation.
MAX_DEPTH = 60
#: Maximum columns that a cell spans.
MAX_COLUMNS = 40
SKIPPED_TAGS = (
    "script",
    "style",
    "template",
    "noscript",
    "iframe",
    "object",
    "embed",
    "svg",
    "math",
    "canvas",
    "select",
)
#: They mean nothing in Markdown, and markdownify counts their rows again for each row.
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
    except etree.ParserError:  # the page is empty
        return "", False
    markup = BLANKS.sub(" " * 64, tidy(root))
    is_deep = any("depth" in error.message for error in parser.error_log)
    end = min(MARKUP_LIMIT, find_tag(markup, MAX_TAGS))
    # What was cut in the middle of a tag is closed by the parser.
    return MarkdownWriter(**OPTIONS).convert(markup[:end]).strip(), is_deep or len(markup) > end


def find_tag(markup: str, number: int) -> int:
    """The offset of a tag by its number, from 0; the length of the markup if there are fewer."""
    return next((tag.start() for tag in islice(re.finditer("<", markup), number, None)), len(markup))


def trim(text: str) -> str:
    """Markup without long values, such as images, and long tags: the parser compares each attribute with all others."""
    return LONG_TAG.sub(" ", LONG_VALUE.sub('=""', text))


def tidy(root: Any) -> str:
    """Markup without elements that are skipped, and without those for which markdownify takes quadratic time."""
    etree.strip_elements(root, *SKIPPED_TAGS, with_tail=False)
    etree.strip_elements(root, etree.Comment, etree.ProcessingInstruction, with_tail=False)
    etree.strip_tags(root, *TABLE_PARTS)
    for quote in root.xpath(f"//blockquote[count(ancestor::blockquote) >= {MAX_QUOTES}]"):
        quote.drop_tag()
    for image in root.iter("img"):
        image.attrib.pop("src", None)
    for cell in root.iter("td", "th"):
        width = cell.attrib.pop("colspan", "1")
        if width.isascii() and width.isdigit() and len(width) < 6:
            cell.set("colspan", str(min(int(width), MAX_COLUMNS)))
    for ordered in root.iter("ol"):
        for number, item in enumerate(ordered.findall("li"), 1):
            item.set("value", str(number))
    return etree.tostring(root, encoding="unicode", method="html")


class MarkdownWriter(Converter):
    """Markdownify's rules, with changes for links, images, lists and tables."""

    depth = 0

    def process_tag(self, node: Any, parent_tags: Any = None) -> str:
        """Only the text if tags are nested too deeply."""
        rules: Any = super()
        self.depth += 1
        try:
            return node.get_text(" ") if self.depth > MAX_DEPTH else rules.process_tag(node, parent_tags)
        finally:
            self.depth -= 1

    def convert_img(self, el: Any, text: str, parent_tags: Any) -> str:  # noqa: ARG002 - called by these names
        """A mark with the alt text."""
        alt = " ".join(str(el.get("alt") or "").split())
        return f"[image: {alt}]" if alt else "[image]"

    def convert_a(self, el: Any, text: str, parent_tags: Any) -> str:
        """A link if it leads to another page; a footnote's link back is left out."""
        rules: Any = super()
        if str(el.get("href") or "").lower().startswith(LINKS):
            return rules.convert_a(el, text, parent_tags)
        return "" if text.strip() == "↑" else text

    def convert_li(self, el: Any, text: str, parent_tags: Any) -> str:  # noqa: ARG002 - called by these names
        """A list item after its number or a dash."""
        number = el.get("value") if el.parent is not None and el.parent.name == "ol" else None
        mark = f"{number}. " if number else "- "
        lines = text.strip().splitlines()
        return mark + f"\n{' ' * len(mark)}".join(lines) + "\n" if lines else "\n"

    def convert_td(self, el: Any, text: str, parent_tags: Any) -> str:
        """A cell; a bar in it is escaped, because it would end the cell."""
        rules: Any = super()
        return rules.convert_td(el, text.replace("|", "\\|"), parent_tags)

    def convert_th(self, el: Any, text: str, parent_tags: Any) -> str:
        """A header cell, escaped like other cells."""
        rules: Any = super()
        return rules.convert_th(el, text.replace("|", "\\|"), parent_tags)

    def convert_title(self, el: Any, text: str, parent_tags: Any) -> str:  # noqa: ARG002 - called by these names
        """The title, on a separate line."""
        return f"{' '.join(text.split())}\n\n"
