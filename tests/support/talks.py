"""Conversations of any content, with files of any kind, branches, tool calls and what providers run: made by hypothesis."""

import json
from pathlib import Path

import msgspec
from hypothesis import strategies as st

from showandtell.core.collect.entry import collect
from showandtell.core.collect.sanitize import clean
from showandtell.core.messages.file import File
from showandtell.core.messages.message import Draft
from showandtell.core.messages.parts import (
    Approval,
    HostedBlock,
    Json,
    Opaque,
    Selection,
    Shown,
    Source,
    Text,
    ToolCall,
)
from support.fixtures import pdf, png

BYTES = (png(16, 9), pdf("42"), b"plain words", b'{"a": 1}', b"\0\1 nothing known", b"", b"\x89PNG\r\n\x1a\n torn")
WORDS = st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=30) | st.sampled_from(["image 1", "see 2 ⟦x⟧"])
NAMES = (
    st.none() | WORDS | st.sampled_from(["a.png", "b.pdf", "x/../y.txt", "." * 200 + "z", "no.ending-that-is-plain"])
)
TYPES = st.sampled_from([None, "image/png", "text/plain", "application/x-own", "image/jpg"])
ADDRESSES = ("https://e.com/a.png?x=1", "gs://b/c.pdf", "s3://b/d.png", "openai:file-abc")
PROBLEMS = st.builds(File.from_path, st.just(Path(__file__).parent / "nowhere.png"))
CLAIMS = st.one_of(
    st.builds(File.from_bytes, st.sampled_from(BYTES), TYPES, NAMES, st.none() | WORDS),
    st.builds(File.from_uri, st.sampled_from(ADDRESSES), TYPES, NAMES),
    PROBLEMS,
    st.builds(
        lambda metadata, convert: File.from_bytes(b"x", name="a.txt", id="row 7", metadata=metadata, convert=convert),
        st.dictionaries(WORDS, WORDS | st.floats(allow_nan=False, allow_infinity=False), max_size=2),
        st.booleans(),
    ),
)
VIEWS = st.sampled_from([None, Selection(pages=(1, 3)), Selection(crop=(0, 1, 20, 30))])
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.floats(allow_nan=False, allow_infinity=False) | WORDS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS, inner, max_size=3),
    max_leaves=5,
)
ARGUMENTS = st.sampled_from(['{"a":[1,2]}', '{ "a": 1.0e5 }', "{}", "[1]", "no json", "", '"x"', '{"a":"\\u00e9"}'])
SOURCES = st.builds(
    Source,
    WORDS,
    st.sampled_from(["", "https://e.com/?x=1"]),
    st.none() | st.integers(1, 9),
    WORDS,
    st.none() | st.integers(0, 9),
    st.none() | st.integers(0, 9),
    st.none() | st.integers(1, 9),
    st.none() | st.floats(0, 1e6),
    WORDS,
)
TEXTS = st.just("") | VALUES.map(json.dumps) | VALUES.map(lambda value: msgspec.json.encode(value).decode())
STATES = st.sampled_from(["running", "done", "error"])
RUN = {"call_id": st.just("h1"), "tool": st.just("code"), "input": TEXTS, "output": TEXTS, "state": STATES}
HOSTED = st.one_of(
    st.builds(
        lambda block, files, **fields: HostedBlock(
            "openai",
            msgspec.json.encode([block, *([None] * len(files))]).decode(),
            files=tuple((f"/{at}", file) for at, file in enumerate(files, 1)),
            **fields,
        ),
        VALUES,
        st.lists(CLAIMS, max_size=2),
        **RUN,
    ),
    st.builds(HostedBlock, st.sampled_from(["google", ""]), st.just(""), **RUN),
)


@st.composite
def turns(draw):
    """The messages of one turn, and where it starts: None for after the last message, else a share of those before."""
    output = [*map(Text, draw(st.lists(WORDS, min_size=1, max_size=2))), *draw(st.lists(CLAIMS, max_size=2))]
    again = [(draw(st.floats(0, 1)), draw(VIEWS)) for _ in range(draw(st.integers(0, 1)))]
    calls = [
        ToolCall(f"c{at}", draw(WORDS) or "t", draw(ARGUMENTS), draw(st.sampled_from([None, Opaque("google", "s")])))
        for at in range(draw(st.integers(0, 2)))
    ]
    answered = [(draw(st.booleans()), draw(VALUES), draw(st.lists(CLAIMS, max_size=1))) for _ in calls]
    return (
        output,
        again,
        calls,
        answered,
        draw(st.sampled_from(["end", "cut", None])),
        [*draw(st.lists(SOURCES, max_size=2)), *draw(st.lists(HOSTED, max_size=2))],
        draw(st.none() | st.floats(0, 1)),
    )


def drafts_of(turn, numbers):
    """The messages of a turn."""
    output, again, calls, answered, stop, hosted, _ = turn
    shown = [Shown(numbers[int(share * (len(numbers) - 1))], "", view) for share, view in again if numbers]
    yield Draft("user", (*output, *shown))
    yield Draft(
        "assistant", (Opaque("openai", "{}"), Text("Well."), *hosted, *calls), stop="tool_calls" if calls else stop
    )
    if calls:
        yield Draft("user", (Approval(calls[0].call_id, approved=False, reason="no"),))
    for call, (is_error, value, files) in zip(calls, answered, strict=True):
        held = tuple((f"/{at}", file) for at, file in enumerate(files))
        parts = (*collect({"value": value}), *((Json("[null]", held),) if held else ()), Text("done"))
        yield Draft("tool", parts, call.call_id, call.tool, is_error, metadata=value)


async def talk(conversation, spoken):
    """Say all turns, each behind the last one or behind an earlier one."""
    ends = [None]
    for turn in spoken:
        if turn[-1] is not None:
            await conversation.lead(ends[int(turn[-1] * (len(ends) - 1))])
        for draft in map(clean, drafts_of(turn, [*conversation.attachments])):
            await conversation.record(draft, await conversation.probe(draft))
        ends.append(conversation.head)
