"""The words of HTML: text without markup, scripts and styles. Linear in time, also for broken markup."""

from __future__ import annotations

import re
from html import unescape

#: Maximum characters of markup that are read.
MAX_MARKUP = 200_000
#: Maximum characters of the words.
MAX_WORDS = 8_000
#: Elements without words for a reader.
SKIPPED = "script|style|template|noscript|iframe|object|svg|math|canvas|select|head"
#: A comment, an element without words, or a tag. What isn't closed reaches to the end, so no text is read twice.
MARKUP = re.compile(
    rf"<!--.*?(?:-->|\Z)|<({SKIPPED})\b.*?(?:</\1\s*>|\Z)|<(?P<tag>/?[a-z][a-z0-9]*)[^<>]*>?|<[!?][^<>]*>?",
    re.DOTALL | re.IGNORECASE,
)
#: White space between tags, which means nothing.
GAP = re.compile(r">\s+<")
CELL_TAGS = frozenset({"/td", "/th"})
INLINE_TAGS = frozenset(
    {
        *("a", "abbr", "b", "bdi", "bdo", "cite", "code", "data", "del", "dfn", "em", "font", "i", "img", "input"),
        *("ins", "kbd", "label", "mark", "q", "s", "samp", "small", "span", "strong", "sub", "sup", "time", "tt"),
        *("u", "var", "wbr", "td", "th"),
    }
)


def words_of(html: str) -> str:
    """The words of HTML, line by line, with bars between the cells of a table; at most 8,000 characters."""
    text = unescape(MARKUP.sub(separator, GAP.sub("> <", html[:MAX_MARKUP])))
    lines = (" ".join(line.split()).removesuffix(" |") for line in text.splitlines())
    words = "\n".join(line for line in lines if line)
    is_cut = len(html) > MAX_MARKUP or len(words) > MAX_WORDS
    return f"{words[:MAX_WORDS].rstrip()}\n… (cut here)" if is_cut else words


def separator(markup: re.Match[str]) -> str:
    """What stands in place of markup: nothing, a bar, or the end of a line."""
    tag = (markup["tag"] or "").lower()
    if tag in CELL_TAGS:
        return " | "
    return "" if not tag or tag.strip("/") in INLINE_TAGS else "\n"
