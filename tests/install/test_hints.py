"""Hints for missing extras name a line that works from how the package was installed: it is run here."""

import os
import re
import shlex
import subprocess
import sys

import pytest

from support.packages import UV, built
from support.paths import ROOT

NEEDS = re.compile(r"storing conversations needs more libraries: (.*)")
ACTIVE = "PATH=$PWD/own/bin:$PATH;"
#: How it is installed, and how it is called then. The last ones take longer; `make release-check` tries them, too.
WAYS = {
    "uv": ("uv venv -q own && uv pip install -q --python own {wheel}", "own/bin/showandtell"),
    "uv-tool": ("uv tool install -q {wheel}", "bin/showandtell"),
    "uvx": ("true", "uvx -q --from {wheel} showandtell"),
    "pip": ("uv venv -q --seed own && own/bin/python -m pip install -q {wheel}", "own/bin/showandtell"),
    "active": (f"{ACTIVE} uv venv -q --seed own && pip install -q {{wheel}}", f"{ACTIVE} showandtell"),
    "pipx": ("uvx -q pipx install -q {wheel}", "bin/showandtell"),
    "editable": ("uv venv -q own && uv pip install -q --python own -e {root}", "own/bin/showandtell"),
}
VARIANTS = ("uv-tool", "uvx")
SLOW = ("pip", "active", "pipx", "editable")


@pytest.fixture
def shell(tmp_path):
    """Runs a line with uv on the path, and tools in a folder of the test; returns what it says."""
    (tmp_path / "pipx").write_text('#!/bin/sh\nexec uvx -q pipx "$@"\n')
    (tmp_path / "pipx").chmod(0o755)
    own = {name: value for name, value in os.environ.items() if name not in {"PYTHONPATH", "VIRTUAL_ENV"}} | {
        "PATH": os.pathsep.join([str(UV.parent), str(tmp_path), os.defpath]),
        "PIPX_HOME": str(tmp_path / "pipx-home"),
        "PIPX_BIN_DIR": str(tmp_path / "bin"),
        "UV_PYTHON": sys.executable,
        "UV_SYSTEM_CERTS": "1",
        "UV_TOOL_BIN_DIR": str(tmp_path / "bin"),
        "UV_TOOL_DIR": str(tmp_path / "tools"),
        "XDG_DATA_HOME": str(tmp_path / "data"),
    }
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
    return lambda line: subprocess.run(line, check=False, shell=True, cwd=tmp_path, env=own, **pipes).stdout  # noqa: S602


def marks_of(way):
    return [pytest.mark.release] * (way in SLOW) + [pytest.mark.thorough] * (way in VARIANTS)


@pytest.mark.parametrize("way", [pytest.param(way, marks=marks_of(way)) for way in WAYS])
def test_the_line_of_a_hint_adds_what_is_missing(way, shell):
    install, program = (part.format(wheel=shlex.quote(str(built().wheel)), root=ROOT) for part in WAYS[way])
    installing = shell(install)
    found = NEEDS.search(output := shell(f"{program} list"))
    assert found, installing + output
    installing = shell(f"{ACTIVE if way == 'active' else ''} {found[1]}")
    program = found[1] if way == "uvx" else program
    assert "no conversation is stored here yet" in (output := shell(f"{program} list")), installing + output
