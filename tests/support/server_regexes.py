"""The server's regular expressions, and texts that make them backtrack."""

import importlib
import pkgutil
import re
from pathlib import Path

import pytest

import showandtell.server

#: Other modules whose patterns are applied to requests.
OTHER_MODULES = (
    "showandtell.storage.conversations.access",
    "showandtell.core.wire.aws_eventstream",
    "showandtell.core.wire.sse",
    "showandtell.storage.files.file_cache",
)

SOURCE = "".join(path.read_text() for path in Path(showandtell.__file__).parent.rglob("*.py"))

METHODS = ("match", "fullmatch", "search", "sub", "split", "findall", "finditer")


def patterns():
    """All patterns of the server by name, with the methods that the code calls."""
    listed = (package.name for package in pkgutil.walk_packages(showandtell.server.__path__, "showandtell.server."))
    for module in (*listed, *OTHER_MODULES):
        for name, value in vars(importlib.import_module(module)).items():
            for at, item in enumerate(held(value)):
                ways = [way for way in METHODS if f"{name}.{way}(" in SOURCE] or ["search", "sub"]
                yield pytest.param(item, ways, id=f"{module.removeprefix('showandtell.')}.{name}.{at}")


def held(value):
    """The patterns of a constant, or of a tuple of them."""
    if isinstance(value, re.Pattern):
        yield value
    elif isinstance(value, tuple | list):
        for item in value:
            yield from held(item)


#: Repeated units make patterns backtrack if the text ends with a character that doesn't match.
HARD_UNITS = [
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

PATTERNS = [*patterns()]


def hard_texts():
    """Texts of 100 kB."""
    for item in HARD_UNITS:
        many = item * (100_000 // len(item))
        yield from (many, many + "\x01", "\x01" + many)


def use(pattern, way, text):
    """Apply a method of a pattern to a text, and read the whole result."""
    subject = text.encode() if isinstance(pattern.pattern, bytes) else text
    if way == "sub":
        pattern.sub(subject[:0], subject)
    else:
        used = getattr(pattern, way)(subject)
        _ = [*used] if way == "finditer" else used
