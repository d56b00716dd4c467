"""Recorded answers arrive whole: text, reasoning, calls, files, stop reason, usage; every other field has a reason.

The recordings hold each shape of answer that occurs in 1,862 real exchanges. Long texts in them are cut.
"""

import base64
import json
import re
from collections import Counter

import pytest

from showandtell.core.events.accumulate import Accumulator, CallIds
from showandtell.core.events.types import (
    BlockRead,
    FileMade,
    ProviderFault,
    ReasoningDelta,
    ReasoningEnd,
    StepEnd,
    TextDelta,
    ToolInputDelta,
    ToolInputEnd,
    ToolInputStart,
)
from showandtell.core.messages.parts import ToolCall
from showandtell.core.wire.aws_eventstream import encode
from showandtell.core.wire.parsers import PARSERS
from showandtell.providers.refusals import provider_error
from support.answer_fields import COUNTS, FIELDS, READ, TYPES_ALONE
from support.builders import parser_of, without_body
from support.paths import SHARED
from support.scripted import FRAMED

ANSWERS = SHARED / "data" / "recorded_answers.jsonl"
ERRORS = SHARED / "data" / "recorded_errors.jsonl"
MEDIA = re.compile(r"^(data:[^,]*,)?<<(\d+) characters of base64>>$")
#: Bodies that are no answers of the API: vectors, an error page, and responses that only wait in a queue.
OTHER_BODIES = re.compile("test_embeddings/|test_invalid_response|test_background_mode_(?!streaming_continuation)")
#: Our stop for each reason; any other reason must be named in the detail of a message that is incomplete or refused.
STOPS = {
    "end": {"end_turn", "STOP", "stop", "completed"},
    "tool_calls": {"tool_use", "tool_calls", "STOP", "stop", "completed"},
    "length": {"max_tokens", "MAX_TOKENS", "length"},
    "pause": {"pause_turn"},
}


def recordings(path):
    lines = path.read_text().splitlines() if path.exists() else []
    return [case for case in map(json.loads, lines) if not OTHER_BODIES.search(case.get("case", ""))]


def filled(value, place):
    """Replace the marks of removed media by base64 of the mark's place, 16 characters without padding."""
    match value:
        case dict():
            return {key: filled(item, place) for key, item in value.items()}
        case list():
            return [filled(item, place) for item in value]
        case str() if found := MEDIA.match(value):
            place["n"] += 1
            return (found[1] or "") + base64.b64encode(f"media{place['n']:07}".encode()).decode()
        case _:
            return value


def fields(value, rules, at=""):
    """Yield path, meaning and value of each field that isn't empty; arguments as a whole."""
    kind = value.get("type") if isinstance(value, dict) else None
    here = f"{at}<{kind}>" if isinstance(kind, str) else at
    if isinstance(value, dict) and rules.get(at) != "arguments":
        for key, item in value.items():
            yield from fields(item, rules, f"{here}.{key}" if here else key)
    elif isinstance(value, list):
        for item in value:
            yield from fields(item, rules, f"{at}[]")
    elif value is not None and value is not False and value != "":
        yield at, meaning_of(at, rules), value


def own_steps(values):
    """The events of a stream without the arguments of steps that the provider runs, which have the same form."""
    theirs = set()
    for value in values:
        event = value.get("contentBlockStart") or value
        block = event.get("content_block") or event.get("start", {}).get("toolUse") or {}
        if block.get("type") not in (None, "tool_use"):
            theirs.add(event.get("index", event.get("contentBlockIndex")))
        piece = value.get("contentBlockDelta") or value
        kind = piece.get("delta") if isinstance(piece.get("delta"), dict) else {}
        is_arguments = "toolUse" in kind or kind.get("type") == "input_json_delta"
        if not (is_arguments and piece.get("index", piece.get("contentBlockIndex")) in theirs):
            yield value


def meaning_of(path, rules):
    starts = (path[:end] for end in range(len(path), -1, -1) if end == len(path) or not end or path[end] in ".<[")
    return next((rules[start] for start in starts if start in rules), None)


def values_of(case):
    """The recorded JSON values with filled media."""
    values = filled(case.get("events") or [case["body"]], Counter())
    return [value for value in values if not (isinstance(value, dict) and "<<" in value)]


def parse(case):
    """The recorded values but for arguments of the provider's own calls, and the events that our parser makes."""
    values = values_of(case)
    if not case["stream"]:
        return values, PARSERS[case["api"]].parse_full(json.dumps(values[0]).encode())
    if case["api"] == "bedrock-converse":
        sent = b"".join(encode(name, json.dumps(data).encode()) for value in values for name, data in value.items())
    else:
        sent = b"".join(b"data: %s\n\n" % json.dumps(value).encode() for value in values)
    parser = parser_of(case["api"], FRAMED if case["api"] == "bedrock-converse" else "")
    return list(own_steps(values)), parser.feed(sent) + parser.finish()


def cases():
    """Each answer as a test; those of one recording are numbered."""
    seen = Counter()
    for case in recordings(ANSWERS):
        seen[case["case"]] += 1
        yield pytest.param(case, id=f"{case['api']}-{case['case']}-{seen[case['case']]}")


def is_in_order(values, whole):
    """Whether each text occurs in `whole`, after the one before it."""
    place = 0
    for value in values:
        place = whole.find(str(value), place) + len(str(value))
        if place < len(str(value)):
            return False
    return True


def outputs_of(events):
    """The texts of the events by what they mean, as `FIELDS` names it."""
    ends = [
        event.part.block if isinstance(event, BlockRead) else event.opaque
        for event in events
        if isinstance(event, BlockRead | ReasoningEnd | ToolInputEnd)
    ]
    data = [event.data for event in events if isinstance(event, FileMade)]
    blocks = [event.part for event in events if isinstance(event, BlockRead)]
    files = [base64.b64encode(item).decode() for item in [*data, *(file.read() for _, file in files_of(blocks))]]
    return {
        "text": "".join(event.text for event in events if isinstance(event, TextDelta)),
        "thought": "".join(event.text for event in events if isinstance(event, ReasoningDelta)),
        "arguments": "".join(event.text for event in events if isinstance(event, ToolInputDelta)),
        "opaque": "".join(filter(None, ends)),
        "file": "".join(files),
    }


def files_of(blocks):
    return [item for block in blocks for item in block.files]


def calls_of(events, *, is_whole):
    """The calls of the message; of a recording without its end, those that were started."""
    if not is_whole:
        return [event for event in events if isinstance(event, ToolInputStart)]
    message = Accumulator("provider")
    message.add(CallIds().rename(events))
    return [part for part in message.draft().parts if isinstance(part, ToolCall)]


def as_text(value):
    return value if isinstance(value, str) else json.dumps(value)


def without_spaces(text):
    return re.sub(r"\s", "", text)


def unlike(found, events, *, is_whole):
    """What is in the answer and not in the events, by meaning."""
    output, calls = outputs_of(events), calls_of(events, is_whole=is_whole)
    thoughts = [value for value in found["text"] if not is_in_order([value], output["text"])]
    lost = {name: found[name] for name in ("opaque", "file") if not is_in_order(found[name], output[name])}
    if not is_in_order([value for value in found["text"] if value not in thoughts], output["text"]):
        lost["text"] = found["text"]
    # Gemini marks a thought by another field of the part; OpenRouter gives reasoning twice.
    if any(str(value) not in output["thought"] for value in found["thought"] + thoughts):
        lost["thought"] = found["thought"] + thoughts
    arguments = [without_spaces(as_text(value)) for value in found["arguments"]]
    if not is_in_order(arguments, without_spaces(output["arguments"])):
        lost["arguments"] = found["arguments"]
    if found["call id"] not in ([], [call.call_id for call in calls]):
        lost["call id"] = found["call id"]
    if found["call name"] != [call.tool for call in calls]:
        lost["call name"] = found["call name"], [call.tool for call in calls]
    return lost


def unlike_end(found, counts, events):
    """What the answer says of its end and the last event doesn't."""
    ends = [event for event in events if isinstance(event, StepEnd)]
    if not ends:
        return {}
    (end,), usage, lost = ends, ends[0].usage, {}
    sums = {name: sum(value for key, value in counts.items() if key.startswith(f"{name}:")) for name in COUNTS}
    ours = {"input": usage.input_tokens, "output": usage.output_tokens}
    ours |= {"cached": usage.cached_tokens, "reasoning": usage.reasoning_tokens}
    for name, value in ours.items():
        if sums[name] and sums[name] != value:
            lost[name] = (sums[name], value)
    reason = found["stop"][-1] if found["stop"] else None
    if reason and reason not in STOPS.get(end.stop, ()) and reason not in end.detail:
        lost["stop"] = (reason, end)
    return lost


@pytest.mark.skipif(not ANSWERS.exists(), reason="the recordings are not at hand")
@pytest.mark.parametrize("case", list(cases()))
def test_nothing_of_a_recorded_answer_is_lost_without_a_reason(case):
    values, events = parse(case)
    found = {meaning: [] for meaning in READ}
    counts, unknown = {}, []
    for path, meaning, value in (field for one in values for field in fields(one, FIELDS[case["api"]])):
        if meaning is None:
            unknown.append(path)
        elif meaning in READ:
            found[meaning].append(value)
        elif ":" in meaning and meaning.partition(":")[0] in COUNTS:
            counts[meaning] = value
    assert unknown == []
    if not any(isinstance(event, ProviderFault) for event in events):
        is_whole = not case["stream"] or bool(found["stop"])
        assert {**unlike(found, events, is_whole=is_whole), **unlike_end(found, counts, events)} == {}


@pytest.mark.skipif(not ANSWERS.exists(), reason="the recordings are not at hand")
@pytest.mark.parametrize("api", TYPES_ALONE)
def test_no_recording_has_a_field_that_is_listed_as_known_from_types_alone(api):
    answers = [case for case in recordings(ANSWERS) if case["api"] == api]
    values = [value for case in answers for value in case.get("events") or [case["body"]]]
    assert TYPES_ALONE[api] & {path for value in values for path, _, _ in fields(value, FIELDS[api])} == set()


@pytest.mark.skipif(not ERRORS.exists(), reason="the recordings are not at hand")
@pytest.mark.parametrize("case", recordings(ERRORS), ids=lambda case: f"{case['provider']}-{case['status']}")
def test_a_recorded_refusal_keeps_the_text_of_the_provider(case):
    error = provider_error(without_body(case["status"]), json.dumps(case["body"]).encode())
    inner = case["body"].get("error", case["body"])
    output = [inner["message"], inner.get("code") or "", inner.get("metadata", {}).get("raw", "")]
    assert (error.status, error.path or "") == (case["status"], inner.get("param") or error.path or "")
    assert [text for text in output if isinstance(text, str) and text not in str(error)] == []
