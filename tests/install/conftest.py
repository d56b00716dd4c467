"""Which installations are tried: bare and with all extras; with `--release`, as `make release-check` does, many more.

What an extra is for is tried without any, too, by `make thorough`.
"""

import shutil
import sys
import tomllib
from pathlib import Path

import pytest

from support.packages import built, install, run
from support.paths import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
EXTRAS = tuple(PROJECT["optional-dependencies"])
#: What is installed beside the package.
SETS = {"bare": (), "all": EXTRAS, **{name: (name,) for name in EXTRAS}}


def pytest_addoption(parser):
    text = "try each extra alone, the sdist, and each Python that is installed here, with the newest libraries"
    parser.addoption("--release", action="store_true", help=text)


def pytest_collection_modifyitems(config, items):
    """Leave out what only a release is tried with."""
    if not config.getoption("--release", default=False):
        items[:] = [item for item in items if item.get_closest_marker("release") is None]


def pytest_generate_tests(metafunc):
    if "installed" not in metafunc.fixturenames:
        return
    full = metafunc.config.getoption("--release", default=False)
    variants = {"bare"} if "extra" in metafunc.fixturenames else ()
    cases = [
        pytest.param(
            (kind, python, full, name),
            id="-".join(filter(None, [kind, version, name])),
            marks=[pytest.mark.thorough] * (name in variants),
        )
        for kind in (("sdist", "wheel") if full else ("wheel",))
        for version, python in (pythons() if full else {"": sys.executable}).items()
        for name in (SETS if full else ("bare", "all"))
    ]
    metafunc.parametrize("installed", cases, indirect=True)


def pythons():
    """A Python of each supported version that is installed here, on the path or by pyenv."""
    found = {}
    for version in (line.rsplit(" ", 1)[-1] for line in PROJECT["classifiers"] if " :: 3." in line):
        own = sorted(map(str, Path.home().glob(f".pyenv/versions/{version}.*/bin/python")))
        for path in filter(None, [*own, shutil.which(f"python{version}")]):
            if run([path, "-c", ""], ROOT).returncode == 0:
                found[version] = path
    return found


@pytest.fixture
def installed(request):
    """An environment by kind of file, Python, whether its libraries are the newest ones, and the name of its extras."""
    kind, python, newest, name = request.param
    return install(getattr(built(), kind), SETS[name], python, locked=not newest)
