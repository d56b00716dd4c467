"""Reads docstrings of functions that become tools: what the function does, and what each parameter is."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Collection
from typing import Any

from showandtell.agent.signatures import innermost

#: Griffe logs a warning for each parameter without a type in the docstring.
QUIET = {style: {"warnings": False} for style in ("google", "numpy", "sphinx")}
#: How a section on parameters begins, or its first entry, in each style.
PARAMETERS = re.compile(
    r"^\s*(?:(?:keyword |other )?(?:args|arguments|params|parameters)\b"
    r"|:(?:param|parameter|arg|argument|key|keyword)\b)",
    re.IGNORECASE | re.MULTILINE,
)


def read_docstring(function: Callable[..., Any]) -> tuple[str, dict[str, str]]:
    """The description of a function, and those of its parameters if its docstring has a section for them.

    The styles of Google, NumPy and Sphinx are recognized. A docstring without such a section is the description. A
    callable object has the description of its class; its parameters may be described there or at `__call__`.
    """
    function = innermost(function)
    text = inspect.getdoc(function) or ""
    try:
        names = inspect.signature(function).parameters
    except ValueError:  # a builtin without a signature, which can't become a tool
        return text, {}
    description, parameters = split_docstring(text, names)
    if not parameters and not inspect.isroutine(function):
        _, parameters = split_docstring(inspect.getdoc(type(function).__call__) or "", names)
    return description, parameters


def split_docstring(text: str, names: Collection[str]) -> tuple[str, dict[str, str]]:
    """A docstring without its section on parameters, and the descriptions of those in `names`."""
    if PARAMETERS.search(text) is None or not any(name in text for name in names):
        return text, {}
    from griffe import Docstring  # noqa: PLC0415 - slow to import, and most docstrings have no such section

    sections = Docstring(text).parse("auto", method="max_sections", per_style_options=QUIET)
    parameters = {
        entry.name: " ".join(entry.description.split())
        for section in sections
        if section.kind in {"parameters", "other parameters"}
        for entry in section.value
        if entry.name in names
    }
    return ("\n\n".join(filter(None, map(format_section, sections))), parameters) if parameters else (text, {})


def format_section(section: Any) -> str:
    """A section as text; empty for parameters and for what a model can't use."""
    match section.kind:
        case "text":
            return section.value.strip()
        case "admonition":
            return f"{section.title}: {section.value.description}"
        case "examples":
            return "\n".join(["Examples:", *(text for _, text in section.value)])
        case "returns" | "yields":
            return f"{section.kind.title()}: {' '.join(entry.description.strip() for entry in section.value)}"
        case _:
            return ""
