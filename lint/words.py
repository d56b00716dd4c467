"""Words and phrases that may not come back: `make lint` reads names and prose and says what to write instead.

The rules are in `words.tsv`, one a line: where it applies (`name` or `prose`), a regular expression, what to write
instead, and files that are exempt. Names are the identifiers of Python and TypeScript, split into words. Prose is
comments, docstrings and Markdown; string values are not read, because many of them are text for models or copies of
what a provider says.
"""

from __future__ import annotations

import ast
import io
import re
import sys
import tokenize
from collections.abc import Iterator, Sequence
from fnmatch import fnmatch
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parent.parent
RULES = Path(__file__).with_name("words.tsv")
FOLDERS = ("src", "tests", "stress", "bench", "docs", "examples", "lint", "web/src", "web/tests")
#: Built, installed or frozen files.
SKIPPED = ("*/node_modules/*", "*/__pycache__/*", "*/server/page/*", "*/migrations/*", "*/.browser/*", "*/.envs/*")
WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
#: TypeScript's strings, comments, regular expressions and identifiers; the text of templates and regular expressions
#: is skipped like any other string.
SCRIPT = re.compile(
    r"""(?P<comment>//[^\n]*|/\*.*?\*/)|(?P<string>"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|`(?:\\.|[^`\\])*`)"""
    r"|(?P<regex>(?<=[(,=:\[!&|?])\s*/(?![/*])(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\[\n])+/)"
    r"|(?P<name>[A-Za-z_$][\w$]*)",
    re.DOTALL,
)
FENCE = re.compile(r"^(```|<!-- (\w+).*?-->\n).*?^(```|<!-- /\2 -->)$", re.DOTALL | re.MULTILINE)
CODE = re.compile(r"`[^`\n]*`|\]\([^)\n]*\)|^ {4}.*$|^>.*$", re.MULTILINE)


class Rule(NamedTuple):
    """One line of `words.tsv`."""

    kind: str
    pattern: re.Pattern[str]
    instead: str
    exempt: tuple[str, ...]


class Found(NamedTuple):
    """A name or a piece of prose in a file."""

    line: int
    kind: str
    text: str


def read_rules(text: str) -> list[Rule]:
    """The rules of a table; blank lines and lines that begin with `#` are skipped."""
    rules: list[Rule] = []
    for line in text.splitlines():
        if line and not line.startswith("#"):
            kind, pattern, instead, *exempt = line.split("\t")
            flags = re.IGNORECASE
            expression = rf"\b(?:{pattern})\b" if kind == "prose" else rf"(?<![a-z])(?:{pattern})(?![a-z])"
            rules.append(Rule(kind, re.compile(expression, flags), instead, tuple(exempt)))
    return rules


def read_python(text: str) -> Iterator[Found]:
    """Identifiers, comments and docstrings."""
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.NAME:
            yield Found(token.start[0], "name", token.string)
        elif token.type == tokenize.COMMENT:
            yield Found(token.start[0], "prose", token.string.lstrip("#:"))
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) and (
            docstring := ast.get_docstring(node)
        ):
            yield Found(node.body[0].lineno, "prose", docstring)


def read_script(text: str) -> Iterator[Found]:
    """Identifiers and comments of TypeScript and JavaScript."""
    for match in SCRIPT.finditer(text):
        line = text.count("\n", 0, match.start()) + 1
        if match["comment"]:
            yield Found(line, "prose", match["comment"])
        elif match["name"]:
            yield Found(line, "name", match["name"])


def read_markdown(text: str) -> Iterator[Found]:
    """Text outside of code, links' targets and generated parts."""
    blank = FENCE.sub(lambda match: "\n" * match[0].count("\n"), text)
    for number, line in enumerate(CODE.sub(lambda match: " " * len(match[0]), blank).splitlines(), 1):
        yield Found(number, "prose", line)


READERS = {
    ".py": read_python,
    ".md": read_markdown,
    **dict.fromkeys((".ts", ".tsx", ".mjs"), read_script),
}


def check(path: str, text: str, rules: Sequence[Rule]) -> Iterator[str]:
    """A sentence for each name and each piece of prose that breaks a rule."""
    active = [rule for rule in rules if not any(fnmatch(path, pattern) for pattern in rule.exempt)]
    for line, kind, found in READERS[Path(path).suffix](text):
        readable = "_".join(WORD.findall(found)).lower() if kind == "name" else " ".join(found.split())
        for rule in active:
            if rule.kind == kind and (match := rule.pattern.search(readable)):
                what = f"the name {found}" if kind == "name" else f'"{match[0]}"'
                yield f"{path}:{line}: {what}: {rule.instead}"


def files() -> Iterator[Path]:
    """All files that are read, below the folders and at the top."""
    yield from (ROOT / name for name in ("README.md", "CHANGELOG.md", "SECURITY.md", "conftest.py", "hatch_build.py"))
    for folder in FOLDERS:
        for path in sorted((ROOT / folder).rglob("*")):
            if path.suffix in READERS and not any(fnmatch(str(path), pattern) for pattern in SKIPPED):
                yield path


def main() -> int:
    """Print what breaks a rule; the exit status is 1 if anything does."""
    rules = read_rules(RULES.read_text())
    problems = [
        problem for path in files() for problem in check(path.relative_to(ROOT).as_posix(), path.read_text(), rules)
    ]
    print("\n".join(problems) or "no word and no phrase of lint/words.tsv")
    return bool(problems)


if __name__ == "__main__":
    sys.exit(main())
