"""Faults as data: what is answered instead, what the model says, how its words are spelled, how the bytes end.

Each function here gives one; `FAULTS` has them by name, for headers and command lines: `status(429, retry_after=2)`.
Those that change the spelling know streams (`rewrite`) and answers that come as one JSON value (`rewrite_whole`).
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

import msgspec

from showandtell.inspector.answering.choose_tool import sample_arguments
from showandtell.inspector.request import Call, Host, ModelRequest, Refusal, Reply

from .frames import Data, Event, Form, inner_of, put, write_payload
from .spellings import Spelling, Whole
from .words import MARK, OVERLOADED, SPOKEN, Why

Rewrite: TypeAlias = Callable[[Sequence[Event], Spelling, Form], list[Event]]
RewriteWhole: TypeAlias = Callable[[Data, Whole], bytes]
#: After how many bytes an answer ends: a number, its half, or in the middle of a call's arguments.
At: TypeAlias = int | Literal["half", "arguments"]
#: How it ends there: as if it were whole, with a reset of the connection, or never.
Ending: TypeAlias = Literal["end", "reset", "stall"]
BUSY = {
    429: ("rate_limit_error", "rate_limit_exceeded", "Rate limit reached."),
    500: ("api_error", None, "Internal server error"),
    502: ("api_error", None, "Bad gateway"),
    503: ("api_error", None, "Service unavailable"),
    529: ("overloaded_error", None, OVERLOADED),
}


@dataclass(frozen=True)
class Instead:
    """An answer in the place of the house's own."""

    status: int
    body: bytes
    headers: Mapping[str, str]


@dataclass(frozen=True, kw_only=True)
class Fault:
    """What goes wrong with one answer; everything that isn't named here is as it always is."""

    name: str
    instead: Callable[[Host], Instead] | None = field(default=None, repr=False)
    reply: Callable[[ModelRequest, Reply], Reply] | None = field(default=None, repr=False)
    rewrite: Rewrite | None = field(default=None, repr=False)
    rewrite_whole: RewriteWhole | None = field(default=None, repr=False)
    echoes: bool = False
    media_type: str = ""
    at: At | None = None
    ending: Ending = "end"
    slow: bool = False
    hangs_up: bool = False


@dataclass(frozen=True)
class Planned:
    """A fault at the `nth` request of a house (of any house where none is named), for `times` requests; 0: for ever."""

    fault: Fault
    house: str = ""
    nth: int = 1
    times: int = 1

    def strikes(self, house: str, count: int) -> bool:
        return self.house in {"", house} and self.nth <= count and (not self.times or count < self.nth + self.times)


# Answers instead of one.


def status(code: int, retry_after: float | None = None, words: str = "") -> Fault:
    """An error in the house's own form, with a time to wait where one is given."""

    def instead(house: Host) -> Instead:
        kind, known, usual = BUSY.get(code, ("invalid_request_error", None, "Bad request"))
        body = house.refuse(Refusal(words or usual, status=code, kind=kind, code=known))
        if retry_after is None:
            return Instead(code, body, {"content-type": "application/json"})
        if house.base in {"google", "vertex"}:
            return Instead(code, _with_delay(body, retry_after), {"content-type": "application/json"})
        return Instead(code, body, {"content-type": "application/json", "retry-after": f"{retry_after:g}"})

    return Fault(name=f"status({code})", instead=instead)


def _with_delay(body: bytes, seconds: float) -> bytes:
    """Google says in a detail how long to wait."""
    error = msgspec.json.decode(body)["error"]
    delay = {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": f"{seconds:g}s"}
    return msgspec.json.encode({"error": {**error, "details": [*error.get("details", []), delay]}})


def page(code: int = 200) -> Fault:
    """A proxy's page."""
    html = b"<!DOCTYPE html><html><head><title>Bad gateway of a proxy</title></head><body><h1>Sorry</h1></body></html>"
    return Fault(name=f"page({code})", instead=lambda _: Instead(code, html, {"content-type": "text/html"}))


def echo(place: Literal["refusal", "page", "answer"] = "refusal") -> Fault:
    """The credentials that were sent come back: in a 401, in a proxy's page, or in an error amid an answer."""
    instead = {"refusal": status(401).instead, "page": page().instead}.get(place)
    return Fault(name=f"echo({place})", instead=instead, reply=_speak(SPOKEN), echoes=True)


def wrong_type(media_type: str = "text/plain") -> Fault:
    """The right bytes under another content type."""
    return Fault(name="wrong_type", media_type=media_type)


def hang_up() -> Fault:
    """The connection is reset before any byte of an answer."""
    return Fault(name="hang_up", hangs_up=True)


# Answers that break off.


def reset(at: At = "half") -> Fault:
    """The connection is reset after so many bytes of the body."""
    return Fault(name="reset", at=at, ending="reset")


def end(at: At = "half") -> Fault:
    """The body ends cleanly after so many bytes, without its finish reason."""
    return Fault(name="end", at=at)


def stall(at: At = "half") -> Fault:
    """Nothing comes after so many bytes, until the client goes."""
    return Fault(name="stall", at=at, ending="stall")


def empty() -> Fault:
    """A status of 200 and no byte behind it."""
    return Fault(name="empty", at=0)


def end_in_arguments() -> Fault:
    """The body ends cleanly in the middle of a call's arguments."""
    return Fault(name="end_in_arguments", reply=_call, at="arguments")


def reset_in_arguments() -> Fault:
    """The connection is reset in the middle of a call's arguments."""
    return Fault(name="reset_in_arguments", reply=_call, at="arguments", ending="reset")


# Bytes that aren't the api's.


def invalid_utf8() -> Fault:
    """A text with bytes in it that are no UTF-8."""
    return _broken("invalid_utf8", b"\xff\xfe")


def invalid_json() -> Fault:
    """An event whose JSON is torn."""
    return _broken("invalid_json", None)


def error_event(words: str = OVERLOADED) -> Fault:
    """An error in the api's own form: in the middle of a stream, with nothing behind it, or in place of an answer."""

    def rewrite(events: Sequence[Event], spelling: Spelling, form: Form) -> list[Event]:
        return [*events[: _middle(events, spelling) + 1], *spelling.spell_error(form, words)]

    def rewrite_whole(data: Data, whole: Whole) -> bytes:
        return msgspec.json.encode(whole.spell_error(data, words))

    return Fault(name="error_event", reply=_speak(SPOKEN), rewrite=rewrite, rewrite_whole=rewrite_whole)


# What the model says.


def silent() -> Fault:
    """An answer whose text is empty."""
    return Fault(name="silent", reply=_speak(""))


def large(size: int = 20_000_000) -> Fault:
    """An answer of at least so many bytes; a third of them are its text."""
    return Fault(name=f"large({size})", reply=_speak("x" * (size // 3)))


def bad_arguments(text: str = '{"broken": ') -> Fault:
    """A call of the first tool, whose arguments are no JSON."""
    return _with_arguments("bad_arguments", text)


def no_arguments() -> Fault:
    """A call of the first tool, whose arguments are an empty text."""
    return _with_arguments("no_arguments", "")


def cut_arguments(text: str = '{"cut": "he') -> Fault:
    """A call whose arguments were cut by max_tokens, which the answer says."""
    return _with_arguments("cut_arguments", text, "length")


def unknown_tool(name: str = "no_such_tool") -> Fault:
    """A call of a tool that nobody offered."""

    def reply(_: ModelRequest, usual: Reply) -> Reply:
        return Reply("", (Call("standin0001", name, "{}"),), usual.input_tokens)

    return Fault(name="unknown_tool", reply=reply)


def same_ids() -> Fault:
    """Two calls of the first tool with one id; where an api gives none, just two calls."""

    def reply(asked: ModelRequest, usual: Reply) -> Reply:
        (call,) = _call(asked, usual).calls
        return Reply("", (call, call), usual.input_tokens)

    return Fault(name="same_ids", reply=reply)


def filtered() -> Fault:
    """An answer that a filter of the host ended."""
    return _stopped("filtered", "filter")


def refused() -> Fault:
    """A refusal, by the model where its api can say so, else of the prompt by its host."""
    return _stopped("refused", "refusal")


def cut() -> Fault:
    """A text that was cut by max_tokens."""
    return _stopped("cut", "length")


def slow() -> Fault:
    """One byte a read."""
    return Fault(name="slow", slow=True)


# How they are made.


def _speak(text: str) -> Callable[[ModelRequest, Reply], Reply]:
    return lambda _, usual: Reply(text, (), usual.input_tokens)


def _call(asked: ModelRequest, usual: Reply) -> Reply:
    """A call of the first tool, with arguments that it takes."""
    name, arguments = "show", "{}"
    if asked.tools:
        name = asked.tools[0].name
        arguments = msgspec.json.encode(sample_arguments(asked.tools[0])).decode()
    longer = arguments if len(arguments) > 2 else '{"unasked": "so that there is a middle"}'
    return Reply("", (Call("standin0001", name, longer),), usual.input_tokens)


def _with_arguments(name: str, text: str, why: Why | None = None) -> Fault:
    def rewrite(events: Sequence[Event], spelling: Spelling, _: Form) -> list[Event]:
        changed = spelling.put_arguments(events, text)
        return changed if why is None else spelling.put_stop(changed, why)

    def rewrite_whole(data: Data, whole: Whole) -> bytes:
        changed = whole.put_arguments(data, text)
        return msgspec.json.encode(changed if why is None else whole.put_stop(changed, why))

    return Fault(name=name, reply=_call, rewrite=rewrite, rewrite_whole=rewrite_whole)


def _stopped(name: str, why: Why) -> Fault:
    def rewrite(events: Sequence[Event], spelling: Spelling, _: Form) -> list[Event]:
        return spelling.put_stop(events, why)

    def rewrite_whole(data: Data, whole: Whole) -> bytes:
        return msgspec.json.encode(whole.put_stop(data, why))

    return Fault(name=name, reply=_speak(SPOKEN), rewrite=rewrite, rewrite_whole=rewrite_whole)


def _broken(name: str, bytes_in_it: bytes | None) -> Fault:
    """Bytes in the middle text of an answer; None tears its JSON off there instead."""

    def rewrite(events: Sequence[Event], spelling: Spelling, form: Form) -> list[Event]:
        at = _middle(events, spelling)
        marked = Event(put(events[at].data, spelling.TEXT, MARK), events[at].name)
        before, _, after = inner_of(marked, form).partition(MARK.encode())
        payload = before if bytes_in_it is None else before + bytes_in_it + after
        broken = write_payload(marked, payload, form).removesuffix(b"\r\n\r\n").removesuffix(b"\n\n")
        return [*events[:at], Event(raw=broken), *events[at + 1 :]]

    def rewrite_whole(data: Data, whole: Whole) -> bytes:
        before, after = whole.split(data, whole.text)
        return before if bytes_in_it is None else before + bytes_in_it + after

    return Fault(name=name, reply=_speak(SPOKEN), rewrite=rewrite, rewrite_whole=rewrite_whole)


def _middle(events: Sequence[Event], spelling: Spelling) -> int:
    """Where the second text of an answer is, so that something was said before."""
    return [at for at, event in enumerate(events) if spelling.is_text(event)][1]


FAULTS: dict[str, Callable[..., Fault]] = {
    one.__name__: one
    for one in (
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
    """A fault as it is written: `empty`, `reset(at=100)`. Raises `ValueError`."""
    try:
        match ast.parse(text.strip(), mode="eval").body:
            case ast.Name(id=name):
                return FAULTS[name]()
            case ast.Call(func=ast.Name(id=name), args=args, keywords=keywords):
                named = {one.arg or "": ast.literal_eval(one.value) for one in keywords}
                return FAULTS[name](*map(ast.literal_eval, args), **named)
            case _:
                pass
    except (SyntaxError, KeyError, TypeError):
        pass
    raise ValueError(f"{text!r} is no fault: write one of {', '.join(FAULTS)}, with arguments as in status(429)")


def read_planned(text: str) -> Planned:
    """A fault with its place before it: `openai:stall`, `openai#2:status(529)`, `#3:empty`."""
    place, _, rest = text.partition(":") if ":" in text.partition("(")[0] else ("", "", text)
    house, _, nth = place.partition("#")
    return Planned(read_fault(rest), house.strip(), int(nth or 1))
