"""JSON values in pieces, as hosts stream them: texts cut anywhere, lists by index, objects field by field."""

import json

from hypothesis import strategies as st

from showandtell.core.wire.host_fields import KEPT
from showandtell.core.wire.openai_chat.chat_types import OUR_CALLS, OUR_FUNCTIONS, OURS

#: Names of fields, few enough to repeat. `KEPT` are repeated by each piece, so their texts are not cut.
names = st.sampled_from(["thoughts", "state", "text", "a", "", "größe", *sorted(KEPT - {"index"})])
leaves = st.text(max_size=12) | st.integers(-(2**53), 2**53) | st.booleans() | st.floats(-1e6, 1e6)


def numbered(items):
    return [{**item, "index": at} for at, item in enumerate(items)]


def containers(values):
    objects = st.dictionaries(names, values, max_size=2)
    return objects | st.lists(objects, max_size=2).map(numbered) | st.lists(leaves, max_size=3)


values = st.recursive(leaves, containers, max_leaves=5)


def fields_besides(ours):
    """Fields that are the host's own: those of today, and others."""
    own = st.sampled_from(["reasoning_content", "reasoning", "reasoning_details", "extra_content"]) | st.text(
        min_size=1, max_size=8
    )
    return st.dictionaries(own.filter(lambda name: name not in ours), values | st.none(), max_size=3)


message_fields, call_fields = fields_besides(OURS), fields_besides(OUR_CALLS)
function_fields = fields_besides(OUR_FUNCTIONS)


def cut(text, random):
    """A text cut between UTF-16 units, as gateways do: halves of an emoji may come in two pieces."""
    units = text.encode("utf-16-le")
    edges = sorted(2 * random.randint(0, len(units) // 2) for _ in range(random.randint(0, 2)))
    ends = zip([0, *edges], [*edges, len(units)], strict=True)
    return [units[start:end].decode("utf-16-le", "surrogatepass") for start, end in ends]


def pieces_of(value, random, name=""):
    """Pieces that a stream could send in place of a value."""
    match value:
        case str() if name not in KEPT:
            return cut(value, random)
        case dict():
            parts = [{key: piece} for key, item in value.items() for piece in pieces_of(item, random, key)]
            return parts or [{}]
        case [{"index": _}, *_]:
            return [
                [{**piece, "index": item["index"]}]
                for item in value
                for piece in pieces_of({key: field for key, field in item.items() if key != "index"}, random)
            ]
        case list():
            return [[item] for item in value] or [[]]
        case _:
            return [value]


def as_json(value):
    """JSON in which halves of characters are escapes."""
    return json.dumps(value).encode()
