"""Answers of all five apis, streamed in both frames and whole: what a hostile or broken provider may send."""

import msgspec
from atheris import FuzzedDataProvider
from given import choose, cut, draw_places, each_byte, read_rest, seed

from showandtell.core.events.accumulate import Accumulator, CallIds
from showandtell.core.events.types import ProviderFault, StepEnd, StreamEvent
from showandtell.core.wire import aws_eventstream, sse
from showandtell.core.wire.parsers import FRAMES, PARSERS
from showandtell.core.wire.stream import StreamParser
from showandtell.errors import BadAnswer
from support.streams import anthropic as anthropic_stream
from support.streams import bedrock as bedrock_stream
from support.streams import gemini as gemini_stream
from support.streams import openai_chat as openai_chat_stream
from support.streams import openai_responses as openai_responses_stream

APIS = [*PARSERS]
SSE, AWS = "text/event-stream", "application/vnd.amazon.eventstream"


def as_frames(payload: bytes) -> bytes:
    """Each line as a frame of its own: a type, then JSON. Changed bytes alone would never have a right checksum."""
    found: list[bytes] = []
    for line in payload.split(b"\n"):
        kind, _, rest = line.partition(b" ")
        name = kind.decode("latin-1")[:60]
        message = "exception" if name.endswith("Exception") else "event"
        found.append(aws_eventstream.encode(name, rest, message_type=message))
    return b"".join(found)


def as_events(payload: bytes) -> bytes:
    """Each line as an event."""
    return b"".join(sse.encode(line) for line in payload.split(b"\n"))


FORMS = ((SSE, bytes), (SSE, as_events), (AWS, bytes), (AWS, as_frames))


def try_stream(data: bytes) -> None:
    """However an answer is cut, its events are the same, and they fold to a message; nothing but `BadAnswer` is raised."""
    given = FuzzedDataProvider(data)
    api, form = APIS[choose(given, len(APIS))], choose(given, len(FORMS) + 1)
    places, payload = draw_places(given), read_rest(given)
    if form == len(FORMS):
        check_whole(api, payload)
        return
    media_type, serialize = FORMS[form]
    body = serialize(payload)
    read = read_stream(api, media_type, [body])
    for pieces in (cut(body, places), each_byte(body)):
        assert read_stream(api, media_type, pieces) == read, "the pieces decide what an answer says"
    check_folded(read[0], is_ended=not read[1])


def read_stream(api: str, media_type: str, pieces: list[bytes]) -> tuple[list[StreamEvent], str]:
    """All events of a response, as an exchange reads them, and the error message if it can't be read."""
    parser = StreamParser(PARSERS[api].new_reader(), FRAMES[media_type]())
    events: list[StreamEvent] = []
    try:
        for piece in pieces:
            events += parser.feed(piece)
            if parser.done:
                break
        events += parser.finish()
    except BadAnswer as error:
        return events, str(error)
    return events, ""


def check_whole(api: str, payload: bytes) -> None:
    """A body that was not streamed."""
    try:
        events = PARSERS[api].parse_full(payload)
    except BadAnswer as error:
        str(error).encode()
    else:
        check_folded([*events], is_ended=True)


def check_folded(events: list[StreamEvent], *, is_ended: bool) -> None:
    """Events make a message that can be stored; an answer that was read to its end says once how it ended."""
    fold, ids = Accumulator("openai"), CallIds()
    fold.add(ids.rename(events))
    draft = fold.draft()
    msgspec.json.encode([part for part in draft.parts if not hasattr(part, "source")])
    msgspec.json.encode([fold.annotations(), fold.usage, fold.detail])
    ends = [event for event in events if isinstance(event, StepEnd | ProviderFault)]
    assert len(ends) <= 1
    assert not is_ended or ends == events[-1:]


def lines_of(stream: bytes) -> bytes:
    """The data of a stream's events, one a line."""
    return b"\n".join(sse.Splitter().feed(stream))


def frames_of(stream: bytes) -> bytes:
    """The types and the JSON of a stream's frames, one a line."""
    named = (msgspec.json.decode(item, type=dict[str, msgspec.Raw]) for item in aws_eventstream.Splitter().feed(stream))
    return b"\n".join(b"%b %b" % (name.encode(), bytes(raw)) for item in named for name, raw in item.items())


EXCEPTION = b"""throttlingException {"message":"Wait."}
chunk {"bytes":"eyJ0eXBlIjoicGluZyJ9"}
metadata {"usage":{"inputTokens":-1}}"""
STREAMS = {
    "anthropic-messages": [anthropic_stream.STREAM],
    "openai-chat": [openai_chat_stream.STREAM + openai_chat_stream.DONE, openai_chat_stream.RICH],
    "openai-responses": [openai_responses_stream.STREAM],
    "gemini": [gemini_stream.STREAM, gemini_stream.sse(*gemini_stream.STREAMED)],
}
FRAMED = {
    "anthropic-messages": [bedrock_stream.CLAUDE],
    "bedrock-converse": [bedrock_stream.STREAM],
}
WHOLE = {
    "anthropic-messages": [anthropic_stream.BODY],
    "openai-chat": [{"choices": [{"message": {"content": "It", "tool_calls": [openai_chat_stream.piece("{}")] * 2}}]}],
    "openai-responses": [
        openai_responses_stream.answer(*openai_responses_stream.OUTPUT, usage=openai_responses_stream.TOKENS)
    ],
    "gemini": [[*gemini_stream.CHUNKS], [*gemini_stream.STREAMED]],
    "bedrock-converse": [msgspec.json.decode(bedrock_stream.body(*bedrock_stream.CONTENT))],
}
SEEDS = [
    seed(payload, APIS.index(api), form, 2, 0, 77, 1, 200)
    for form, serialize, found in ((0, bytes, STREAMS), (1, lines_of, STREAMS), (2, bytes, FRAMED))
    for api, streams in found.items()
    for payload in map(serialize, streams)
]
SEEDS += [seed(lines, 4, 3, 0) for lines in (frames_of(bedrock_stream.STREAM), EXCEPTION)]
SEEDS += [seed(msgspec.json.encode(item), APIS.index(api), 4, 0) for api, bodies in WHOLE.items() for item in bodies]
SEEDS += [seed(payload.replace(b"\n", b"\r\n"), APIS.index(api), 0, 0) for api, (payload, *_) in STREAMS.items()]
RUN = try_stream
