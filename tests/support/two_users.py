"""A server with two users, for tests of access: Ann knows the ids of all of Bob's data. `FIELDS` lists where she uses them."""

import asyncio
import hashlib
import json
import re
import secrets
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import Any

from showandtell.agent.tools import as_tool
from showandtell.core.messages.ids import new_id
from showandtell.server.auth.people import People
from support.fixtures import png
from support.serving import Site, chat_body, serving

#: A word that occurs in Bob's messages and files only.
WORD = "xylophone"
NOTE = f"the {WORD} is under the stairs".encode()
ALIAS = "bobs-own-chat"
#: The parts of a signed URL that differ each time.
SIGNED = re.compile(r"until=\d+&sig=[\w-]+")
RATES = "chat=100000/minute, uploads=100000/minute, reads=100000/minute, login=100000/minute"


class Names:
    """Accounts without an issuer: a bearer token is the user's own id, and with a capital the display name."""

    def __init__(self, people):
        self.people = people

    def owns(self, _):
        return True

    async def user_of(self, token, now):
        await self.people.remember(token, {"sub": token, "name": token.title()}, now)
        return token


def open_accounts(site):
    """Turn accounts on; returns the function that makes a client for a user's name."""
    site.app.state.server = replace(site.server, accounts=Names(People(site.store.database)))
    site.app.state.lifecycle.use(site.app.state.server)
    return site.as_user


async def ask(session, method, path, **settings):
    """The status, and the JSON or bytes of an answer."""
    async with session.request(method, path, **settings) as answer:
        body = await answer.read()
        return answer.status, await answer.json() if body and answer.content_type == "application/json" else body


async def upload(session, data, name):
    return (await ask(session, "PUT", f"/api/attachments?name={name}", data=data))[1]["id"]


async def conversations_of(site, session):
    return (await site.get("/api/conversations", session))[1]["conversations"]


@dataclass
class TwoUsers:
    """A server with clients of both users. `ids` are Bob's by kind; `own` is a conversation of Ann's, `file` its file."""

    site: Site
    ann: Any
    bob: Any
    anonymous: Any
    ids: dict[str, str]
    own: str
    file: str

    async def data_of_bob(self):
        """All of Bob's data, as the server lists it for him."""
        there = await conversations_of(self.site, self.bob)
        received = [(await self.site.get(f"/api/conversations/{item['id']}", self.bob))[1] for item in there]
        files = [file["id"] for item in received for file in item["attachments"]] + [self.ids["upload"]]
        there = [received, [await ask(self.bob, "GET", f"/api/attachments/{item}") for item in files]]
        there.append(await ask(self.bob, "GET", "/api/presets"))
        return SIGNED.sub("", json.dumps(there, default=str))


def make_hanging_tool():
    """A tool that never returns, and an event that is set when it is called."""
    begun = asyncio.Event()

    async def hang() -> None:
        """Wait for ever."""
        begun.set()
        await asyncio.Event().wait()

    return as_tool(hang), begun


@asynccontextmanager
async def two_users(folder, **settings):
    """A server with Ann and Bob; one of Bob's conversations has a run that never ends."""
    tool, begun = make_hanging_tool()
    async with serving(folder, tools=(tool,), rates=RATES, **settings) as site:
        user = open_accounts(site)
        ann, bob, anonymous = user("ann"), user("bob"), user()
        ids = await store_data(site, bob)
        own_file = await upload(ann, b"of Ann", "own.txt")
        await site.post("hello", files=[own_file], session=ann)
        own = (await conversations_of(site, ann))[0]["id"]
        waiting = asyncio.create_task(site.post("/hang", chat="being-answered", session=bob))
        async with asyncio.timeout(60):
            await begun.wait()
        ids["running conversation"] = next(
            conversation["id"] for conversation in await conversations_of(site, bob) if conversation["running"]
        )
        waits = pending(ids["running conversation"])
        ids["pending message"] = (await ask(bob, "POST", "/api/pending", **waits))[1]["id"]
        try:
            yield TwoUsers(site, ann, bob, anonymous, ids, own, own_file)
        finally:
            await ask(bob, "POST", f"/api/chat/{ids['running conversation']}/stop")
            await asyncio.gather(waiting, return_exceptions=True)


async def store_data(site, bob):
    """Store Bob's data: a conversation with his files and a tool's, a deleted file, a pending upload. Returns all ids."""
    note, gone = await upload(bob, NOTE, f"{WORD}.txt"), await upload(bob, png(), "gone.png")
    await site.post(f"look at my {WORD}", chat=ALIAS, files=[note, gone], session=bob)
    await site.post('/chart title="visitors" values=[1,2]', chat=ALIAS, id="m2", session=bob)
    conversation = (await conversations_of(site, bob))[0]["id"]
    await ask(bob, "DELETE", f"/api/attachments/{gone}")
    received = (await site.get(f"/api/conversations/{conversation}", bob))[1]
    preset = {"name": WORD, "settings": {"instructions": WORD}}
    call = next(part for message in received["messages"] for part in message["parts"] if part["type"] == "tool-chart")
    return {
        "conversation": conversation,
        "message": received["messages"][0]["id"],
        "answer": received["messages"][1]["id"],
        "file": note,
        "file of a tool": received["attachments"][-1]["id"],
        "deleted file": gone,
        "upload": await upload(bob, NOTE + b"!", "pending.txt"),
        "alias": ALIAS,
        "run": received["messages"][1]["metadata"]["run_id"],
        "call": call["toolCallId"],
        "preset": (await ask(bob, "POST", "/api/presets", json=preset))[1]["id"],
        "hash": hashlib.sha256(NOTE).hexdigest(),
    }


def new_name():
    """A new name that a client assigns."""
    return secrets.token_hex(8)


def unknown_id(value):
    """An id of the same form that doesn't exist."""
    prefix, found, _ = value.partition("_")
    if found and len(value) <= 30:
        return new_id(prefix)
    return hashlib.sha256(value.encode()).hexdigest()[: len(value)] if len(value) > 30 else value[::-1]


def tool_part(call_id):
    """An approval of a call, as the stock client sends it."""
    approval = {"id": call_id, "approved": True}
    return {
        "type": "tool-hang",
        "toolCallId": call_id,
        "state": "approval-responded",
        "input": {},
        "approval": approval,
    }


def chat(own, parts, role="user", **more):
    return {"json": {"id": own, "messages": [{"id": new_name(), "role": role, "parts": parts}], **more}}


def pending(conversation, **more):
    return {"json": {"conversation_id": conversation, "message_id": new_name(), "text": "hello", **more}}


WORDS = [{"type": "text", "text": "hello"}]
#: Values for the other parameters of a path.
ELSE = {"name": "a.txt", "number": "1", "sha256": "0" * 64, "other": "ann"}
#: The bodies of operations that need one.
BODIES = {
    "rename_conversation": {"json": {"title": "Mine"}},
    "share_conversation": {"json": {"right": "writer"}},
    "change_preset": {"json": {"revision": 1, "name": "Mine"}},
    "set_conversation_settings": {"json": {"instructions": "Mine."}},
    "lead_conversation": {"json": {"message_id": "msg_" + "x" * 22}},
    "change_pending": {"json": {"revision": 1, "text": "Mine"}},
    "send_pending": {"json": {"revision": 1}},
    "remove_pending": {"params": {"revision": 1}},
}
#: Fields outside of the path that take an id, by operation and field, with the request that uses it.
FIELDS = {
    ("list_conversations", "before"): lambda _, v: ("GET", "/api/conversations", {"params": {"before": v}}),
    ("list_shared", "before"): lambda _, v: ("GET", "/api/conversations/shared", {"params": {"before": v}}),
    ("lead_conversation", "message_id"): lambda s, v: (
        "POST",
        f"/api/conversations/{s.own}/branch",
        {"json": {"message_id": v}},
    ),
    ("delete_files", "ids"): lambda _, v: ("DELETE", "/api/files", {"params": {"ids": v}}),
    ("delete_files", "ids besides"): lambda s, v: ("DELETE", "/api/files", {"params": [("ids", s.file), ("ids", v)]}),
    ("add_pending", "conversation_id"): lambda _, v: ("POST", "/api/pending", pending(v)),
    ("add_pending", "files"): lambda s, v: ("POST", "/api/pending", pending(s.own, files=[v])),
    ("get_variant", "sha256"): lambda s, v: ("GET", f"/api/attachments/{s.file}/variants/{v}", {}),
    ("chat", "data-attachment"): lambda s, v: (
        "POST",
        "/api/chat",
        chat(s.own, [*WORDS, {"type": "data-attachment", "data": {"id": v}}]),
    ),
    ("chat", "file"): lambda s, v: (
        "POST",
        "/api/chat",
        chat(s.own, [{"type": "file", "mediaType": "text/plain", "url": f"/api/attachments/{v}/content/a.txt"}]),
    ),
    ("chat", "messageId"): lambda s, v: ("POST", "/api/chat", chat(s.own, WORDS, messageId=v)),
    ("chat", "messageId again"): lambda s, v: (
        "POST",
        "/api/chat",
        {"json": {"id": s.own, "messages": [], "trigger": "regenerate-message", "messageId": v}},
    ),
    ("chat", "approval"): lambda s, v: ("POST", "/api/chat", chat(s.own, [tool_part(v)], "assistant")),
    ("chat", "id"): lambda _, v: ("POST", "/api/chat", {"json": chat_body("hello", v, new_name())}),
    ("chat", "messages.id"): lambda _, v: ("POST", "/api/chat", {"json": chat_body("hello", new_name(), v)}),
}
#: Fields that take names that clients assign to a chat or a message. Names in the form of our ids are refused.
CLIENT_ASSIGNED = {("chat", "id"), ("chat", "messages.id")}
#: Parameters of paths: ids, and others.
ID_PARAMETERS = {"id", "chat_id"}
OTHER_PARAMETERS = {"name", "number", "sha256", "other", "provider"}


def in_address(method, path, operation, parameter):
    """The request for an id in a path."""

    def make(_, value):
        filled = path.replace("{" + parameter + "}", value)
        for name, text in ELSE.items():
            filled = filled.replace("{" + name + "}", text)
        return method.upper(), filled, BODIES.get(operation, {})

    return make


def fields_of(schema):
    """All fields and path parameters that take an id, by operation and field."""
    found = dict(FIELDS)
    for path, methods in schema["paths"].items():
        for method, operation in methods.items():
            for item in operation.get("parameters", []):
                if item["in"] == "path" and item["name"] in ID_PARAMETERS:
                    name = operation["operationId"]
                    found[name, item["name"]] = in_address(method, path, name, item["name"])
    return found
