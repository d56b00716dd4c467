"""What is left of a soak, read back over the API: every turn with its answer, and every file."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from served.talks import Clients
from served.turns import Talk, Turn, end_of, text_of

#: The text for a tool's file if the run was stopped before it could be stored.
UNSTORED = "was not stored before the run ended"


async def read_back(clients: Clients) -> Counter[str]:
    """Read all back and count turns, by how they ended, and files. Losses are reported to `clients.wrong`."""
    found: Counter[str] = Counter()
    for talk in clients.talks:
        if any(turn.answer_id for turn in talk.turns):
            async with clients.session.get(f"/api/conversations/{talk.id}") as answer:
                received = await answer.json()
            found["still running"] += received.get("running", False)
            for wrong in check_talk(talk, received, found):
                found["lost turns"] += 1
                clients.wrong.append(f"{talk.id}: {wrong}")
            await read_files(clients, received.get("attachments", []), found)
    for id, sha256 in clients.files.items():  # noqa: A001 - it is one
        if await clients.hash_of(id) != sha256:
            found["lost pictures"] += 1
            clients.wrong.append(f"{id} is not what was uploaded")
    return found


def check_talk(talk: Talk, received: Mapping[str, Any], found: Counter[str]) -> list[str]:
    """What is wrong with a conversation: each turn must be there once, in order, with its files and its answer."""
    messages: Sequence[Mapping[str, Any]] = received.get("messages", [])
    asked = [item for item in messages if item["role"] == "user"]
    answers = {item["id"]: item for item in messages if item["role"] == "assistant"}
    turns = [item for item in talk.turns if item.answer_id]
    found["turns"] += len(turns)
    if len(asked) > len(turns) and len(talk.turns) > len(turns):
        del asked[-1]  # it was given up before anybody told that it was taken
    wrong = [f"{turn.text} is not there" for turn in turns[len(asked) :]]
    wrong += [f"{text_of(item)} is too many" for item in asked[len(turns) :]]
    for turn, message in zip(turns, asked, strict=False):
        files = [part["id"] for part in message["parts"] if part["type"] == "data-attachment"]
        if (text_of(message), files) != (turn.text, turn.files):
            wrong.append(f"{turn.text} with {turn.files} is {text_of(message)} with {files}")
        elif (why := check_answer(turn, answers.get(turn.answer_id), found)) is not None:
            wrong.append(f"{turn.text}: {why}")
    return wrong


def check_answer(turn: Turn, answer: Mapping[str, Any] | None, found: Counter[str]) -> str | None:
    """What is wrong with the answer to a turn: it must be complete, or have ended as reported, for a cause."""
    if answer is None or not answer["metadata"].get("status"):
        return f"it has no answer: {answer}"
    end = end_of(answer["metadata"], text_of(answer))
    received = turn.ends.get(answer["metadata"]["run_id"])
    if received != end:
        return f"ended as {end}, and was told as {received}"
    found["complete" if end.status == "complete" else "ended with a reason"] += 1
    if turn.was_killed:
        found[f"killed, then {end.status}"] += 1
    if end.status == "complete":
        return None if end.text == turn.answer else f"says {end.text!r} and not {turn.answer!r}"
    return None if turn.may_end_early and end.reason else f"ended without a cause: {end}"


async def read_files(clients: Clients, files: Sequence[Mapping[str, Any]], found: Counter[str]) -> None:
    """Read the files that tools have made: each must be what its tag says. What clients sent is read elsewhere."""
    for file in files:
        found["files"] += 1
        if file["id"] in clients.files:
            continue
        if file["problem"] and UNSTORED in file["problem"]:  # a stop came between the tool's work and its file
            found["files that a stop left unstored"] += 1
            continue
        async with clients.session.get(f"/api/attachments/{file['id']}/content") as answer:
            found["files of tools"] += 1
            data = await answer.read()
            if answer.headers.get("etag", "").strip('"') != hashlib.sha256(data).hexdigest():
                found["lost files of tools"] += 1
                clients.wrong.append(f"{file} is not what a tool made: {answer.status} {data[:200]}")
