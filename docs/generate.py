"""Write the generated parts of the documentation. `make docs` runs this module, and a test compares the result.

A part lies between two markers, such as `<!-- ask openai:gpt-5.6 -->` and `<!-- /ask -->`: its name and its arguments.
The providers' pages show settings, capabilities, and what `ask` prints when it talks to a provider's strict server.
"""

from __future__ import annotations

import asyncio
import json
import logging
import re
import shlex
import sys
import threading
import tomllib
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import chdir, contextmanager, redirect_stdout
from importlib.metadata import EntryPoints
from io import StringIO
from itertools import groupby
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, TypeAlias

from typer.testing import CliRunner

from showandtell import plugins
from showandtell.cli import commands as cli
from showandtell.config.settings import keys
from showandtell.core.capabilities.cells import Capability, FileLimits, Place
from showandtell.core.capabilities.default_models import CURRENT_MODELS
from showandtell.core.capabilities.family import Family
from showandtell.core.capabilities.matrix import PROBES, markdown, matrix, name_models, place_result, place_upload
from showandtell.core.capabilities.overrides import read_all
from showandtell.core.capabilities.resolve import families, resolve
from showandtell.core.media_types.kinds import Kind
from showandtell.core.planning.labels import format_size
from showandtell.providers.connect import own_variables
from showandtell.providers.hosts import ROWS, HostRow
from showandtell.verify.probes import KINDS

if TYPE_CHECKING:
    from fake_provider import FakeProvider

#: Variables and their values; without one they are not set.
Environ: TypeAlias = dict[str, str | None]

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
DOCUMENTS = (
    ROOT / "README.md",
    *(DOCS / f"{name}.md" for name in ("adr/README", "architecture", "command-line", "install", "models", "reach")),
    *sorted((DOCS / "providers").glob("*.md")),
)
#: What maintainers found with `showandtell verify --all` and keys of their own.
VERIFIED = DOCS / "verified.json"
#: The rows of the README's table, and the models that stand for them.
FAMILIES = {
    "Claude (`anthropic`)": "anthropic:claude-sonnet-5",
    "GPT (`openai`)": "openai:gpt-5.6",
    "GPT, Chat Completions (`openai-chat`)": "openai-chat:gpt-5.6",
    "Gemini 3 (`google`)": "google:gemini-3-flash-preview",
    "Gemini 2.5 (`google`)": "google:gemini-2.5-flash",
}
COMMANDS = (
    ("ask", "/read_file path=kiwi.jpg"),
    ("ask", "/read_file path=kiwi.jpg", "--model", "inspector:openai-chat"),
)
QUESTION = "Show me order 7."
PART = re.compile(r"(<!-- (\w+)(?: ([^>]+))? -->\n).*?(<!-- /\2 -->)", re.DOTALL)
DAY = re.compile(r"\b\d{4}-\d\d-\d\d\b")
#: The day in the label of a file.
DAY_OF_FILE = re.compile(r"(⟦[^⟧\n]*?)\d{4}-\d\d-\d\d")
#: Stands for today in what is shown.
SHOWN_DAY = "2026-11-21"
PYTHON = re.compile(r"^```python\n(.*?)^```$", re.DOTALL | re.MULTILINE)
#: The head of a decision: number, title, date, status.
DECISION = re.compile(r"# (\d+)\. (.+)\n\nDate: (\d{4}-\d\d-\d\d)\. Status: (.+)\.\n")

RESULTS = {
    "native": "in the tool result",
    "relocated": "in a follow-up message",
    "converted": "converted",
    "noted": "name only",
    "words": "as text",
}
UPLOADS = {
    "native": "shown",
    "converted": "converted",
    "refused": "refused before anything is sent",
    "words": "as text",
}
#: `RESULTS` for the README's table.
BRIEFLY = {**RESULTS, "native": "tool result", "relocated": "follow-up"}
FORMS = {"inline": "bytes", "url": "URL", "file_id": "file id"}
#: Names of media types whose subtype isn't what people call them.
ENDINGS = {
    "document": "docx",
    "sheet": "xlsx",
    "presentation": "pptx",
    "msword": "doc",
    "ms-excel": "xls",
    "quicktime": "mov",
    "x-matroska": "mkv",
    "x-msvideo": "avi",
    "x-flv": "flv",
    "x-ms-wmv": "wmv",
    "*": "any",
}
PLACES: dict[Place, str] = {"tool_result": "tool result", "user": "user message"}
#: Credentials that sign a request if no key is set, by the module that reads them.
SIGNED = {
    "aws": "AWS credentials (variables, profile, role: the extra `bedrock`)",
    "google": "Google's credentials (the extra `vertex`)",
}


def show(commands: Iterable[Sequence[str]], environ: Environ) -> str:
    """What commands print in a terminal, with a fixed date."""
    blocks: list[str] = []
    for arguments in commands:
        with chdir(ROOT / "examples"):
            result = CliRunner().invoke(cli.app, arguments, env=environ, catch_exceptions=False)
        line = f"$ showandtell {shlex.join(arguments)}\n{result.output.rstrip()}\n"
        blocks.append(DAY.sub(SHOWN_DAY, line))
    text = "\n".join(blocks)
    fence = "`" * max([3, *(len(run) + 1 for run in re.findall("^`{3,}", text, re.MULTILINE))])
    return f"{fence}console\n{text}{fence}\n"


def ask(models: Iterable[str]) -> Iterator[Sequence[str]]:
    """The commands that ask each model to call a tool which returns an image and a PDF."""
    for model in models:
        yield "ask", QUESTION, "--tools", "order:show_order", "--model", model


@contextmanager
def run_strict_servers() -> Iterator[FakeProvider]:
    """Strict servers of all providers behind one socket, in a thread of their own."""
    path, log = sys.path[:], logging.getLogger("showandtell")
    handlers = log.handlers
    sys.path.insert(0, str(ROOT / "tests"))
    from fake_provider import FakeProvider  # noqa: PLC0415 - it is part of the tests

    loop, fake_provider = asyncio.new_event_loop(), FakeProvider()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    try:
        asyncio.run_coroutine_threadsafe(fake_provider.__aenter__(), loop).result()
        yield fake_provider
    finally:
        asyncio.run_coroutine_threadsafe(fake_provider.__aexit__(), loop).result()
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()
        sys.path[:], log.handlers = path, handlers


@contextmanager
def variables_of(fake_provider: FakeProvider) -> Iterator[Environ]:
    """Variables that lead to the strict servers and nowhere else, with an empty data folder."""
    with TemporaryDirectory() as data:  # keeps these conversations out of the user's data folder
        others = dict.fromkeys(name for row in ROWS.values() for name in read_by(row))
        here = {
            "SHOWANDTELL_OVERRIDES": str(ROOT / "none.json"),
            "SHOWANDTELL_DATA": data,
            "NO_PROXY": "127.0.0.1",
        }
        yield {**others, **here, **fake_provider.environ()}


def without_keys(environ: Environ) -> Environ:
    """The same variables for somebody who has no key and hasn't used a model yet."""
    keys = dict.fromkeys(name for row in ROWS.values() for name, _ in row.keys)
    return {**environ, **keys, "SHOWANDTELL_DATA": f"{environ['SHOWANDTELL_DATA']}/own"}


@contextmanager
def serve() -> Iterator[Environ]:
    """Variables that lead to strict servers of all providers, which run meanwhile."""
    with run_strict_servers() as fake_provider, variables_of(fake_provider) as environ:
        yield environ


def read_by(row: HostRow) -> list[str]:
    """All variables that a row reads."""
    return [*row.variables, *(name for name, _ in row.keys), *(name for _, name in row.header_variables)]


def settings(providers: Sequence[str]) -> str:
    """Keys and base URLs, one row per host; providers with equal settings share a row."""
    lines = [
        "| provider | key | base URL | variables for the base URL, first match wins |",
        "| --- | --- | --- | --- |",
    ]
    for _, group in groupby(providers, lambda provider: ROWS[provider]):
        names = list(group)
        row = ROWS[names[0]]
        cells = [quote(names), format_keys(row), format_base(row), format_variables(names, row)]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def current() -> str:
    """The model of each provider that answers by default, with its source."""
    lines = ["| provider | model | source | read |", "| --- | --- | --- | --- |"]
    lines += [f"| `{row.provider}` | `{row.model}` | {row.source} | {row.date} |" for row in CURRENT_MODELS]
    return "\n".join(lines) + "\n"


def format_variables(names: Sequence[str], row: HostRow) -> str:
    """The variables that set a base URL; a provider's second row has one more of its own."""
    only = [f"`{own_variables(name)[0]}` (only {name})" for name in names[1:]]
    return ", ".join([*only, quote((*own_variables(names[0]), *row.variables))])


def quote(names: Sequence[str]) -> str:
    """Names as code, commas between."""
    return ", ".join(f"`{name}`" for name in names)


def format_keys(row: HostRow) -> str:
    """The variables of keys, and other credentials."""
    forms = {"bearer": "`authorization: Bearer`"}
    keys = [f"`{name}` ({forms.get(form, f'`{form}`')})" for name, form in row.keys]
    if row.authorize is not None:
        keys.append(SIGNED["google" if row.account_in_url else "aws"])
    if row.by_key is not None:
        keys.append(f"{format_keys(row.by_key)} without a project")
    return (" or ".join(keys) or "none") + ("" if row.needs_key else ", if the server asks for one")


def format_base(row: HostRow) -> str:
    """The default base URL, with placeholders for the account in capitals."""
    account = "PROJECT/LOCATION" if row.account_in_url else "REGION"
    base = row.base(account) if callable(row.base) else row.base
    return f"`{base}`" if base else f"none; as in `{row.example}`"


def files(providers: Sequence[str]) -> str:
    """What happens to each kind of file, for each family of some providers; families with equal cells share a table."""
    own = [family for provider in providers for family in families() if family.provider == provider]
    groups = [list(group) for _, group in groupby(own, lambda family: (family.provider, family.cells))]
    return "\n".join(map(format_families, groups))


def format_families(group: Sequence[Family]) -> str:
    """One table, with a line for each kind of file."""
    target = resolve(f"{group[0].provider}:{group[0].example}")
    models = " and ".join(format_models(name_models(family)) for family in group)
    lines = [
        f"**`{target.provider}`**, {models}:",
        "",
        "| | from a tool | from a user | how we know |",
        f"|{' --- |' * 4}",
    ]
    for kind in PROBES:
        result, upload = RESULTS[place_result(target, kind)], UPLOADS[place_upload(target, kind)]
        cells = [cell for cell in target.cells if cell.kind == kind]
        usable = [cell for cell in cells if cell.place == "user" and cell.verdict in {"sees", "unproven"}]
        lines.append(f"| {kind} | {result} | {upload}{format_types(usable)} | {format_evidence(cells)} |")
    return "\n".join(lines) + "\n"


def format_models(names: str) -> str:
    """Patterns as code; "any" and "any other" as text."""
    return f"{names} model" if names.startswith("any") else quote(names.split(", "))


def format_types(cells: Sequence[Capability]) -> str:
    """What a place accepts: types, forms, and the limits of one file."""
    if not cells:
        return ""
    subtypes = [name.partition("/")[2].rpartition(".")[2] for cell in cells for name in cell.media_types]
    types = dict.fromkeys(ENDINGS.get(name, name) for name in subtypes)
    forms = dict.fromkeys(FORMS[cell.form] for cell in cells)
    limits = next((format_limits(cell.limits) for cell in cells if cell.limits != FileLimits()), "")
    return f": {', '.join(types)} by {', '.join(forms)}{limits}"


def format_limits(limits: FileLimits) -> str:
    """The limits of one file that is sent as bytes."""
    parts = [
        format_size(limits.bytes) if limits.bytes else "",
        f"{limits.side} pixels a side" if limits.side else "",
        f"{limits.pixels / 1e6:g} megapixels" if limits.pixels else "",
        f"{limits.pages} pages" if limits.pages else "",
    ]
    return f"; as bytes up to {', '.join(filter(None, parts))}"


def format_evidence(cells: Sequence[Capability]) -> str:
    """Verdicts by place and form, with their evidence."""
    groups: dict[tuple[Place, str, str, str], list[str]] = {}
    for cell in cells:
        groups.setdefault((cell.place, cell.verdict, cell.evidence, cell.date), []).append(FORMS[cell.form])
    lines = [
        f"{PLACES[place]}, {', '.join(dict.fromkeys(forms))}: **{verdict}**, {escape(evidence)} ({date})"
        for (place, verdict, evidence, date), forms in groups.items()
    ]
    return "<br>".join(lines) or "no place is known to accept it"


def summary() -> str:
    """The README's table: five families and four kinds of files."""
    kinds: tuple[Kind, ...] = ("image", "document", "audio", "video")
    lines = [f"| model | {' | '.join(kinds)} |", f"|{' --- |' * (len(kinds) + 1)}"]
    for name, model in FAMILIES.items():
        target = resolve(model)
        places = [BRIEFLY[place_result(target, kind)] for kind in kinds]
        lines.append(f"| {name} | {' | '.join(places)} |")
    return "\n".join(lines) + "\n"


def configuration() -> str:
    """The table of all keys of a configuration file."""
    may = {"yes": "yes", "less": "less", "no": ""}
    rows = ["| key | option | default | in a found file | |", "| --- | --- | --- | --- | --- |"]
    for name, key in keys().items():
        if not name.startswith("providers."):
            default = "" if key.default is None or key.default in ("", ()) else f"`{json.dumps(key.default)}`"
            option = f"`{key.option}`" if key.option else ""
            rows.append(f"| `{name}` | {option} | {default} | {may[key.about.found]} | {escape(key.about.help)} |")
    names = "`providers.NAME.base_url`, `.api_key`, `.headers`"
    rows.append(f"| {names} | | | | how to reach a provider, if no variable says so |")
    return "\n".join(rows) + "\n"


def decisions(numbers: Sequence[str]) -> str:
    """The table of some decisions."""
    rows = ["| | decision | date | status |", "| --- | --- | --- | --- |"]
    for number in numbers:
        (path,) = (DOCS / "adr").glob(f"{int(number):04}-*.md")
        if (head := DECISION.match(path.read_text())) is None:
            raise ValueError(f"{path}: begin it with `# {number}. Title`, a blank line, and `Date: … Status: ….`")
        rows.append(f"| {head[1]} | [{head[2]}]({path.name}) | {head[3]} | {head[4]} |")
    return "\n".join(rows) + "\n"


def printed(page: str) -> str:
    """What the last Python block of a page prints. The blocks before it run first."""
    names: dict[str, object] = {"__name__": "page"}
    output = StringIO()
    for block in PYTHON.findall(page):
        output = StringIO()
        with redirect_stdout(output):
            exec(block, names)  # noqa: S102 - the page is ours
    text = DAY_OF_FILE.sub(rf"\g<1>{SHOWN_DAY}", output.getvalue())
    return f"```\n{text}```\n"


def binaries() -> str:
    """The table of what binary wheels contain under other licences than their metadata says."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    rows = ["| wheel | contains | licence |", "| --- | --- | --- |"]
    for wheel, parts in project["tool"]["showandtell"]["binaries"].items():
        for part in parts:
            name = " ".join(filter(None, [part["name"], part.get("version")]))
            rows.append(f"| `{wheel}` | {name} | {part['licence']} |")
    return "\n".join(rows) + "\n"


def checked() -> str:
    """The cells that were checked with keys, with their verdicts and dates, of each model in docs/verified.json."""
    verified = read_all(VERIFIED.read_text())
    if not verified:
        return "No cell of the table has been checked with a key yet.\n"
    count = sum(len(cells) for cells in verified.values())
    rows = [f"| `{model}` | {' | '.join(checked_cells(cells))} |" for model, cells in verified.items()]
    heads = [f"Checked with a key: {count} cells of {len(verified)} models.", ""]
    return "\n".join([*heads, f"| model | {' | '.join(KINDS)} |", f"|{' --- |' * (1 + len(KINDS))}", *rows]) + "\n"


def checked_cells(cells: Sequence[Capability]) -> Iterator[str]:
    """For each kind of file: the verdict in each place, and the date of the check."""
    for kind in KINDS:
        found = [cell for cell in cells if cell.kind == kind]
        yield "; ".join(f"{PLACES[cell.place]}: {cell.verdict} {cell.date}" for cell in found) or "-"


def escape(text: str) -> str:
    """Escape Markdown in evidence."""
    return re.sub(r"([*_\[\]|<])", r"\\\1", text)


def generate(text: str, environ: Environ) -> str:
    """A document with its generated parts rewritten."""
    parts: dict[str, Callable[[list[str]], str]] = {
        "summary": lambda _: summary(),
        "matrix": lambda _: markdown(matrix()),
        "checked": lambda _: checked(),
        "transcript": lambda _: show(COMMANDS, without_keys(environ)),
        "ask": lambda models: show(ask(models), environ),
        "settings": lambda providers: settings(providers or list(ROWS)),
        "current": lambda _: current(),
        "files": files,
        "binaries": lambda _: binaries(),
        "configuration": lambda _: configuration(),
        "decisions": decisions,
    }

    def fill(match: re.Match[str]) -> str:
        start, name, arguments, end = match.groups()
        if name == "prints":
            return start + printed(text[: match.start()]) + end
        return start + parts[name]((arguments or "").split()) + end

    return PART.sub(fill, text)


def no_entry_points(**_: str) -> EntryPoints:
    """The documents are about what is built in, whatever is installed beside it."""
    return EntryPoints()


if __name__ == "__main__":
    plugins.entry_points = no_entry_points
    with serve() as variables:
        for document in DOCUMENTS:
            document.write_text(generate(document.read_text(), variables))
