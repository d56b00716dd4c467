"""What has to follow the rows of a built-in provider: a page with links, golden copies, and a title.

`make scaffold PROVIDER=acme` writes what can be written, and lists the rest. A test lists what is missing of any
provider. The rows themselves, a `Family` and a `HostRow`, are written by hand: docs/providers.md, "How to add a row".
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from showandtell.core.capabilities.default_models import CURRENT_MODELS, WITHOUT_MODEL
from showandtell.core.capabilities.resolve import examples_of, resolve
from showandtell.core.capabilities.table import PROVIDERS
from showandtell.providers.connect import connect
from showandtell.providers.hosts import ROWS, SAME_KEY

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT / "tests"))  # in a test it is there already

from showandtell.core.wire.renderers import renderer_of  # noqa: E402
from showandtell.server.routes.entered_keys import NAMES  # noqa: E402
from support.matrix_rows import matrix_rows  # noqa: E402

MATRIX = ROOT / "tests/core/capabilities/test_capabilities.py"
CONNECT = ROOT / "tests/providers/test_connect.py"
MODELS = ROOT / "src/showandtell/core/capabilities/default_models.py"
TITLES = ROOT / "src/showandtell/server/routes/entered_keys.py"
#: Pages that link to the page of each provider.
LISTS = (ROOT / "docs/providers.md", ROOT / "docs/reach.md")
ASKED = re.compile(r"<!-- ask (.+?) -->")
PAGE = """# {title}

{title} is used through the API `{api}`.

## Settings

<!-- settings {provider} -->
<!-- /settings -->

## Files

<!-- files {provider} -->
<!-- /files -->

## Example

Run in the folder `examples` against this repository's strict server, which validates requests like the provider and
reports what it received. It is not a language model, and no request was sent to the provider.

<!-- ask {provider}:{example} -->
<!-- /ask -->
"""


class Place(NamedTuple):
    """Something that follows a row: what is missing, in words, whether it is there, and what writes it."""

    words: str
    is_there: Callable[[str], bool]
    write: Callable[[str], None]


def title_of(provider: str) -> str:
    """The name that people read."""
    return NAMES.get(provider, provider.replace("-", " ").title())


def page_of(provider: str) -> Path | None:
    """The page that tries the provider."""
    pages = sorted((ROOT / "docs/providers").glob("*.md"))
    return next((page for page in pages if provider in tried_on(page)), None)


def tried_on(page: Path) -> set[str]:
    """The providers that a page tries."""
    return {model.partition(":")[0] for models in ASKED.findall(page.read_text()) for model in models.split()}


def write_page(provider: str) -> None:
    """Write a page whose parts `make docs` fills."""
    example = examples_of(provider)[0]
    text = PAGE.format(provider=provider, title=title_of(provider), api=resolve(f"{provider}:x").api, example=example)
    (ROOT / f"docs/providers/{provider}.md").write_text(text)


def is_linked(provider: str) -> bool:
    """Whether the lists have the provider's page."""
    page = page_of(provider)
    return page is not None and all(f"providers/{page.name}" in path.read_text() for path in LISTS)


def link(provider: str) -> None:
    """Add the page to both lists, before the local servers."""
    entry = f"[{title_of(provider)}](providers/{provider}.md),\n"
    for path in LISTS:
        insert(path, "[local servers](providers/local.md)", entry)


def rows_of(provider: str) -> list[str]:
    """The provider's lines of the matrix."""
    return [row for row in matrix_rows() if row.startswith(f"{provider} ")]


def has_rows(provider: str) -> bool:
    """Whether the golden copy of the matrix has lines of the provider."""
    return re.search(rf"^{re.escape(provider)} ", MATRIX.read_text(), re.MULTILINE) is not None


def write_rows(provider: str) -> None:
    """Add the provider's lines after those before it in the table."""
    rows = matrix_rows()
    before = rows[rows.index(rows_of(provider)[0]) - 1]
    insert(MATRIX, f"{before}\n", "".join(f"{row}\n" for row in rows_of(provider)), after=True)


def has_way(provider: str) -> bool:
    """Whether the golden copy of addresses and headers has the provider."""
    return f'\n    "{provider}": (' in CONNECT.read_text()


def write_way(provider: str) -> None:
    """Add where a request goes, and with which header."""
    row, target = ROWS[provider], resolve(f"{provider}:m-1")
    variable = next((name for name, _ in row.keys), None)
    exchange = connect(target, api_key="k" if variable else None, environ={})
    header = next((name for name, value in exchange.headers.items() if value in {"k", "Bearer k"}), None)
    url = renderer_of(target.api).url(target, exchange.base, stream=True)
    names = ", ".join(f'"{value}"' if value else "None" for value in (variable, header, url))
    insert(CONNECT, "}\neach_provider", f'    "{provider}": ({names}),\n')


def has_title(provider: str) -> bool:
    """Whether the page has a name for the provider, if people enter a key of it."""
    return provider in NAMES or provider in SAME_KEY or not ROWS[provider].keys


def write_title(provider: str) -> None:
    """Add a name, for a person to correct."""
    insert(TITLES, '    "ollama": "Ollama",\n', f'    "{provider}": "{title_of(provider)}",\n')


def has_model(provider: str) -> bool:
    """Whether the provider has a current model, or a reason for none, if it has a key of its own."""
    known = {row.provider for row in CURRENT_MODELS} | WITHOUT_MODEL.keys() | SAME_KEY.keys()
    return provider in known or not ROWS[provider].keys


def write_model(provider: str) -> None:
    """Add a reason for none, for a person to replace by a model."""
    insert(MODELS, '    "ollama": "its models', f'    "{provider}": "none has been chosen yet",\n')


PLACES = (
    Place("a current model, or a reason for none, in core/capabilities/default_models.py", has_model, write_model),
    Place("a title, in NAMES of server/routes/entered_keys.py", has_title, write_title),
    Place("a page in docs/providers that tries it", lambda provider: page_of(provider) is not None, write_page),
    Place("links to its page in docs/providers.md and docs/reach.md", is_linked, link),
    Place("its rows in EXPECTED of tests/core/capabilities/test_capabilities.py", has_rows, write_rows),
    Place("its address and header in WAYS of tests/providers/test_connect.py", has_way, write_way),
)


def find_missing(provider: str) -> Iterator[Place | str]:
    """What is missing of a provider: places that can be written, and words for what a person has to write."""
    if provider not in PROVIDERS:
        yield "its families: write a Family in a module of core/capabilities, the last one with ANY_MODEL"
    if provider not in ROWS:
        yield "its host: write a HostRow in ROWS of providers/hosts.py"
    if provider in PROVIDERS and provider in ROWS:
        yield from (place for place in PLACES if not place.is_there(provider))


def describe(missing: Place | str) -> str:
    """One line of words."""
    return missing if isinstance(missing, str) else missing.words


def insert(path: Path, anchor: str, text: str, *, after: bool = False) -> None:
    """Insert a text before, or after, a text that occurs once in a file."""
    old = path.read_text()
    if old.count(anchor) != 1:
        raise SystemExit(f"{path.relative_to(ROOT)}: {anchor.strip()!r} occurs {old.count(anchor)} times, not once")
    path.write_text(old.replace(anchor, anchor + text if after else text + anchor))


def main(provider: str) -> None:
    """Write what is missing, and say what is left to do."""
    for missing in find_missing(provider):
        if isinstance(missing, str):
            raise SystemExit(f"{provider} lacks {missing}; then run this again")
        missing.write(provider)
        print(f"wrote {missing.words}")
    subprocess.run([sys.executable, ROOT / "docs/generate.py"], check=True)  # noqa: S603 - our own script
    print("Read what was written: the rows are golden copies, which a person has to compare with the evidence.")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("name the provider: make scaffold PROVIDER=acme")
    main(sys.argv[1])
