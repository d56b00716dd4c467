"""Syntax trees of modules, each parsed once in a test process."""

import ast
from functools import cache


@cache
def nodes(path):
    """All nodes of a file."""
    return tuple(ast.walk(ast.parse(path.read_text())))
