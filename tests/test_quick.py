"""What `make quick` runs is quick: pure tests import nothing slow, and each layer above has a smoke test."""

import pytest

from support.imports import imported
from support.paths import ROOT, SRC, TESTS

#: Packages that take a second to import, and pytest plugins of libraries that tests don't use as plugins.
SLOW = {
    "aiohttp",
    "altair",
    "anthropic",
    "botocore",
    "faker",
    "fastapi",
    "google.genai",
    "groq",
    "langchain_core",
    "langsmith",
    "matplotlib",
    "mcp",
    "mistralai",
    "openai",
    "pandas",
    "plotly",
    "polars",
    "pydantic_ai",
    "schemathesis",
    "sqlalchemy",
}
ABOVE = sorted(path.parent.name for path in SRC.glob("*/__init__.py") if path.parent.name not in ("core", "samples"))


def test_collecting_the_pure_tests_imports_nothing_slow():
    modules = imported(ROOT, "-m", "pytest", "--collect-only", "--capture=no", "tests/core")
    assert "showandtell.core.planning.plan" in modules
    assert modules & SLOW == set()


@pytest.mark.parametrize("layer", ABOVE)
def test_each_layer_above_has_a_smoke_test(layer):
    assert any("mark.smoke" in path.read_text() for path in (TESTS / layer).rglob("test_*.py"))
