"""Charts of matplotlib, Plotly and Altair as pictures; without a renderer, what they show in words."""

from __future__ import annotations

import io
import logging
from collections.abc import Callable, Iterable
from functools import cache
from importlib.util import find_spec
from types import ModuleType
from typing import Any

from showandtell.core.collect.excerpts import MAX_ITEMS, prune
from showandtell.core.collect.pointer_errors import PointerError
from showandtell.core.messages.file import File

log = logging.getLogger("showandtell.tools")

#: Maximum traces of a Plotly figure in words.
MAX_TRACES = 20
#: Parts of a Vega-Lite specification that say nothing about the chart itself.
VEGA_EXTRAS = frozenset({"$schema", "config"})


def read_figure(value: Any) -> tuple[object, ...]:
    """A matplotlib Figure as PNG. pyplot and its global state aren't touched."""
    stream = io.BytesIO()
    value.savefig(stream, format="png", bbox_inches="tight")
    return (File(stream.getvalue(), "image/png"),)


def read_axes(value: Any) -> tuple[object, ...]:
    """Axes of matplotlib as the figure that they are in."""
    return (root_figure(value),)


def refuse_part(value: Any) -> tuple[object, ...]:
    """Raise `PointerError` for a part of a chart, such as the lines that `plt.plot` returns."""
    raise PointerError(f"a {type(value).__name__} is a part of a chart; return the figure, such as plt.gcf()")


def refuse_module(module: ModuleType) -> PointerError:
    """The error for a module, such as `plt`."""
    figure = "the figure, such as plt.gcf()" if module.__name__.startswith("matplotlib") else "what you made with it"
    return PointerError(f"{module.__name__} is a module; return {figure}")


def read_grid(value: Any) -> tuple[object, ...]:
    """A grid of seaborn as its figure."""
    return (value.figure,)


def root_figure(axes: Any) -> Any:
    """The figure of Axes that isn't itself a part of another."""
    figure = axes.figure
    while not hasattr(figure, "savefig"):
        figure = figure.figure
    return figure


def find_figures(values: Iterable[Any]) -> tuple[object, ...] | None:
    """The figures of an array of Axes, as `subplots` and pandas return it. None for any other values."""
    axes = list(values)
    return tuple(dict.fromkeys(map(root_figure, axes))) if axes and all(map(is_axes, axes)) else None


def is_axes(value: object) -> bool:
    """Whether a value is matplotlib Axes."""
    return any(kind.__name__ == "Axes" and kind.__module__.startswith("matplotlib.") for kind in type(value).__mro__)


def read_plotly(value: Any) -> tuple[object, ...]:
    """A Plotly figure as PNG if kaleido can draw it, else its traces."""
    picture = render("Plotly figures", "kaleido", lambda: value.to_image(format="png"))
    return (describe_plotly(value),) if picture is None else (File(picture, "image/png"),)


def describe_plotly(figure: Any) -> object:
    """The layout and the traces of a Plotly figure as bounded JSON."""
    layout = figure.layout.to_plotly_json()
    layout.pop("template", None)
    traces = [trace.to_plotly_json() for trace in figure.data[:MAX_TRACES]]
    more = len(figure.data) - len(traces)
    return {
        "chart": "Plotly figure",
        "layout": prune(layout),
        "traces": [*map(prune, traces), *([f"… {more:,} more"] if more else [])],
    }


def read_altair(value: Any) -> tuple[object, ...]:
    """An Altair chart as PNG if vl-convert can draw it, else its specification, and its data as a table."""
    picture = render("Altair charts", "vl_convert", lambda: save_altair(value))
    return describe_altair(value) if picture is None else (File(picture, "image/png"),)


def save_altair(chart: Any) -> bytes:
    """An Altair chart as PNG."""
    stream = io.BytesIO()
    chart.save(stream, format="png")
    return stream.getvalue()


def describe_altair(chart: Any) -> tuple[object, ...]:
    """The specification of an Altair chart and the start of its data, as bounded JSON."""
    try:
        specification = chart.to_dict()
    except Exception:  # noqa: BLE001 - Altair refuses more than 5,000 rows, and its errors move between versions
        head = chart.copy(deep=False)
        head.data = chart.data.head(MAX_ITEMS)
        specification = {"rows": len(chart.data), **head.to_dict()}
    shown = {key: prune(value) for key, value in specification.items() if key not in VEGA_EXTRAS}
    return ({"chart": "Altair chart", **shown},)


def render(what: str, package: str, draw: Callable[[], bytes]) -> bytes | None:
    """A chart drawn by a package that is optional. None if it isn't installed or fails, which is logged."""
    if find_spec(package) is None:
        advise(what, package.replace("_", "-"))
        return None
    try:
        return draw()
    except Exception:  # another library may raise anything, such as for a browser that it doesn't find
        log.warning("%s couldn't be drawn by %s, and are described in words", what, package, exc_info=True)
        return None


@cache
def advise(what: str, package: str) -> None:
    """Tell the developer, once, which package is missing."""
    log.warning("%s are described in words: install %s, and models get pictures of them", what, package)
