"""The project's page at PyPI: its links and pictures lead to the repository, if the build knows its address."""

import shutil

import pytest
from hatchling.metadata.core import ProjectMetadata
from hatchling.metadata.spec import construct_metadata_file_2_5
from hatchling.plugin.manager import PluginManager
from markdown_it import MarkdownIt

from support.paths import ROOT

ADDRESS = "https://github.com/acme/shows"
README = (ROOT / "README.md").read_text("utf-8")


@pytest.fixture
def describe(monkeypatch):
    """A function that gives the metadata of a folder, built where the address is known or not."""

    def give(address, folder=ROOT):
        monkeypatch.setenv("REPOSITORY_URL", address)
        return ProjectMetadata(str(folder), PluginManager())

    return give


def targets(markdown):
    """Where links and pictures lead."""
    spans = [span for block in MarkdownIt("commonmark").parse(markdown) for span in block.children or ()]
    return {str(span.attrs[name]) for span in spans for name in ("href", "src") if name in span.attrs}


def test_all_links_lead_to_the_tag_where_the_address_is_known(describe):
    metadata = describe(f"{ADDRESS}/")
    tag, found = f"v{metadata.version}", targets(metadata.core.readme)
    assert {target for target in found if not target.startswith("https://")} == set()
    assert f"{ADDRESS}/raw/{tag}/docs/pictures/desktop-light.png" in found
    assert f"{ADDRESS}/blob/{tag}/docs/deploy.md#13-in-containers" in found
    assert metadata.core.urls == {
        "Source": ADDRESS,
        "Documentation": f"{ADDRESS}/blob/{tag}/README.md#documentation",
        "Changelog": f"{ADDRESS}/blob/{tag}/CHANGELOG.md",
        "Issues": f"{ADDRESS}/issues",
    }


def test_nothing_is_made_up_where_the_address_is_not_known(describe):
    metadata = describe("").core
    assert (metadata.readme, metadata.readme_content_type, metadata.urls) == (README, "text/markdown", {})


@pytest.mark.parametrize("address", [ADDRESS, ""])
def test_a_wheel_of_the_sdist_has_the_metadata_of_the_sdist(describe, tmp_path, address):
    (tmp_path / "PKG-INFO").write_text(text := construct_metadata_file_2_5(describe(address)), "utf-8")
    for name in ("pyproject.toml", "hatch_build.py", "LICENSE", "README.md", "src/showandtell/version.py"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    assert construct_metadata_file_2_5(describe("https://github.com/other/fork", tmp_path)) == text
