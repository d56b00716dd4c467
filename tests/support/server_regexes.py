"""The server's regular expressions, and texts that are hard for them."""

import importlib
import pkgutil
import re
from pathlib import Path

import pytest

import showandtell.server

#: What is held against requests, too.
MORE = (
    "showandtell.storage.conversations.access",
    "showandtell.core.wire.aws_eventstream",
    "showandtell.core.wire.sse",
    "showandtell.storage.files.file_cache",
)

SOURCE = "".join(path.read_text() for path in Path(showandtell.__file__).parent.rglob("*.py"))

WAYS = ("match", "fullmatch", "search", "sub", "split", "findall", "finditer")


def patterns():
    """Every pattern of the server by its place, and the ways in which its source uses it."""
    listed = (package.name for package in pkgutil.walk_packages(showandtell.server.__path__, "showandtell.server."))
    for module in (*listed, *MORE):
        for name, value in vars(importlib.import_module(module)).items():
            for at, item in enumerate(held(value)):
                ways = [way for way in WAYS if f"{name}.{way}(" in SOURCE] or ["search", "sub"]
                yield pytest.param(item, ways, id=f"{module.removeprefix('showandtell.')}.{name}.{at}")


def held(value):
    """The patterns of a constant: it itself, or what is in its tuples."""
    if isinstance(value, re.Pattern):
        yield value
    elif isinstance(value, tuple | list):
        for item in value:
            yield from held(item)


#: What makes patterns go back and forth: the same again and again, and at its end what doesn't fit.
TEDIOUS = [
    "a",
    "1",
    " ",
    "-",
    "/",
    "a/",
    "a.",
    "?a=",
    "?a=b&",
    "://",
    "://a@",
    "a-1,",
    "bearer ",
    "sk-",
    "token=",
    "_",
    "=",
    "\t ",
    "%",
    "[",
    "0-,",
]

FOUND = [*patterns()]


def tedious():
    """Texts of 100 kB."""
    for item in TEDIOUS:
        many = item * (100_000 // len(item))
        yield from (many, many + "\x01", "\x01" + many)


def use(pattern, way, text):
    """Use a pattern once, to its end."""
    subject = text.encode() if isinstance(pattern.pattern, bytes) else text
    if way == "sub":
        pattern.sub(subject[:0], subject)
    else:
        used = getattr(pattern, way)(subject)
        _ = [*used] if way == "finditer" else used
