"""Faults as data: a different response, a different reply of the model, changed events, or cut off bytes.

Each function makes one. `FAULTS` has them by name, for headers and command lines: `status(429, retry_after=2)`.
Faults that change content handle streams (`rewrite`) and JSON responses (`rewrite_response`).
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

import msgspec

from showandtell.inspector.answering.choose_tool import sample_arguments
from showandtell.inspector.request import ApiError, Call, Host, ModelRequest, Reply

from .editors import ResponseEditor, StreamEditor
from .frames import Data, Event, Form, inner_of, put, write_payload
from .texts import ANSWER_TEXT, MARK, OVERLOADED, StopReason

Rewrite: TypeAlias = Callable[[Sequence[Event], StreamEditor, Form], list[Event]]
RewriteResponse: TypeAlias = Callable[[Data, ResponseEditor], bytes]
#: Where a response ends: after a number of bytes, half of them, or in the middle of a call's arguments.
At: TypeAlias = int | Literal["half", "arguments"]
#: How it ends: as if complete, with a reset of the connection, or not at all.
Ending: TypeAlias = Literal["end", "reset", "stall"]
BUSY = {
    429: ("rate_limit_error", "rate_limit_exceeded", "Rate limit reached."),
    500: ("api_error", None, "Internal server error"),
    502: ("api_error", None, "Bad gateway"),
    503: ("api_error", None, "Service unavailable"),
    529: ("overloaded_error", None, OVERLOADED),
}


@dataclass(frozen=True)
class Replacement:
    """A response in place of the host's own."""

    status: int
    body: bytes
    headers: Mapping[str, str]


@dataclass(frozen=True, kw_only=True)
class Fault:
    """What goes wrong with a response. The defaults change nothing."""

    name: str
    instead: Callable[[Host], Replacement] | None = field(default=None, repr=False)
    reply: Callable[[ModelRequest, Reply], Reply] | None = field(default=None, repr=False)
    rewrite: Rewrite | None = field(default=None, repr=False)
    rewrite_response: RewriteResponse | None = field(default=None, repr=False)
    echoes: bool = False
    media_type: str = ""
    at: At | None = None
    ending: Ending = "end"
    slow: bool = False
    hangs_up: bool = False


@dataclass(frozen=True)
class PlannedFault:
    """A fault from the `nth` request of a host (empty for any host) for `times` requests; 0 for all."""

    fault: Fault
    host: str = ""
    nth: int = 1
    times: int = 1

    def strikes(self, host: str, count: int) -> bool:
        return self.host in {"", host} and self.nth <= count and (not self.times or count < self.nth + self.times)


# Different responses.


def status(code: int, retry_after: float | None = None, message: str = "") -> Fault:
    """An error in the host's own format, with a retry delay if given."""

    def instead(host: Host) -> Replacement:
        kind, error_code, default = BUSY.get(code, ("invalid_request_error", None, "Bad request"))
        body = host.format_error(ApiError(message or default, status=code, kind=kind, code=error_code))
        if retry_after is None:
            return Replacement(code, body, {"content-type": "application/json"})
        if host.base in {"google", "vertex"}:
            return Replacement(code, _with_delay(body, retry_after), {"content-type": "application/json"})
        return Replacement(code, body, {"content-type": "application/json", "retry-after": f"{retry_after:g}"})

    return Fault(name=f"status({code})", instead=instead)


def _with_delay(body: bytes, seconds: float) -> bytes:
    """Google has the retry delay in an error detail."""
    error = msgspec.json.decode(body)["error"]
    delay = {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": f"{seconds:g}s"}
    return msgspec.json.encode({"error": {**error, "details": [*error.get("details", []), delay]}})


def page(code: int = 200) -> Fault:
    """An HTML page of a proxy."""
    html = b"<!DOCTYPE html><html><head><title>Bad gateway of a proxy</title></head><body><h1>Sorry</h1></body></html>"
    return Fault(name=f"page({code})", instead=lambda _: Replacement(code, html, {"content-type": "text/html"}))


def echo(place: Literal["refusal", "page", "answer"] = "refusal") -> Fault:
    """Repeat the credentials of the request: in a 401, in a proxy's page, or in an error within a response."""
    instead = {"refusal": status(401).instead, "page": page().instead}.get(place)
    return Fault(name=f"echo({place})", instead=instead, reply=_speak(ANSWER_TEXT), echoes=True)


def wrong_type(media_type: str = "application/octet-stream") -> Fault:
    """The right bytes with another content type."""
    return Fault(name="wrong_type", media_type=media_type)


def hang_up() -> Fault:
    """Reset the connection before the response."""
    return Fault(name="hang_up", hangs_up=True)


# Incomplete responses.


def reset(at: At = "half") -> Fault:
    """Reset the connection within the body."""
    return Fault(name="reset", at=at, ending="reset")


def end(at: At = "half") -> Fault:
    """End the body cleanly, without a finish reason."""
    return Fault(name="end", at=at)


def stall(at: At = "half") -> Fault:
    """Send nothing more within the body, until the client disconnects."""
    return Fault(name="stall", at=at, ending="stall")


def empty() -> Fault:
    """Status 200 with an empty body."""
    return Fault(name="empty", at=0)


def end_in_arguments() -> Fault:
    """End the body cleanly in the middle of a call's arguments."""
    return Fault(name="end_in_arguments", reply=_call, at="arguments")


def reset_in_arguments() -> Fault:
    """Reset the connection in the middle of a call's arguments."""
    return Fault(name="reset_in_arguments", reply=_call, at="arguments", ending="reset")


# Invalid bytes.


def invalid_utf8() -> Fault:
    """Text with invalid UTF-8."""
    return _broken("invalid_utf8", b"\xff\xfe")


def invalid_json() -> Fault:
    """An event with incomplete JSON."""
    return _broken("invalid_json", None)


def error_event(message: str = OVERLOADED) -> Fault:
    """An error in the API's own format that ends a stream, or replaces a JSON response."""

    def rewrite(events: Sequence[Event], editor: StreamEditor, form: Form) -> list[Event]:
        return [*events[: _middle(events, editor) + 1], *editor.make_error(form, message)]

    def rewrite_whole(data: Data, editor: ResponseEditor) -> bytes:
        return msgspec.json.encode(editor.make_error(data, message))

    return Fault(name="error_event", reply=_speak(ANSWER_TEXT), rewrite=rewrite, rewrite_response=rewrite_whole)


# Different replies of the model.


def silent() -> Fault:
    """An empty text."""
    return Fault(name="silent", reply=_speak(""))


def large(size: int = 20_000_000) -> Fault:
    """A response of at least `size` bytes. A third of them are its text."""
    return Fault(name=f"large({size})", reply=_speak("x" * (size // 3)))


def bad_arguments(text: str = '{"broken": ') -> Fault:
    """A call of the first tool with invalid JSON as arguments."""
    return _with_arguments("bad_arguments", text)


def no_arguments() -> Fault:
    """A call of the first tool with an empty text as arguments."""
    return _with_arguments("no_arguments", "")


def cut_arguments(text: str = '{"cut": "he') -> Fault:
    """A call whose arguments max_tokens cut off, with that finish reason."""
    return _with_arguments("cut_arguments", text, "length")


def unknown_tool(name: str = "no_such_tool") -> Fault:
    """A call of an unknown tool."""

    def reply(_: ModelRequest, default: Reply) -> Reply:
        return Reply("", (Call("standin0001", name, "{}"),), default.input_tokens)

    return Fault(name="unknown_tool", reply=reply)


def same_ids() -> Fault:
    """Two calls of the first tool with equal ids (if the API has ids)."""

    def reply(request: ModelRequest, default: Reply) -> Reply:
        (call,) = _call(request, default).calls
        return Reply("", (call, call), default.input_tokens)

    return Fault(name="same_ids", reply=reply)


def filtered() -> Fault:
    """A response that a content filter ended."""
    return _stopped("filtered", "filter")


def refused() -> Fault:
    """A refusal by the model if the API has one, else a blocked prompt."""
    return _stopped("refused", "refusal")


def cut() -> Fault:
    """A text that max_tokens cut off."""
    return _stopped("cut", "length")


def slow() -> Fault:
    """Write single bytes."""
    return Fault(name="slow", slow=True)


# Helpers.


def _speak(text: str) -> Callable[[ModelRequest, Reply], Reply]:
    return lambda _, default: Reply(text, (), default.input_tokens)


def _call(request: ModelRequest, default: Reply) -> Reply:
    """A call of the first tool with valid arguments."""
    name, arguments = "show", "{}"
    if request.tools:
        name = request.tools[0].name
        arguments = msgspec.json.encode(sample_arguments(request.tools[0])).decode()
    longer = arguments if len(arguments) > 2 else '{"unasked": "so that there is a middle"}'
    return Reply("", (Call("standin0001", name, longer),), default.input_tokens)


def _with_arguments(name: str, text: str, stop_reason: StopReason | None = None) -> Fault:
    def rewrite(events: Sequence[Event], editor: StreamEditor, _: Form) -> list[Event]:
        changed = editor.put_arguments(events, text)
        return changed if stop_reason is None else editor.put_stop(changed, stop_reason)

    def rewrite_whole(data: Data, editor: ResponseEditor) -> bytes:
        changed = editor.put_arguments(data, text)
        return msgspec.json.encode(changed if stop_reason is None else editor.put_stop(changed, stop_reason))

    return Fault(name=name, reply=_call, rewrite=rewrite, rewrite_response=rewrite_whole)


def _stopped(name: str, stop_reason: StopReason) -> Fault:
    def rewrite(events: Sequence[Event], editor: StreamEditor, _: Form) -> list[Event]:
        return editor.put_stop(events, stop_reason)

    def rewrite_whole(data: Data, editor: ResponseEditor) -> bytes:
        return msgspec.json.encode(editor.put_stop(data, stop_reason))

    return Fault(name=name, reply=_speak(ANSWER_TEXT), rewrite=rewrite, rewrite_response=rewrite_whole)


def _broken(name: str, bytes_in_it: bytes | None) -> Fault:
    """Insert bytes into the second text of a response, or cut its JSON off there if None."""

    def rewrite(events: Sequence[Event], editor: StreamEditor, form: Form) -> list[Event]:
        at = _middle(events, editor)
        marked = Event(put(events[at].data, editor.TEXT, MARK), events[at].name)
        before, _, after = inner_of(marked, form).partition(MARK.encode())
        payload = before if bytes_in_it is None else before + bytes_in_it + after
        broken = write_payload(marked, payload, form).removesuffix(b"\r\n\r\n").removesuffix(b"\n\n")
        return [*events[:at], Event(raw=broken), *events[at + 1 :]]

    def rewrite_whole(data: Data, editor: ResponseEditor) -> bytes:
        before, after = editor.split(data, editor.text)
        return before if bytes_in_it is None else before + bytes_in_it + after

    return Fault(name=name, reply=_speak(ANSWER_TEXT), rewrite=rewrite, rewrite_response=rewrite_whole)


def _middle(events: Sequence[Event], editor: StreamEditor) -> int:
    """The index of the second text event."""
    return [at for at, event in enumerate(events) if editor.is_text(event)][1]


FAULTS: dict[str, Callable[..., Fault]] = {
    item.__name__: item
    for item in (
        status,
        page,
        echo,
        wrong_type,
        hang_up,
        reset,
        end,
        stall,
        empty,
        end_in_arguments,
        reset_in_arguments,
        invalid_utf8,
        invalid_json,
        error_event,
        silent,
        large,
        bad_arguments,
        no_arguments,
        cut_arguments,
        unknown_tool,
        same_ids,
        filtered,
        refused,
        cut,
        slow,
    )
}


def read_fault(text: str) -> Fault:
    """Parse a fault: `empty`, `reset(at=100)`. Raises `ValueError`."""
    try:
        match ast.parse(text.strip(), mode="eval").body:
            case ast.Name(id=name):
                return FAULTS[name]()
            case ast.Call(func=ast.Name(id=name), args=args, keywords=keywords):
                named = {item.arg or "": ast.literal_eval(item.value) for item in keywords}
                return FAULTS[name](*map(ast.literal_eval, args), **named)
            case _:
                pass
    except (SyntaxError, KeyError, TypeError):
        pass
    raise ValueError(f"{text!r} is not a fault: use one of {', '.join(FAULTS)}, with arguments as in status(429)")


def read_planned(text: str) -> PlannedFault:
    """Parse a planned fault: `openai:stall`, `openai#2:status(529)`, `#3:empty`."""
    place, _, rest = text.partition(":") if ":" in text.partition("(")[0] else ("", "", text)
    host, _, nth = place.partition("#")
    return PlannedFault(read_fault(rest), host.strip(), int(nth or 1))
