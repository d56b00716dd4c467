"""The command line that adds an extra, by how the package was installed: `tests/install` runs some of them."""

from pathlib import Path

import pytest

from showandtell.installation import Installation

WHEEL = {"url": "https://example.com/my%20files/showandtell-0.2.0-py3-none-any.whl", "archive_info": {}}
OF_WHEEL = "'showandtell[history] @ https://example.com/my%20files/showandtell-0.2.0-py3-none-any.whl'"
LIBRARIES = {"history": ["sqlalchemy<3,>=2.1", "alembic"]}
GIT = {"url": "https://git.example.com/it.git", "vcs_info": {"vcs": "git", "commit_id": "c0ffee"}}


@pytest.fixture
def prefix(tmp_path):
    return tmp_path


def command(prefix, direct_url=WHEEL, extras=(), has_pip=False, programs=("uv",)):
    def find(name):
        return f"/usr/bin/{name}" if name in programs else None

    here = Installation(prefix, f"{prefix}/bin/python", direct_url, frozenset(extras), has_pip, LIBRARIES, find)
    return here.command("history")


def test_what_is_from_an_index_needs_its_name_alone(prefix):
    assert command(prefix, {}, has_pip=True) == f"{prefix}/bin/python -m pip install 'showandtell[history]'"


def test_a_wheel_and_a_repository_are_named_by_their_address(prefix):
    assert command(prefix) == f"uv pip install --python {prefix} {OF_WHEEL}"
    assert command(prefix, GIT).endswith("'showandtell[history] @ git+https://git.example.com/it.git@c0ffee'")


def test_the_pip_of_an_active_environment_is_called_by_its_name(prefix):
    here = Installation(prefix, "python", {}, frozenset(), has_pip=True, find=lambda name: f"{prefix}/bin/{name}")
    assert here.command("av") == "pip install 'showandtell[av]'"


def test_an_active_environment_of_uv_needs_no_path(prefix, monkeypatch):
    monkeypatch.setenv("VIRTUAL_ENV", str(prefix))
    assert command(prefix, {}) == "uv pip install 'showandtell[history]'"


def test_another_pip_installs_into_an_environment_that_has_none(prefix):
    assert command(prefix, {}, programs=("pip",)) == f"pip --python {prefix}/bin/python install 'showandtell[history]'"


@pytest.mark.parametrize(
    ("mark", "start"), [("uv-receipt.toml", "uv tool install"), ("pipx_metadata.json", "pipx install --force")]
)
def test_a_tool_is_installed_again_with_the_extras_that_it_has(prefix, mark, start):
    (prefix / mark).touch()
    assert command(prefix, {}, extras=["av"]) == f"{start} 'showandtell[av,history]'"


def test_an_environment_of_uvx_is_made_anew():
    assert command(Path("/home/me/.cache/uv/archive-v0/x1")) == f"uvx --from {OF_WHEEL} showandtell"


def test_a_clone_that_make_set_up_is_set_up_again(prefix):
    (prefix / "Makefile").touch()
    clone = {"url": prefix.as_uri(), "dir_info": {"editable": True}}
    assert command(prefix / ".venv", clone) == f"make --always-make -C {prefix} setup"
    assert command(prefix / "own", clone).endswith(f"--editable '{prefix}[history]'")


def test_of_a_wheel_that_is_gone_the_libraries_are_named(prefix):
    wheel = prefix / "showandtell-0.2.0-py3-none-any.whl"
    assert command(prefix, {"url": wheel.as_uri()}) == f"uv pip install --python {prefix} alembic 'sqlalchemy<3,>=2.1'"
    wheel.touch()
    assert command(prefix, {"url": wheel.as_uri()}).endswith(f"'showandtell[history] @ {wheel.as_uri()}'")
