"""The schema of an answer in the subset that every API's own form accepts."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter

from showandtell.core.capabilities.cells import AnswerFormat
from showandtell.core.wire.answer_schema import object_root, restrict, wrap
from showandtell.errors import BadInput
from showandtell.inspector.answer_schemas import check_claude_schema, check_openai_schema
from showandtell.inspector.answering.typed_answer import sample

OPEN = AnswerFormat("always", recursion=True)
STRICT = AnswerFormat("always", max_unions=16)
TEXT = {"type": "string"}
NODE = {"type": "object", "properties": {"next": {"$ref": "#/$defs/Node"}}}


def fields(**properties):
    return {"type": "object", "properties": properties}


def closed(**properties):
    return {"type": "object", "properties": properties, "required": [*properties], "additionalProperties": False}


@pytest.mark.parametrize(
    ("given", "sent"),
    [
        ({"type": "integer", "minimum": 1, "default": 3}, {"type": "integer", "description": "(minimum: 1)"}),
        (TEXT | {"format": "date", "description": "when"}, TEXT | {"description": "when (format: date)"}),
        ({"const": "cat", "type": "string"}, TEXT | {"enum": ["cat"]}),
        (
            {"enum": ["a", 1, None]},
            {"anyOf": [TEXT | {"enum": ["a"]}, {"type": "integer", "enum": [1]}, {"type": "null"}]},
        ),
        ({"type": ["string", "null"]}, {"anyOf": [TEXT, {"type": "null"}]}),
        ({"oneOf": [TEXT], "discriminator": {"propertyName": "x"}}, {"anyOf": [TEXT]}),
        ({"allOf": [TEXT]}, TEXT),
        (
            {"type": "array", "items": TEXT, "maxItems": 3},
            {"type": "array", "items": TEXT, "description": "(maxItems: 3)"},
        ),
        (fields(a=TEXT), closed(a=TEXT)),
    ],
)
def test_a_field_is_written_with_the_words_that_every_api_knows(given, sent):
    assert restrict(fields(field=given), OPEN) == closed(field=sent)


def test_a_reference_has_no_neighbours():
    schema = fields(a={"$ref": "#/$defs/T", "description": "one"}) | {"$defs": {"T": TEXT}}
    assert restrict(schema, STRICT)["properties"] == {"a": {"anyOf": [{"$ref": "#/$defs/T"}], "description": "one"}}


@pytest.mark.parametrize(
    "field",
    [
        {},
        True,
        {"type": "object"},
        {"type": "object", "additionalProperties": TEXT},
        fields(a=TEXT) | {"additionalProperties": True},
        {"type": "array"},
        {"type": "array", "items": TEXT, "prefixItems": [TEXT]},
        {"not": TEXT, "type": "string"},
        {"allOf": [TEXT, TEXT]},
        {"enum": [{"a": 1}]},
        {"enum": []},
        {"$ref": "https://example.com/schema"},
        {"$ref": "#/definitions/T"},
        {"type": "string", "if": {}},
    ],
)
def test_what_the_subset_does_not_have_is_not_rewritten_with_another_meaning(field):
    assert restrict(fields(field=field), OPEN) is None


def test_recursion_unions_and_size_are_limits_of_the_model():
    assert restrict(NODE | {"$defs": {"Node": NODE}}, STRICT) is None
    assert restrict(NODE | {"$defs": {"Node": NODE}}, OPEN) is not None
    many = fields(**{f"f{at}": {"type": ["string", "null"]} for at in range(17)})
    assert (restrict(many, STRICT)) is None
    assert restrict(many, OPEN) is not None
    deep = TEXT
    for _ in range(11):
        deep = fields(a=deep)
    assert restrict(deep, OPEN) is None


def test_a_schema_that_is_nested_too_deeply_is_refused():
    deep = TEXT
    for _ in range(5000):
        deep = {"type": "array", "items": deep}
    with pytest.raises(BadInput, match="nested too deeply"):
        restrict(fields(a=deep), OPEN)


def test_the_root_is_an_object_or_is_wrapped_in_one():
    assert object_root({"$ref": "#/$defs/Node", "$defs": {"Node": NODE}})["type"] == "object"
    assert object_root({"properties": {}})["type"] == "object"
    loop = {"$defs": {"A": {"$ref": "#/$defs/A"}}, "$ref": "#/$defs/A"}
    for other in (TEXT, {"anyOf": [NODE]}, loop, {"$ref": "#/$defs/Gone"}):
        assert object_root(other) is None
    assert wrap({"$ref": "#/$defs/T", "$defs": {"T": TEXT}}) == closed(value={"$ref": "#/$defs/T"}) | {
        "$defs": {"T": TEXT}
    }


TYPES = st.recursive(
    st.sampled_from([int, float, bool, str, None]),
    lambda inner: st.one_of(
        inner.map(lambda kind: list[kind]),
        st.tuples(inner, inner).map(lambda two: two[0] | two[1] if two[0] and two[1] else two[0]),
    ),
    max_leaves=5,
)


@given(TYPES)
def test_what_is_sent_is_taken_by_every_api_and_its_values_are_of_the_type(kind):
    schema = wrap(TypeAdapter(kind).json_schema())
    sent = restrict(schema, STRICT)
    if sent is None:
        return
    check_openai_schema(sent, ("answer", "format", "code"), strict=True)
    check_claude_schema(sent, "format")
    TypeAdapter(kind).validate_python(sample(sent, {})["value"])
