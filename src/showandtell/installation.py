"""How this package was installed, and the command line that adds extras to this very installation.

Nothing here is imported or read before somebody asks: `importlib.metadata` takes milliseconds.
"""

from __future__ import annotations

import importlib.util
import json
import os
import re
import shutil
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from shlex import quote
from typing import Any, NamedTuple
from urllib.parse import unquote, urlsplit

PACKAGE = "showandtell"
#: The extra that brings a module.
EXTRAS: Mapping[str, str] = {
    "alembic": "history",
    "cryptography": "server",
    "fastapi": "server",
    "itsdangerous": "server",
    "joserfc": "server",
    "obstore": "remote",
    "prometheus_client": "server",
    "psycopg": "postgres",
    "python_multipart": "server",
    "sqlalchemy": "history",
    "starlette": "server",
    "uvicorn": "server",
}
#: Advice in texts that models and users of a server read: neither should learn its paths.
ADVICE = "`showandtell doctor` says how to install it"


class Installation(NamedTuple):
    """Where the package is, and where it came from.

    `direct_url` is what pip and uv store of a package that isn't from an index (packaging.python.org, "Direct URL
    Data Structure"), `extras` those that are complete, `libraries` what each extra needs, and `find` is `shutil.which`.
    """

    prefix: Path
    python: str
    direct_url: Mapping[str, Any]
    extras: frozenset[str]
    has_pip: bool
    libraries: Mapping[str, Sequence[str]] = {}
    find: Callable[[str], str | None] = shutil.which

    @classmethod
    def here(cls) -> Installation:
        """That of this process."""
        from importlib import metadata  # noqa: PLC0415 - slow to import, and seldom needed

        has_pip = importlib.util.find_spec("pip") is not None
        try:
            distribution = metadata.distribution(PACKAGE)
        except metadata.PackageNotFoundError:  # only its folder is on the path
            return cls(Path(sys.prefix), sys.executable, {}, frozenset(), has_pip)
        direct_url = json.loads(distribution.read_text("direct_url.json") or "{}")
        names = distribution.metadata.get_all("Provides-Extra") or []
        libraries = {name: _of_extra(name, distribution.requires or []) for name in names}
        complete = frozenset(name for name in names if all(map(_is_installed, libraries[name])))
        return cls(Path(sys.prefix), sys.executable, direct_url, complete, has_pip, libraries)

    def command(self, *extras: str) -> str:
        """The command line that adds extras."""
        if self._is_made:
            return f"make --always-make -C {quote(str(self._folder))} setup"
        if self._is_gone:
            names = sorted({library for extra in extras for library in self.libraries[extra]})
            return f"{self._installer()} {' '.join(map(quote, names))}"
        if (self.prefix / "uv-receipt.toml").is_file():
            return f"uv tool install {self._requirement(self.extras | {*extras})}"
        if (self.prefix / "pipx_metadata.json").is_file():
            return f"pipx install --force {self._requirement(self.extras | {*extras})}"
        if self.prefix.parent.name.startswith("archive-v"):  # uv's cache, where `uvx` makes its environments
            return f"uvx --from {self._requirement(self.extras | {*extras})} {PACKAGE}"
        return f"{self._installer()} {self._requirement(frozenset(extras))}"

    @property
    def _is_made(self) -> bool:
        folder = self._folder
        return folder is not None and self.prefix == folder / ".venv" and (folder / "Makefile").is_file()

    @property
    def _is_gone(self) -> bool:
        """Whether the file or folder that it was installed from is no longer there."""
        url = urlsplit(str(self.direct_url.get("url", "")))
        return url.scheme == "file" and not Path(unquote(url.path)).exists()

    @property
    def _folder(self) -> Path | None:
        """The source of an editable installation."""
        if not self.direct_url.get("dir_info", {}).get("editable"):
            return None
        return Path(unquote(urlsplit(str(self.direct_url["url"])).path))

    def _requirement(self, extras: frozenset[str]) -> str:
        names = ",".join(sorted(extras))
        if folder := self._folder:
            return f"--editable {quote(f'{folder}[{names}]')}"
        return quote(f"{PACKAGE}[{names}]{self._origin}")

    @property
    def _origin(self) -> str:
        """The end of a requirement (PEP 508) for what isn't from an index."""
        if not self.direct_url:
            return ""
        url, vcs = self.direct_url["url"], self.direct_url.get("vcs_info")
        return f" @ {vcs['vcs']}+{url}@{vcs['commit_id']}" if vcs else f" @ {url}"

    def _installer(self) -> str:
        """A pip that installs into this environment, by its shortest name."""
        if self.has_pip:
            own = str(self.prefix / "bin" / "pip")
            return "pip install" if self.find("pip") == own else f"{quote(self.python)} -m pip install"
        if self.find("uv") is None and self.find("pip") is not None:
            return f"pip --python {quote(self.python)} install"
        active = os.environ.get("VIRTUAL_ENV") == str(self.prefix)
        return "uv pip install" if active else f"uv pip install --python {quote(str(self.prefix))}"


def install_command(*extras: str) -> str:
    """The command line that adds extras to the installation of this process."""
    return Installation.here().command(*extras)


def missing_module(name: str, error: ModuleNotFoundError) -> ModuleNotFoundError:
    """The error to raise for a public name that can't be imported: it says which command brings what is missing."""
    module = (error.name or "").partition(".")[0]
    if module not in EXTRAS:
        return error
    text = f"{name} needs {module}: {install_command(EXTRAS[module])}"
    return ModuleNotFoundError(text, name=error.name, path=error.path)


def _of_extra(name: str, requirements: Sequence[str]) -> list[str]:
    """The requirements of an extra, without their markers."""
    ends = (f"extra == '{name}'", f'extra == "{name}"')
    return [line.partition(";")[0].strip() for line in requirements if line.endswith(ends)]


def _is_installed(requirement: str) -> bool:
    from importlib import metadata  # noqa: PLC0415 - slow to import, and seldom needed

    try:
        metadata.distribution(re.split(r"[^\w.-]", requirement, maxsplit=1)[0])
    except metadata.PackageNotFoundError:
        return False
    return True
