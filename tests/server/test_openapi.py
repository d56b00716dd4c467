"""The OpenAPI description: whole, true, and kept to by every answer, whatever is asked."""

import json

import pytest
from jsonschema import Draft202012Validator
from schemathesis import GenerationMode

from showandtell.server import openapi_examples
from showandtell.server.middleware.origin_guard import PROBE_PATHS
from showandtell.server.openapi import METHODS
from showandtell.server.routes.examples import PAGES_EXAMPLE
from showandtell.server.routes.models import CLAUDE
from support.openapi_rules import has_rules
from support.schema_cases import apart, ask_anything, operations
from support.serving import chunks_of, serving

anyio = pytest.mark.anyio

#: Requests of each operation, and wrong ones; `stress/test_server_schema.py` makes thousands.
CASES = 1


async def read(folder):
    async with serving(folder) as site:
        return (await site.get("/api/openapi.json"))[1]


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
        if path in PROBE_PATHS:
            continue
        assert {"401", "421", "429", "431"} <= set(one["responses"]), (method, path)
        assert one["security"] == [{"cookie": []}, {"bearer": []}]


@anyio
async def test_every_error_is_ours(tmp_path):
    description = await read(tmp_path)
    assert "HTTPValidationError" not in json.dumps(description)
    for _, path, one in each(description):
        for status, answer in one["responses"].items():
            if status >= "400" and path not in PROBE_PATHS:
                assert answer["content"]["application/json"]["schema"] == {"$ref": "#/components/schemas/ErrorShape"}


def described(operation):
    """What has to have an example: parameters, bodies and what is answered well, with where each stands."""
    for one in operation.get("parameters", ()):
        yield f"{one['in']} {one['name']}", one
    for kind, one in operation.get("requestBody", {}).get("content", {}).items():
        yield f"body {kind}", one
    for status, answer in operation["responses"].items():
        for kind, one in answer.get("content", {}).items():
            yield f"{status} {kind}", one


def examples_of(description, one):
    """The examples of one of them, its own or those of the schema that it names."""
    name = one.get("schema", {}).get("$ref", "").rpartition("/")[2]
    named = description["components"]["schemas"][name].get("examples", []) if name else []
    return [one["example"]] if "example" in one else named


@anyio
async def test_everything_has_an_example_that_is_what_its_schema_says(tmp_path):
    description, seen = await read(tmp_path), 0
    for method, path, operation in each(description):
        for place, one in described(operation):
            examples = examples_of(description, one)
            assert examples, (method, path, place)
            whole = Draft202012Validator({**one["schema"], "components": description["components"]})
            for example in examples:
                seen += 1
                assert [(place, error.message) for error in whole.iter_errors(example)] == []
    assert seen >= 200


@anyio
async def test_every_example_of_a_schema_is_what_it_says(tmp_path):
    description = await read(tmp_path)
    for name, schema in description["components"]["schemas"].items():
        for example in schema.get("examples", ()):
            whole = {"$ref": f"#/components/schemas/{name}", "components": description["components"]}
            assert [error.message for error in Draft202012Validator(whole).iter_errors(example)] == []


def form_of(value):
    """Which fields something has and of what types; what an example says itself is its own."""
    if isinstance(value, dict):
        return {name: form_of(one) for name, one in value.items()}
    return [form_of(one) for one in value] if isinstance(value, list) else type(value).__name__


def without_repeats(chunks):
    """Words come in as many pieces as they like."""
    return [one for one, before in zip(chunks, [{}, *chunks], strict=False) if one["type"] != before.get("type")]


@anyio
async def test_the_exchange_of_the_examples_is_what_happens(tmp_path):
    async with serving(tmp_path) as site:
        async with site.session.post("/api/chat", json=openapi_examples.CHAT_REQUEST) as answer:
            output = await chunks_of(answer)
        received = [
            json.loads(line[6:]) for line in openapi_examples.STREAM.split("\n\n") if line not in {"", "data: [DONE]"}
        ]
        assert form_of(without_repeats(output)) == form_of(received)
        assert [one["type"] for one in without_repeats(output)] == [one["type"] for one in received]
        kept = (await site.get(f"/api/conversations/{output[0]['messageMetadata']['conversation_id']}"))[1]
        assert form_of(kept) == form_of(openapi_examples.STORED_CONVERSATION)


@anyio
async def test_the_rows_of_the_matrix_and_what_newcomers_may_try_are_as_their_examples(tmp_path):
    async with serving(tmp_path) as site:
        rows = (await site.get("/api/matrix"))[1]["rows"]
        like = next(one for one in rows if one["models"] == CLAUDE["models"] and one["provider"] == CLAUDE["provider"])
        assert form_of({**like, "cells": like["cells"][:1]}) == form_of(CLAUDE)
        assert PAGES_EXAMPLE in (await site.get("/api/examples"))[1]["examples"]


@anyio
async def test_no_page_of_ours_loads_documentation_from_another_host(tmp_path):
    async with serving(tmp_path) as site:
        for path in ("/docs", "/redoc"):
            async with site.session.get(path) as answer:
                assert "swagger" not in (await answer.text()).lower()


def test_every_answer_is_as_described_whatever_is_asked(tmp_path):
    with apart(tmp_path) as (url, headers):
        for operation in operations(url):
            ask_anything(url, headers, operation, CASES)
            if has_rules(operation):
                ask_anything(url, headers, operation, CASES, mode=GenerationMode.NEGATIVE)
