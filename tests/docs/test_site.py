"""The site of the documentation: it builds without a warning, and has every public name.

`stress/test_site.py` writes its pages, too, which takes as long again.
"""

import importlib
import pickle
import re
import shutil

import pytest

from showandtell.errors import ShowAndTellError
from support.paths import ROOT
from support.public_modules import MODULES
from support.site import build


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


@pytest.mark.thorough
def test_the_site_has_every_public_name_and_builds_without_a_warning(tmp_path):
    run = build(ROOT, tmp_path, "dummy")
    assert (run.returncode, run.stderr) == (0, "")
    environment = pickle.loads((tmp_path / "doctrees" / "environment.pickle").read_bytes())  # noqa: S301 - our own
    documented = set(environment.domaindata["py"]["objects"])
    missing = [name for name, names in public_objects() if not names & documented]
    assert missing == [], "add them to the page of their module in docs/api"


def test_links_that_lead_nowhere_are_warnings(tmp_path):
    (tmp_path / "docs").mkdir()
    shutil.copy(ROOT / "docs" / "conf.py", tmp_path / "docs")
    (tmp_path / "docs" / "tools.md").write_text("# Tools\n\n## Files\n")
    (tmp_path / "code.py").touch()
    links = "[a](docs/none.md) [b](docs/tools.md#none) [c](none.py) [d](docs/tools.md#files) [e](code.py)"
    (tmp_path / "README.md").write_text(f"# Title\n\n{links}\n")
    run = build(tmp_path, tmp_path, "dummy")
    assert run.returncode == 1
    assert re.findall(r"README.md:3: WARNING: .+: '(.+?)'", run.stderr) == ["docs/none.md", "none", "none.py"]
