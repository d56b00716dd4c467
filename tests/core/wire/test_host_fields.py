"""A host's own fields are joined from their pieces to what the host had."""

import json

from hypothesis import given
from hypothesis import strategies as st

from showandtell.core.wire.host_fields import JoinedFields

TEXTS = st.text("abc ", min_size=1, max_size=8)


def joined(*pieces):
    fields = JoinedFields()
    for piece in pieces:
        fields.add(piece)
    return json.loads(fields.to_json() or "{}")


@st.composite
def streamed_thoughts(draw):
    """Signed thoughts as LiteLLM sends them, and the pieces in which they come: the last one is signed."""
    blocks, pieces = [], []
    for number in range(draw(st.integers(1, 3))):
        texts, signature = draw(st.lists(TEXTS, min_size=1, max_size=4)), f"sig{number}"
        blocks.append({"type": "thinking", "thinking": "".join(texts), "signature": signature})
        last = draw(st.sampled_from(["", "".join(texts)]))  # nothing more, or the whole text once more
        signatures = [*([draw(st.sampled_from([None, ""]))] * len(texts)), signature]
        for text, signed in zip([*texts, last], signatures, strict=True):
            pieces.append({"thinking_blocks": [{"type": "thinking", "thinking": text, "signature": signed}]})
    return blocks, pieces


@given(streamed_thoughts())
def test_a_signed_thought_comes_back_as_one_however_it_was_cut(thoughts):
    blocks, pieces = thoughts
    assert joined(*pieces) == {"thinking_blocks": blocks}


@given(
    st.lists(TEXTS, min_size=1, max_size=4),
    st.sampled_from(["reasoning.text", "reasoning.summary", "text", "new.note"]),
)
def test_texts_without_an_index_are_one_item(texts, kind):
    name = kind.rpartition(".")[2]
    pieces = [{"details": [{"type": kind, name: text}]} for text in texts]
    assert joined(*pieces) == {"details": [{"type": kind, name: "".join(texts)}]}


def test_items_that_are_no_texts_stay_apart():
    citations = [{"type": "url_citation", "url": f"https://example.com/{number}"} for number in range(3)]
    assert joined(*({"citations": [item]} for item in citations)) == {"citations": citations}
