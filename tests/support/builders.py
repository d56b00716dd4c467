"""Small builders that tests share: conversations from a few words, with made-up or real files."""

from __future__ import annotations

import hashlib

from showandtell.agent.render import ingest, plan_now
from showandtell.core.capabilities.resolve import resolve
from showandtell.core.messages.attachments import Attachment, Facts, Origin
from showandtell.core.messages.derivations import Derivations, Failed
from showandtell.core.messages.file import File
from showandtell.core.messages.message import Draft, Message
from showandtell.core.messages.parts import Shown, Text, ToolCall
from showandtell.core.planning.plan import plan
from showandtell.core.planning.values import Plan, Policy, View
from showandtell.core.wire.http import HttpResponse
from showandtell.core.wire.parsers import FRAMES, PARSERS
from showandtell.core.wire.stream import StreamParser

NOT_INSTALLED = Failed("not installed")
CONVERSIONS = {"image", "pages", "frames", "audio", "text", "transcript"}


class Everything(dict):
    """A `Derivations` in which every conversion has failed: as if none were installed."""

    def get(self, want, default=None):
        if want in self:
            return self[want]
        return NOT_INSTALLED if want.conversion.partition("?")[0] in CONVERSIONS else default


def facts(seed: str, media_type: str = "image/png", size: int = 1000, **more) -> Facts:
    return Facts(hashlib.sha256(seed.encode()).hexdigest(), media_type, size, **more)


def attachment(
    number: int, media_type: str = "image/png", size: int = 1000, origin: Origin | None = None, **more
) -> Attachment:
    name = f"file{number}.{media_type.rpartition('/')[2]}"
    proved = facts(str(number), media_type, size, **more)
    return Attachment(f"att_{number}", number, name, origin or Origin("tool", "get", "call_1"), "2026-11-21", proved)


def view(*messages: Message, files: list[Attachment], answering: str | None = "u1") -> View:
    return View(messages, {file.number: file for file in files}, answering)


def user(*parts, named: str = "u1") -> Message:
    return Message(named, "user", tuple(Text(part) if isinstance(part, str) else part for part in parts))


def assistant(*calls: str, text: str = "", named: str = "a1") -> Message:
    words = (Text(text),) if text else ()
    return Message(named, "assistant", (*words, *(ToolCall(call, "get", "{}") for call in calls)))


def result(call_id: str, *parts, is_error: bool = False, tool: str = "get") -> Message:
    output = tuple(Text(part) if isinstance(part, str) else part for part in parts)
    return Message(f"t_{call_id}", "tool", output, call_id, tool, is_error)


def shown(number: int) -> Shown:
    return Shown(number, f"att_{number}")


def planned(view: View, model: str, known: Derivations | None = None, **policy) -> Plan:
    return plan(view, resolve(model), Everything() if known is None else known, Policy(**policy))


def tool_history(*values, text: str = "look", is_error: bool = False) -> list[Draft]:
    """A user's words, one call, and a tool's result with these parts."""
    return [
        Draft("user", (Text(text),)),
        Draft("assistant", (ToolCall("call_1", "get", "{}"),)),
        Draft(
            "tool",
            tuple(Text(value) if isinstance(value, str) else value for value in values),
            "call_1",
            "get",
            is_error,
        ),
    ]


def user_history(*files: File, text: str = "look") -> list[Draft]:
    return [Draft("user", (Text(text), *files))]


def really_planned(drafts: list[Draft], model: str, **policy) -> Plan:
    return plan_now(ingest(drafts), resolve(model), Policy(**policy))


def words(parts) -> list[str]:
    """The texts among parts, in order."""
    return [part.text for part in parts if isinstance(part, Text)]


def parser_of(api: str, media_type: str = "") -> StreamParser:
    """A parser of an api's stream, of server-sent events unless its content type says otherwise."""
    return StreamParser(PARSERS[api].new_reader(), FRAMES[media_type]())


def without_body(status: int, headers=None) -> HttpResponse:
    """A response whose body has been read."""

    async def body():
        for chunk in ():
            yield chunk

    return HttpResponse(status, headers or {}, body())
