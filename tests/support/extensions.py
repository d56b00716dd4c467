"""The files of docs/extending.md, as the packages of others that tests import or install."""

import io
import re
import subprocess
import sys
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from zipfile import ZipFile

from showandtell.core.media_types import converters
from showandtell.media import gate
from support.docs_generator import ROOT

PAGE = (ROOT / "docs/extending.md").read_text()
BLOCKS = re.findall(r"^```(\w+) ?(\S*)\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
FILES = {name: text for _, name, text in BLOCKS if name}
REGISTER = next(text for kind, name, text in BLOCKS if kind == "python" and not name)
STL = "solid part\nfacet\nouter loop\nvertex 0 0 0\nvertex 4 0 0\nvertex 0 2 0\nendloop\nendfacet\nendsolid\n"


def install(folder, changes=()):
    """Build the package of the page, with changes of its pyproject.toml, and unpack the wheel as installers do."""
    with ZipFile(io.BytesIO(build(tuple(changes)))) as wheel:
        wheel.extractall(folder)


@cache
def build(changes):
    """The bytes of the wheel."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        write_files(folder)
        project = folder / "pyproject.toml"
        for old, new in changes:
            assert old in project.read_text()
            project.write_text(project.read_text().replace(old, new))
        command = [sys.executable, "-c", "import hatchling.build as build; print(build.build_wheel('.'))"]
        done = subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True)  # noqa: S603 - ours
        return (folder / done.stdout.split()[-1]).read_bytes()


def write_files(folder):
    """Write all files of the page into a folder."""
    for name, text in FILES.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text)


def forget_registered(monkeypatch, *registries):
    """Let a test register what it likes: nothing of it is left, and no installed package is asked."""
    for registry in registries:
        monkeypatch.setattr(registry, "_values", {})
        monkeypatch.setattr(registry, "_is_complete", True)


@contextmanager
def converting(folder, monkeypatch, **modules):
    """Let a test register converters: those of the page, and of modules given as text. No other one is registered."""
    forget_registered(monkeypatch, converters.REGISTRY)
    import_from(folder, monkeypatch)
    for name, text in modules.items():
        (folder / f"{name}.py").write_text(text)
    gate.close()  # a process that runs has the old path of modules
    yield
    gate.close()


def import_from(folder, monkeypatch):
    """Let a test import the files of the page, and only that test."""
    write_files(folder)
    monkeypatch.syspath_prepend(folder)
    for name in [name for name in sys.modules if name.partition(".")[0].startswith("acme")]:
        monkeypatch.delitem(sys.modules, name)
