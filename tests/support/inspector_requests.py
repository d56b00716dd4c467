"""Bodies of the two apis that the embedded model speaks, written by hand, and the way to it through `Send`."""

import asyncio
import base64
import json
import re
from collections.abc import AsyncIterator
from dataclasses import dataclass, field

from showandtell.inspector.answering.summary import INTRODUCTION
from showandtell.inspector.send import send

MESSAGES, CHAT = (
    "https://inspector.invalid/anthropic/v1/messages",
    "https://inspector.invalid/openai/v1/chat/completions",
)
FIELDS = {"values": {"type": "array", "items": {"type": "number"}}, "title": {"type": "string"}}
PLOT = {"type": "object", "properties": FIELDS, "required": ["values"]}
NOTHING = {"type": "object", "properties": {}}
TOOLS = (("show_invoice", "Shows an invoice as a PDF.", NOTHING), ("plot", "Draws a chart of values.", PLOT))

#: The first answer of a conversation that asks to plot.
PLOTS = f"{INTRODUCTION}\n\nBy the words of your message I run plot."
FOLD = re.compile(r"^(`{3,})details\n(.*?)\n\1$", re.DOTALL | re.MULTILINE)


@dataclass(frozen=True)
class Request:
    url: str
    data: bytes
    headers: dict[str, str] = field(default_factory=dict)
    longer: int = 0

    @property
    def size(self) -> int:
        return len(self.data) + self.longer

    async def body(self) -> AsyncIterator[bytes]:
        for at in range(0, len(self.data), 1_000_000):
            yield self.data[at : at + 1_000_000]


def ask(request: Request) -> tuple[int, list[bytes]]:
    async def exchange() -> tuple[int, list[bytes]]:
        async with send(request) as answer:
            return answer.status, [chunk async for chunk in answer.body]

    return asyncio.run(exchange())


def claude(*messages: dict, **more: object) -> tuple[int, dict]:
    tools = [{"name": name, "description": received, "input_schema": schema} for name, received, schema in TOOLS]
    body = {"model": "inspector", "max_tokens": 9000, "tools": tools, "messages": messages, **more}
    status, chunks = ask(Request(MESSAGES, json.dumps(body).encode()))
    return status, json.loads(b"".join(chunks))


def chat(*messages: dict, **more: object) -> tuple[int, dict]:
    functions = [{"name": name, "description": received, "parameters": schema} for name, received, schema in TOOLS]
    tools = [{"type": "function", "function": function} for function in functions]
    body = {"model": "openai-chat", "tools": tools, "messages": messages, **more}
    status, chunks = ask(Request(CHAT, json.dumps(body).encode()))
    return status, json.loads(b"".join(chunks))


def refused(answer: tuple[int, dict]) -> str:
    assert answer[0] == 400
    assert answer[1]["error"]["type"] == "invalid_request_error"
    return answer[1]["error"]["message"]


def words(answer: tuple[int, dict]) -> str:
    assert answer[0] == 200, answer
    return "".join(block.get("text", "") for block in answer[1]["content"])


def people(output: str) -> str:
    """What an answer says before its details, without the introduction."""
    return FOLD.sub("", output).removeprefix(INTRODUCTION).strip()


def details(output: str) -> str:
    """The exact facts of an answer, from the block that the page folds."""
    found = FOLD.findall(output)
    assert len(found) == 1, output
    return found[0][1]


def calls(answer: tuple[int, dict]) -> list[tuple[str, dict]]:
    assert answer[0] == 200, answer
    return [(block["name"], block["input"]) for block in answer[1]["content"] if block["type"] == "tool_use"]


def user(*content: object) -> dict:
    return {"role": "user", "content": [text(part) if isinstance(part, str) else part for part in content]}


def assistant(*content: object) -> dict:
    return {**user(*content), "role": "assistant"}


def text(words: str) -> dict:
    return {"type": "text", "text": words}


def encode(data: bytes) -> str:
    return base64.b64encode(data).decode()


def source(data: bytes, media_type: str) -> dict:
    return {"type": "base64", "media_type": media_type, "data": encode(data)}


def image(data: bytes, media_type: str = "image/png") -> dict:
    return {"type": "image", "source": source(data, media_type)}


def document(data: bytes, media_type: str = "application/pdf") -> dict:
    return {"type": "document", "source": source(data, media_type)}


def use(call_id: str = "toolu_1", name: str = "plot") -> dict:
    return {"type": "tool_use", "id": call_id, "name": name, "input": {}}


def result(*content: object, call_id: str = "toolu_1", **more: object) -> dict:
    return {"type": "tool_result", "tool_use_id": call_id, "content": user(*content)["content"], **more}


def step(*content: object, **more: object) -> tuple[dict, dict, dict]:
    return user("plot 1, 2"), assistant(use()), user(result(*content, **more))


def called(*call_ids: str) -> dict:
    function = {"name": "plot", "arguments": '{"values":[1]}'}
    made = [{"id": call_id, "type": "function", "function": function} for call_id in call_ids]
    return {"role": "assistant", "content": None, "tool_calls": made}


def returned(content: object, call_id: str = "call_1") -> dict:
    return {"role": "tool", "tool_call_id": call_id, "content": content}


def picture(data: bytes, media_type: str = "image/png") -> dict:
    return {"type": "image_url", "image_url": {"url": f"data:{media_type};base64,{encode(data)}"}}


def paper(data: bytes, media_type: str = "application/pdf") -> dict:
    url = f"data:{media_type};base64,{encode(data)}"
    return {"type": "file", "file": {"filename": "invoice.pdf", "file_data": url}}


def sound(data: bytes, form: str = "wav") -> dict:
    return {"type": "input_audio", "input_audio": {"data": encode(data), "format": form}}
