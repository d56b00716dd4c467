"""The generated parts of the documents are what the code says now, and what the strict servers answer."""

import pytest

from support.docs_generator import GENERATOR, ROOT


@pytest.fixture(scope="module")
def environ():
    with GENERATOR.serve() as variables:
        yield variables


@pytest.mark.parametrize("document", GENERATOR.DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_the_generated_parts_are_those_of_the_code(document, environ):
    text = document.read_text()
    assert GENERATOR.generate(text, environ) == text, "run `make docs`"


def test_every_provider_is_tried_on_its_page():
    parts = [part for path in GENERATOR.DOCUMENTS for part in GENERATOR.PART.finditer(path.read_text())]
    tried = {model.partition(":")[0] for part in parts if part[2] == "ask" for model in part[3].split()}
    assert tried == set(GENERATOR.ROWS)
