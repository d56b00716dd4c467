"""The hooks that notebooks and `rich` call."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from showandtell.lazy import LazyModule

if TYPE_CHECKING:
    from showandtell.core.display import html, layout
    from showandtell.core.display.layout import Block
else:  # few programs show a value
    html, layout = LazyModule("showandtell.core.display.html"), LazyModule("showandtell.core.display.layout")


class Displayed:
    """A value that shows itself in notebooks, and in a terminal that `rich` prints to."""

    __slots__ = ()

    @abstractmethod
    def _blocks(self) -> Iterable[Block]: ...

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        """What a notebook shows: HTML, or text if it can't show that."""
        del include, exclude  # the caller picks from what it gets
        blocks = [*self._blocks()]
        return {"text/html": html.to_html(blocks), "text/plain": "\n".join(text for _, text in to_lines(blocks))}

    def _repr_html_(self) -> str:
        return html.to_html(self._blocks())

    def __rich_console__(self, console: Any, options: Any) -> Iterator[Any]:
        """The lines for `rich`, whose console is passed in: nothing here imports it. No text is read as markup."""
        del options
        for style, text in to_lines(self._blocks()):
            yield console.render_str(text, style=style, markup=False, emoji=False, highlight=False)


def to_lines(blocks: Iterable[Block]) -> Iterator[tuple[str, str]]:
    """Blocks as lines of text within their limits, each with a style of `rich`."""
    for block in layout.limit(blocks):
        match block:
            case layout.Words(heading, text):
                yield "bold", heading
                yield from [("", text)] if text else []
            case layout.Picture(caption):
                yield "cyan", f"[{caption}]"
            case layout.Rows(title, rows):
                yield from [("dim", f"{title}:"), *(("dim", f"  {row}") for row in rows)] if rows else []
