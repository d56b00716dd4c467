"""The person's own file of verdicts: where it lies, what it says, and that it is written whole or not at all."""

import json
from pathlib import Path

import msgspec
import pytest

from showandtell.config.user_settings import (
    check_overrides_writable,
    config_folder,
    overrides_path,
    read_overrides,
    save_overrides,
    user_overrides,
)
from showandtell.core.capabilities import matrix as table
from showandtell.core.capabilities.cells import Capability
from showandtell.core.capabilities.resolve import resolve
from showandtell.errors import BadInput

MODEL = "openai:gpt-5-mini"


def cell(verdict, place="tool_result", types=("image/png",), date="2026-11-22"):
    return Capability(place, "image", types, "inline", verdict, "eye test", date)


@pytest.fixture
def environ(tmp_path):
    return {"SHOWANDTELL_OVERRIDES": str(tmp_path / "deep" / "overrides.json")}


def test_the_file_lies_where_the_variable_says_else_in_the_folder_of_settings():
    assert overrides_path({"SHOWANDTELL_OVERRIDES": "/x/mine.json", "HOME": "/h"}) == Path("/x/mine.json")
    assert overrides_path({"XDG_CONFIG_HOME": "/xdg", "HOME": "/h"}) == Path("/xdg/showandtell/overrides.json")
    assert config_folder({"XDG_CONFIG_HOME": "not/absolute", "HOME": "/h"}, "linux") == Path("/h/.config/showandtell")
    assert config_folder({"HOME": "/h"}, "darwin") == Path("/h/Library/Application Support/showandtell")


def test_without_a_file_there_are_no_overrides(environ):
    assert user_overrides(MODEL, environ) == ()
    assert read_overrides(environ) == {}


def test_what_is_saved_is_read_for_this_model_alone(environ):
    path = save_overrides([cell("blind")], MODEL, environ)
    assert path == overrides_path(environ)
    assert user_overrides(MODEL, environ) == (cell("blind"),)
    assert user_overrides("openai:gpt-5", environ) == ()
    assert [item.name for item in path.parent.iterdir()] == ["overrides.json"]


def test_the_inspector_is_found_by_its_short_name(environ):
    save_overrides([cell("blind")], "inspector:anthropic-messages", environ)
    assert user_overrides("inspector", environ) == (cell("blind"),)


def test_a_newer_verdict_replaces_the_older_one_of_the_same_place_and_keeps_the_rest(environ):
    by_hand = cell("sees", types=("image/heic",))
    save_overrides([cell("blind", types=("image/*",)), cell("sees", "user")], MODEL, environ)
    save_overrides([by_hand], "openai:*", environ)
    save_overrides([cell("rejects", date="2026-12-01")], MODEL, environ)
    assert user_overrides(MODEL, environ) == (cell("rejects", date="2026-12-01"), cell("sees", "user"), by_hand)


def test_a_model_by_name_goes_before_a_glob_that_stands_before_it(environ):
    save_overrides([cell("blind")], "openai:*", environ)
    save_overrides([cell("sees")], MODEL, environ)
    target = resolve(MODEL, user_overrides(MODEL, environ))
    assert target.cell("tool_result", "image/png", "inline").verdict == "sees"


@pytest.mark.parametrize("text", ["", "[]", "{", '{"openai:*": [{"verdict": "sees"}]}', '{"a": 1}'])
def test_a_broken_file_is_named_and_left_as_it_is(environ, text):
    path = overrides_path(environ)
    path.parent.mkdir()
    path.write_text(text)
    with pytest.raises(BadInput, match=r"deep/overrides\.json: overrides: "):
        user_overrides(MODEL, environ)
    with pytest.raises(BadInput, match=r"overrides\.json"):
        save_overrides([cell("sees")], MODEL, environ)
    assert path.read_text() == text


def test_a_file_that_is_no_text_and_a_folder_in_its_place_are_named(environ):
    path = overrides_path(environ)
    path.parent.mkdir()
    path.write_bytes(b'{"\xff": []}')
    with pytest.raises(BadInput, match=r"overrides\.json"):
        user_overrides(MODEL, environ)
    path.unlink()
    path.mkdir()
    with pytest.raises(BadInput, match=r"overrides\.json can't be read"):
        user_overrides(MODEL, environ)


def test_a_folder_that_can_not_be_made_is_named(tmp_path):
    (tmp_path / "file").write_text("")
    environ = {"SHOWANDTELL_OVERRIDES": str(tmp_path / "file" / "overrides.json")}
    with pytest.raises(BadInput, match=r"overrides\.json can't be"):
        save_overrides([cell("sees")], MODEL, environ)


def test_a_link_to_the_file_stays_a_link(tmp_path):
    real, link = tmp_path / "real.json", tmp_path / "link.json"
    real.write_text("{}")
    link.symlink_to(real)
    save_overrides([cell("sees")], MODEL, {"SHOWANDTELL_OVERRIDES": str(link)})
    assert link.is_symlink()
    assert MODEL in json.loads(real.read_text())


def test_a_verified_model_has_a_row_of_its_own_and_the_familys_stays_the_tables():
    found = {MODEL: (cell("blind"),), "bedrock:*claude*": (cell("rejects", date="2026-12-01"),), "openai:o9": ()}
    rows = table.matrix(found)
    assert [row for row in rows if not row["verified"]] == table.matrix()
    own = [row for row in rows if row["verified"]]
    assert [(row["models"], row["example"], row["tool_result"]["image"]) for row in own] == [
        ("gpt-5-mini", "gpt-5-mini", "relocated"),
        ("*claude*", "*claude*", "relocated"),
        ("*claude*", "anthropic.claude-v2:1", "noted"),
        ("*claude*", "anthropic.claude-3-haiku-20240307-v1:0", "relocated"),
        ("*claude*", "us.anthropic.claude-3-5-haiku-20241022-v1:0", "noted"),
    ]
    assert own[0]["verified"] == {MODEL: [msgspec.to_builtins(cell("blind"))]}
    text = table.markdown(rows)
    assert "|  | `gpt-5-mini` (verified 2026-11-22) | openai-responses | ◐ (" in text
    assert "| eye test, recorded 2026-12-01 |" in text
    assert f"- `{MODEL}`: image in tool results (inline): **blind**, verified 2026-11-22: eye test" in text


def test_a_row_is_planned_as_its_model_is_and_a_globs_without_what_one_model_has():
    exact = "bedrock:us.anthropic.claude-opus-4-6-v1:0"
    example = next(
        row["example"] for row in table.matrix() if row["models"] == "*claude*" and row["provider"] == "bedrock"
    )
    found = {"*": (cell("blind"),), f"bedrock:{example}": (cell("sees"),), exact: (cell("sees", "user"),)}
    rows = {(row["provider"], row["models"]): row for row in table.matrix(found) if row["verified"]}
    bedrock = {models: row["tool_result"]["image"] for (provider, models), row in rows.items() if provider == "bedrock"}
    assert bedrock[example] == "native"
    assert bedrock[exact.partition(":")[2]] == bedrock["*"] == "relocated"


def test_the_matrix_of_the_docs_has_no_verdicts_of_a_user():
    assert "verified" not in table.markdown(table.matrix())
    assert not any(row["verified"] for row in table.matrix())


def test_a_place_is_tried_by_writing_and_nothing_stays_there(environ):
    check_overrides_writable(environ)
    assert [*overrides_path(environ).parent.iterdir()] == []
    overrides_path(environ).write_text("broken")
    with pytest.raises(BadInput, match=r"overrides\.json: overrides: "):
        check_overrides_writable(environ)
