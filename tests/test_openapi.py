"""The OpenAPI description: whole, true, and kept to by every answer, whatever is asked."""

import json

import pytest
from jsonschema import Draft202012Validator
from schemathesis import GenerationMode

from schema_cases import apart, ask_anything, operations
from serving import serving
from showandtell.server.gates.gate import PROBES
from showandtell.server.openapi import METHODS

anyio = pytest.mark.anyio


async def read(folder):
    async with serving(folder) as house:
        return (await house.get("/api/openapi.json"))[1]


def each(description):
    return [
        (method, path, one)
        for path, methods in description["paths"].items()
        for method, one in methods.items()
        if method in METHODS
    ]


@anyio
async def test_every_operation_has_a_name_words_and_its_errors(tmp_path):
    found = each(await read(tmp_path))
    names = [one["operationId"] for _, _, one in found]
    assert len(set(names)) == len(names) >= 30
    for method, path, one in found:
        assert one["summary"], (method, path)
        assert one["tags"], (method, path)
        if path in PROBES:
            continue
        assert {"401", "429"} <= set(one["responses"]), (method, path)
        assert one["security"] == [{"cookie": []}, {"bearer": []}]


@anyio
async def test_every_error_is_ours(tmp_path):
    description = await read(tmp_path)
    assert "HTTPValidationError" not in json.dumps(description)
    for _, path, one in each(description):
        for status, answer in one["responses"].items():
            if status >= "400" and path not in PROBES:
                assert answer["content"]["application/json"]["schema"] == {"$ref": "#/components/schemas/ErrorShape"}


@anyio
async def test_every_example_is_what_its_schema_says(tmp_path):
    description = await read(tmp_path)
    seen = 0
    for name, schema in description["components"]["schemas"].items():
        for example in schema.get("examples", ()):
            seen += 1
            whole = {"$ref": f"#/components/schemas/{name}", "components": description["components"]}
            assert [error.message for error in Draft202012Validator(whole).iter_errors(example)] == []
    assert seen >= 10


@anyio
async def test_no_page_of_ours_loads_documentation_from_another_host(tmp_path):
    async with serving(tmp_path) as house:
        for path in ("/docs", "/redoc"):
            async with house.session.get(path) as answer:
                assert "swagger" not in (await answer.text()).lower()


def test_every_answer_is_as_described_whatever_is_asked(tmp_path):
    with apart(tmp_path) as (url, headers):
        for operation in operations(url):
            ask_anything(url, headers, operation, 6)
            if has_rules(operation):
                ask_anything(url, headers, operation, 6, mode=GenerationMode.NEGATIVE)


def has_rules(operation):
    """Whether anything can be asked that breaks a rule of this operation."""
    return bool(list(operation.body) or list(operation.query))
