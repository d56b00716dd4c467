"""APIs that are not built in: packages that write requests and read answers. Programs and packages add theirs."""

from __future__ import annotations

import re
from collections.abc import Generator
from contextlib import contextmanager
from importlib.util import find_spec
from os.path import sep
from pathlib import PurePath
from traceback import extract_tb
from typing import Final

from msgspec import Struct

from showandtell.checking.checked import Checked, checked
from showandtell.core.capabilities.cells import VENDORS
from showandtell.core.capabilities.table import PROVIDERS
from showandtell.errors import BadInput, CannotRender, ShowAndTellError
from showandtell.plugins import MISTAKES, Registry, expect, instances_of, suggestion

#: The modules of an API. The last one, for the strict checks, may be missing.
RENDER, PARSE, RULES = "render", "parse", "rules"
#: Where our own code is, which is no place of a mistake of a package.
OURS: Final = str(PurePath(__file__).parents[2]) + sep
#: The form of the names of APIs and providers.
NAME: Final = re.compile(r"[a-z][a-z0-9]*(?:-[a-z0-9]+)*")


class Api(Checked, Struct, frozen=True, kw_only=True):
    """An API, as one package. Its modules are imported when they are first used.

    Args:
        name: as `Provider.api` names it: lower-case letters, digits and hyphens.
        package: the importable package. Its module `render` has the functions of `Renderer`, `parse` those of
            `ResponseParser`; `rules`, which may be missing, has `HOSTS`, by which the embedded model `inspector:NAME`
            answers as strictly as the API.

    >>> from showandtell.extending import Api
    >>> Api(name="acme-talk", package="acme_talk").name
    'acme-talk'
    """

    name: str
    package: str

    def __post_init__(self) -> None:
        Checked.__post_init__(self)
        if not NAME.fullmatch(self.name):
            raise BadInput(f"{self.name!r} is no name of an API: use lower-case letters, digits and hyphens")

    @property
    def is_strict(self) -> bool:
        """Whether the package has the rules of the API. Imports the package, but not that module."""
        try:
            return find_spec(f"{self.package}.{RULES}") is not None
        except MISTAKES:  # the error comes when the API is used
            return False


REGISTRY: Final = Registry(
    "showandtell.apis",
    "API or provider",
    instances_of(Api),
    name_of=lambda api: api.name,
    is_built_in=lambda name: name in VENDORS or name in PROVIDERS,  # `inspector:NAME` is one of both
)


@checked
def register_api(api: Api) -> None:
    """Make an API known to everything in this process. A provider names it by `Provider.api`.

    Registering the same value again changes nothing. Raises `BadInput` for a name that another API has.
    """
    REGISTRY.register(expect(api, Api))


@contextmanager
def reported_mistakes(api: str, part: str, *passing: type[Exception]) -> Generator[None]:
    """Raise `CannotRender` in place of what a package's API raises, with the line. Our errors and `passing` pass."""
    try:
        yield
    except (ShowAndTellError, MemoryError, RecursionError, *passing):
        raise
    except MISTAKES as error:
        frames = [frame for frame in extract_tb(error.__traceback__) if not frame.filename.startswith(OURS)]
        # An import that fails ends in Python's own code, and names the module or line itself.
        names_place = isinstance(error, ImportError | SyntaxError) or not frames
        where = "" if names_place else f" ({PurePath(frames[-1].filename).name}, line {frames[-1].lineno})"
        text = f"the module {part} of the API {api} failed: {type(error).__name__}: {error}{where}"
        raise CannotRender(f"{text}: the package that has this API has a mistake") from error


def find_module(api: str, part: str) -> str:
    """The importable name of a module of an API. Raises `BadInput` for an API that nobody has registered."""
    if api in VENDORS:
        return f"showandtell.core.wire.{api.replace('-', '_')}.{part}"
    if (known := REGISTRY.find(api)) is None:
        hint = suggestion(api, (*VENDORS, *REGISTRY.all())) or " Register it, or install the package that has it."
        raise BadInput(f"the API {api!r} is not known.{hint}")
    return f"{known.package}.{part}"
