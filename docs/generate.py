"""Write the generated parts of the documents anew. `make docs` runs it, a test compares.

A part stands between two markers, as in `<!-- ask openai:gpt-5.6 -->` and `<!-- /ask -->`: its name, and what it is
about. README has the matrix and the transcript; the pages of providers have settings, cells, and what `ask` prints
when it talks to the strict server of a provider.
"""

from __future__ import annotations

import asyncio
import logging
import re
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import chdir, contextmanager
from itertools import groupby
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TypeAlias

from typer.testing import CliRunner

from showandtell.cli import main as cli
from showandtell.core.capabilities.cells import Capability, FileLimits, Place
from showandtell.core.capabilities.family import Family
from showandtell.core.capabilities.matrix import PROBES, markdown, matrix, name_models, place_result, place_upload
from showandtell.core.capabilities.resolve import families, resolve
from showandtell.core.planning.labels import size_of
from showandtell.providers.rows import ROWS, HostRow, own_variables

#: Variables and their values; without one they are not set.
Environ: TypeAlias = dict[str, str | None]

ROOT = Path(__file__).parent.parent
DOCUMENTS = (ROOT / "README.md", ROOT / "docs" / "reach.md", *sorted((ROOT / "docs" / "providers").glob("*.md")))
COMMANDS = (
    ("ask", "/read_file path=kiwi.jpg"),
    ("ask", "/read_file path=kiwi.jpg", "--model", "inspector:openai-chat"),
)
QUESTION = "Show me order 7."
PART = re.compile(r"(<!-- (\w+)(?: ([^>]+))? -->\n).*?(<!-- /\2 -->)", re.DOTALL)
DAY = re.compile(r"\b\d{4}-\d\d-\d\d\b")

RESULTS = {
    "native": "in the tool result",
    "relocated": "in a user message, labelled",
    "converted": "in another form",
    "noted": "its name, and why it wasn't sent",
    "words": "its text, as words",
}
UPLOADS = {
    "native": "shown",
    "converted": "in another form",
    "refused": "refused before anything is sent",
    "words": "its text, as words",
}
FORMS = {"inline": "bytes", "url": "URL", "file_id": "file id"}
#: Types as people say them, where the last word of the type isn't that.
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
#: What makes headers where no key is given, by the module that does.
SIGNED = {
    "aws": "AWS credentials (variables, profile, role: the extra `bedrock`)",
    "google": "Google's credentials (the extra `vertex`)",
}


def show(commands: Iterable[Sequence[str]], environ: Environ) -> str:
    """What commands print, as a terminal shows it; the day is written as in the label of a fixed day."""
    shown: list[str] = []
    for arguments in commands:
        with chdir(ROOT / "examples"):
            done = CliRunner().invoke(cli.app, arguments, env=environ, catch_exceptions=False)
        words = [f"'{word}'" if " " in word else word for word in arguments]
        shown.append(DAY.sub("2026-11-21", f"$ showandtell {' '.join(words)}\n{done.output.rstrip()}\n"))
    return "```console\n" + "\n".join(shown) + "```\n"


def ask(models: Iterable[str]) -> Iterator[Sequence[str]]:
    """The commands that ask each model to call a tool which returns an image and a PDF."""
    for model in models:
        yield "ask", QUESTION, "--tools", "order:show_order", "--model", model


@contextmanager
def serve() -> Iterator[Environ]:
    """The strict servers of all providers behind a socket, and the variables that lead there and nowhere else."""
    path, log = sys.path[:], logging.getLogger("showandtell")
    handlers = log.handlers
    sys.path.insert(0, str(ROOT / "tests"))
    from fake_provider import Standin  # noqa: PLC0415 - it lies beside the tests

    loop, standin = asyncio.new_event_loop(), Standin()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    data = TemporaryDirectory()  # what is asked here is no conversation of whoever makes the documents
    try:
        asyncio.run_coroutine_threadsafe(standin.__aenter__(), loop).result()
        others = dict.fromkeys(name for row in ROWS.values() for name in read_by(row))
        here = {
            "SHOWANDTELL_OVERRIDES": str(ROOT / "none.json"),
            "SHOWANDTELL_DATA": data.name,
            "NO_PROXY": "127.0.0.1",
        }
        yield {**others, **here, **standin.environ()}
    finally:
        asyncio.run_coroutine_threadsafe(standin.__aexit__(), loop).result()
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()
        data.cleanup()
        sys.path[:], log.handlers = path, handlers


def read_by(row: HostRow) -> list[str]:
    """Every variable that a row reads."""
    return [*row.variables, *(name for name, _ in row.keys), *(name for _, name in row.named)]


def settings(providers: Sequence[str]) -> str:
    """Keys and base URLs, a row for each host; providers that share all of it share a row."""
    lines = ["| provider | key | base URL | instead, the first that is set |", "| --- | --- | --- | --- |"]
    for _, found in groupby(providers, lambda one: ROWS[one]):
        names = list(found)
        row = ROWS[names[0]]
        cells = [quote(names), spell_keys(row), spell_base(row), spell_variables(names, row)]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def spell_variables(names: Sequence[str], row: HostRow) -> str:
    """The variables that name a base URL; a provider's second row has one more of its own."""
    alone = [f"`{own_variables(name)[0]}` ({name} alone)" for name in names[1:]]
    return ", ".join([*alone, *(f"`{one}`" for one in (*own_variables(names[0]), *row.variables))])


def quote(names: Sequence[str]) -> str:
    """Names as code, commas between."""
    return ", ".join(f"`{name}`" for name in names)


def spell_keys(row: HostRow) -> str:
    """The variables of keys, and what else lets one in."""
    forms = {"bearer": "`authorization: Bearer`"}
    keys = [f"`{name}` ({forms.get(form, f'`{form}`')})" for name, form in row.keys]
    if row.authorise is not None:
        keys.append(SIGNED["google" if row.addressed else "aws"])
    return (" or ".join(keys) or "none") + ("" if row.needs_key else ", if the server asks for one")


def spell_base(row: HostRow) -> str:
    """The usual base URL, with what stands for an account in capitals."""
    account = "PROJECT/LOCATION" if row.addressed else "REGION"
    base = row.base(account) if callable(row.base) else row.base
    return f"`{base}`" if base else f"none; as in `{row.example}`"


def files(providers: Sequence[str]) -> str:
    """What becomes of each kind of file, for every family of some providers; those of the same cells share a table."""
    own = [family for provider in providers for family in families() if family.provider == provider]
    groups = [list(found) for _, found in groupby(own, lambda one: (one.provider, one.cells))]
    return "\n".join(map(spell_families, groups))


def spell_families(group: Sequence[Family]) -> str:
    """One table: a line for each kind of file."""
    target = resolve(f"{group[0].provider}:{group[0].example}")
    models = " and ".join(spell_models(name_models(one)) for one in group)
    lines = [
        f"**`{target.provider}`**, {models}:",
        "",
        "| | from a tool | from a user | how we know |",
        f"|{' --- |' * 4}",
    ]
    for kind in PROBES:
        result, upload = RESULTS[place_result(target, kind)], UPLOADS[place_upload(target, kind)]
        cells = [one for one in target.cells if one.kind == kind]
        taken = spell_types([one for one in cells if one.place == "user" and one.verdict in {"sees", "unproven"}])
        lines.append(f"| {kind} | {result} | {upload}{taken} | {spell_evidence(cells)} |")
    return "\n".join(lines) + "\n"


def spell_models(names: str) -> str:
    """Patterns as code; "any" and "any other" are words."""
    return f"{names} model" if names.startswith("any") else quote(names.split(", "))


def spell_types(cells: Sequence[Capability]) -> str:
    """What a place takes: types, forms, and the limits of one file."""
    if not cells:
        return ""
    subtypes = [name.partition("/")[2].rpartition(".")[2] for one in cells for name in one.media_types]
    types = dict.fromkeys(ENDINGS.get(name, name) for name in subtypes)
    forms = dict.fromkeys(FORMS[one.form] for one in cells)
    limits = next((spell_limits(one.limits) for one in cells if one.limits != FileLimits()), "")
    return f": {', '.join(types)} by {', '.join(forms)}{limits}"


def spell_limits(limits: FileLimits) -> str:
    """The limits of one file that is sent as bytes."""
    told = [
        size_of(limits.bytes) if limits.bytes else "",
        f"{limits.side} pixels a side" if limits.side else "",
        f"{limits.pixels / 1e6:g} megapixels" if limits.pixels else "",
        f"{limits.pages} pages" if limits.pages else "",
    ]
    return f"; as bytes up to {', '.join(filter(None, told))}"


def spell_evidence(cells: Sequence[Capability]) -> str:
    """Verdicts by place and form, with what they rest on."""
    told: dict[tuple[Place, str, str, str], list[str]] = {}
    for one in cells:
        told.setdefault((one.place, one.verdict, one.evidence, one.date), []).append(FORMS[one.form])
    lines = [
        f"{PLACES[place]}, {', '.join(dict.fromkeys(forms))}: **{verdict}**, {escape(evidence)} ({date})"
        for (place, verdict, evidence, date), forms in told.items()
    ]
    return "<br>".join(lines) or "nothing is known to take it"


def escape(text: str) -> str:
    """Words of evidence, as Markdown shows them as they are."""
    return re.sub(r"([*_\[\]|<])", r"\\\1", text)


def generate(text: str, environ: Environ) -> str:
    """A document with its generated parts anew."""
    parts: dict[str, Callable[[list[str]], str]] = {
        "matrix": lambda _: markdown(matrix()),
        "transcript": lambda _: show(COMMANDS, environ),
        "ask": lambda models: show(ask(models), environ),
        "settings": lambda providers: settings(providers or list(ROWS)),
        "files": files,
    }

    def fill(found: re.Match[str]) -> str:
        start, name, about, end = found.groups()
        return start + parts[name]((about or "").split()) + end

    return PART.sub(fill, text)


if __name__ == "__main__":
    with serve() as variables:
        for document in DOCUMENTS:
            document.write_text(generate(document.read_text(), variables))
