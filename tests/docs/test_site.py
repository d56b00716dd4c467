"""The site of the documentation: it builds without a warning, has every public name, and needs no other host."""

import importlib
import re
import shutil
import subprocess
import sys
import zlib

from showandtell.errors import ShowAndTellError
from support.paths import ROOT
from support.public_modules import MODULES

#: An element that a browser loads from another host.
LOADED = re.compile(
    r"<(?:script|link|img|iframe)\b[^>]*\b(?:src|href)=\"(?:https?:)?//|@import|url\(['\"]?(?:https?:)?//"
)


def build(root, folder):
    options = ["--fail-on-warning", "--keep-going", "--quiet", "-c", root / "docs", "-d", folder / "doctrees"]
    command = [sys.executable, "-m", "sphinx", *options, root, folder / "site"]
    return subprocess.run(command, stdout=-1, stderr=-1, text=True, check=False)  # noqa: S603 - our own


def read_inventory(path):
    """The names of the reference, from the file by which other sites link to it."""
    lines = zlib.decompress(path.read_bytes().split(b"\n", 4)[4]).decode().splitlines()
    return {line.split()[0] for line in lines}


def public_objects():
    """All public names with the names that their object goes by."""
    for name in MODULES:
        module = importlib.import_module(name)
        errors = [key for key, value in vars(module).items() if is_error(value)]
        for public in getattr(module, "__all__", errors or ["folder"]):
            value = getattr(module, public)
            own = f"{getattr(value, '__module__', '')}.{getattr(value, '__qualname__', '')}"
            error = f"showandtell.errors.{public}"
            yield f"{name}.{public}", {f"{name}.{public}", own, error}


def is_error(value):
    return isinstance(value, type) and issubclass(value, ShowAndTellError)


def test_the_site_builds_without_a_warning_and_is_complete(tmp_path):
    run = build(ROOT, tmp_path)
    assert (run.returncode, run.stderr) == (0, "")
    site = tmp_path / "site"
    documented = read_inventory(site / "objects.inv")
    missing = [name for name, names in public_objects() if not names & documented]
    assert missing == [], "add them to the page of their module in docs/api"
    # Names of other modules are links, too.
    assert 'href="errors.html#showandtell.errors.StorageFailed"' in (site / "docs/api/showandtell.html").read_text()
    pages = [*site.rglob("*.html"), *site.rglob("*.css")]
    assert [path for path in pages if LOADED.search(path.read_text())] == []
    assert (site / "index.html").read_text() == (site / "README.html").read_text()


def test_links_that_lead_nowhere_are_warnings(tmp_path):
    (tmp_path / "docs").mkdir()
    shutil.copy(ROOT / "docs" / "conf.py", tmp_path / "docs")
    (tmp_path / "docs" / "tools.md").write_text("# Tools\n\n## Files\n")
    (tmp_path / "code.py").touch()
    links = "[a](docs/none.md) [b](docs/tools.md#none) [c](none.py) [d](docs/tools.md#files) [e](code.py)"
    (tmp_path / "README.md").write_text(f"# Title\n\n{links}\n")
    run = build(tmp_path, tmp_path)
    assert run.returncode == 1
    assert re.findall(r"README.md:3: WARNING: .+: '(.+?)'", run.stderr) == ["docs/none.md", "none", "none.py"]
