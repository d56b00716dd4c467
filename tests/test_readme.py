"""The README's generated parts are what the code says now."""

import importlib.util
from pathlib import Path

ROOT = Path(__file__).parent.parent


def generator():
    spec = importlib.util.spec_from_file_location("generate", ROOT / "docs" / "generate.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_matrix_and_the_transcript_are_those_of_the_code():
    text = (ROOT / "README.md").read_text()
    assert generator().generate(text) == text, "run `make docs`"
