"""What is left of a soak, read back over the API: every turn with its answer, and every file."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from served.talks import Clients
from served.turns import Talk, Turn, end_of, text_of

#: What is said of a file of a tool whose run was stopped before it could be kept.
UNSTORED = "was not stored before the run ended"


async def read_back(clients: Clients) -> Counter[str]:
    """Read all back: how many turns there are, how they ended, and files; what is lost is told to `clients.wrong`."""
    found: Counter[str] = Counter()
    for talk in clients.talks:
        if any(turn.answer_id for turn in talk.turns):
            async with clients.session.get(f"/api/conversations/{talk.id}") as answer:
                told = await answer.json()
            found["still running"] += told.get("running", False)
            for wrong in check_talk(talk, told, found):
                found["lost turns"] += 1
                clients.wrong.append(f"{talk.id}: {wrong}")
            await read_files(clients, told.get("attachments", []), found)
    for id, sha256 in clients.files.items():  # noqa: A001 - it is one
        if await clients.hash_of(id) != sha256:
            found["lost pictures"] += 1
            clients.wrong.append(f"{id} is not what was uploaded")
    return found


def check_talk(talk: Talk, told: Mapping[str, Any], found: Counter[str]) -> list[str]:
    """What is wrong with a conversation: each turn must be there once, in order, with its files and its answer."""
    messages: Sequence[Mapping[str, Any]] = told.get("messages", [])
    asked = [one for one in messages if one["role"] == "user"]
    answers = {one["id"]: one for one in messages if one["role"] == "assistant"}
    turns = [one for one in talk.turns if one.answer_id]
    found["turns"] += len(turns)
    if len(asked) > len(turns) and len(talk.turns) > len(turns):
        del asked[-1]  # it was given up before anybody told that it was taken
    wrong = [f"{turn.text} is not there" for turn in turns[len(asked) :]]
    wrong += [f"{text_of(one)} is too many" for one in asked[len(turns) :]]
    for turn, message in zip(turns, asked, strict=False):
        files = [part["id"] for part in message["parts"] if part["type"] == "data-attachment"]
        if (text_of(message), files) != (turn.text, turn.files):
            wrong.append(f"{turn.text} with {turn.files} is {text_of(message)} with {files}")
        elif (why := check_answer(turn, answers.get(turn.answer_id), found)) is not None:
            wrong.append(f"{turn.text}: {why}")
    return wrong


def check_answer(turn: Turn, answer: Mapping[str, Any] | None, found: Counter[str]) -> str | None:
    """What is wrong with the answer to a turn: it must be whole, or have ended as was told, for a cause."""
    if answer is None or not answer["metadata"].get("status"):
        return f"it has no answer: {answer}"
    end = end_of(answer["metadata"], text_of(answer))
    told = turn.ends.get(answer["metadata"]["run_id"])
    if told != end:
        return f"ended as {end}, and was told as {told}"
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
