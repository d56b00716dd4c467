"""The page of models says which cells were checked with keys, and when."""

from support.docs_generator import GENERATOR

VERIFIED = """{"openai:gpt-5.6": [
  {"place": "user", "kind": "image", "media_types": ["image/png"], "form": "inline", "verdict": "sees",
   "evidence": "eye test with image/png", "date": "2026-11-28"},
  {"place": "tool_result", "kind": "image", "media_types": ["image/png"], "form": "inline", "verdict": "blind",
   "evidence": "eye test with image/png", "date": "2026-11-28"}]}"""


def test_each_checked_cell_has_its_verdict_and_its_date(tmp_path, monkeypatch):
    path = tmp_path / "verified.json"
    path.write_text(VERIFIED)
    monkeypatch.setattr(GENERATOR, "VERIFIED", path)
    text = GENERATOR.checked()
    assert text.startswith("Checked with a key: 2 cells of 1 models.\n")
    assert text.endswith(
        "| `openai:gpt-5.6` | user message: sees 2026-11-28; tool result: blind 2026-11-28 | - | - | - |\n"
    )


def test_without_checks_the_page_says_so(tmp_path, monkeypatch):
    path = tmp_path / "verified.json"
    path.write_text("{}")
    monkeypatch.setattr(GENERATOR, "VERIFIED", path)
    assert GENERATOR.checked() == "No cell of the table has been checked with a key yet.\n"
