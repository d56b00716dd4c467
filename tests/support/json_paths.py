"""Places in a JSON value, and other values to put there."""

from copy import deepcopy

from hypothesis import strategies as st

LEAVES = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=9)

ODD_LEAVES = st.sampled_from(
    ["/plot values=1e999", "plot 1e999", '/plot title="\\ud800"', "image 99", "user", "object"]
)

KEYS = st.sampled_from(
    ["type", "text", "content", "role", "properties", "required", "anyOf", "items", "enum", "values"]
)

VALUES = st.recursive(
    LEAVES | ODD_LEAVES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=5,
)


def places(value: object, path: tuple = ()) -> list[tuple]:
    """The path of every value inside a body."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list | tuple) else ()
    return [path, *(place for key, item in inner for place in places(item, (*path, key)))]


def put(body: object, path: tuple, value: object) -> object:
    if not path:
        return value
    changed = deepcopy(body)
    changed[path[0]] = put(changed[path[0]], path[1:], value)
    return changed
