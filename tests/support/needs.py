"""What a block of Python in the documents needs on a reader's machine, so that a test can ask whether the page says it first."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from importlib.metadata import PackageNotFoundError, packages_distributions, requires
from pathlib import Path

from fake_provider import LedgerEntry
from fake_provider.urls import base_of
from showandtell.providers.hosts import ROWS

#: Public modules that work with an extra only.
EXTRAS = {"showandtell.asgi": "server", "showandtell.conversations": "history"}
#: A requirement, and the extra that it belongs to: `sqlalchemy<3,>=2.1; extra == 'history'`.
REQUIREMENT = re.compile(r"([\w.-]+)(?:\[[\w,]+\])?[^;]*(?:;.*extra == [\"']([\w-]+)[\"'])?")
#: `pip install anthropic`, `pip install 'showandtell[server]'`, and `showandtell[history]` in a sentence.
INSTALLED = re.compile(r"pip install ([^\n`]+)|`(?:showandtell)?(\[[\w,]+\])`")


@cache
def libraries() -> Mapping[str, list[str]]:
    """The libraries of each module that is installed."""
    return packages_distributions()


@cache
def installs(library: str, extra: str = "") -> frozenset[str]:
    """What is installed with a library, without its other extras."""
    try:
        lines = requires(library) or ()
    except PackageNotFoundError:
        return frozenset({library})
    found = {library}
    for line in lines:
        match = REQUIREMENT.match(line)
        if match and (match[2] or "") in {"", extra} and match[1].lower() not in found:
            found |= installs(match[1].lower()) if match[1] != "showandtell" else installs(library, "history")
    return frozenset(found)


def named(text: str) -> set[str]:
    """All libraries that somebody has who installed what a text names. Extras are in brackets."""
    found = {*installs("showandtell")}
    for packages, extras in INSTALLED.findall(text):
        for word in re.split(r"[\s']+", packages):
            found |= installs(word.partition("[")[0].lower()) if word else set()
        for extra in re.findall(r"[\w-]+", "".join(re.findall(r"\[[\w,]+\]", packages + extras))):
            found |= {f"[{extra}]", *installs("showandtell", extra)}
    return found


def imports(code: str) -> Iterator[str]:
    """The modules that code imports."""
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module


def missing_packages(code: str, before: str, beside: Iterable[Path] = ()) -> list[str]:
    """Libraries and extras that code imports, and that the text before it doesn't tell to install."""
    known = {*sys.stdlib_module_names, *(path.stem for path in beside)}
    modules, has = {*imports(code)}, named(before)
    missing = {f"[{EXTRAS[module]}]" for module in modules & EXTRAS.keys()} - has
    for top in {module.partition(".")[0] for module in modules} - known:
        if has.isdisjoint(name.lower() for name in libraries().get(top, [top])):
            missing.add(top)
    return sorted(missing)


def missing_keys(entries: Iterable[LedgerEntry], before: str) -> list[str]:
    """The variables with the keys of providers that were asked, unless the text before names them."""
    asked = [row for name, row in ROWS.items() if any(entry.path.startswith(base_of(name)) for entry in entries)]
    return sorted({row.keys[0][0] for row in asked if row.keys and not any(key in before for key, _ in row.keys)})
