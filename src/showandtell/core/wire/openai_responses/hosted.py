"""Items of tools that the provider runs, and items of unknown types.

Shapes are those of openai 3.54 (`ResponseOutputItem`) and of recorded answers.
"""

from __future__ import annotations

from typing import cast

from showandtell.core.events.types import FileMade, RemoteFile, SourceEvent
from showandtell.core.messages.parts import HostedBlock, HostedState, Source
from showandtell.core.wire.hosted_blocks import Fields, hosted_block, parsed
from showandtell.core.wire.response_files import UNKNOWN_TYPE

#: The ends of the types of calls and of results that are items of their own.
CALL, OUTPUT = "_call", "_output"
#: Fields that hold what a tool was given and what it returned, in order of preference.
INPUTS = ("action", "actions", "operation", "arguments", "code", "queries", "input")
OUTPUTS = ("error", "output", "outputs", "results", "result", "tools")
#: Calls whose output is an item of its own, or has to come from the program.
OPEN = frozenset({"computer_call", "local_shell_call", "apply_patch_call", "shell_call", "program"})
FAILED = frozenset({"failed", "incomplete"})


def describe_item(item: Fields, number: int) -> HostedBlock:
    """Describe an item. One without an id is named by its type and its number in the response."""
    kind = str(item.get("type"))
    call_id = next((item[key] for key in ("call_id", "id") if isinstance(item.get(key), str) and item[key]), None)
    name = call_id or f"{kind}_{number}"
    given = next(({key: item[key]} if key == "code" else item[key] for key in INPUTS if item.get(key)), None)
    output = next((item[key] for key in OUTPUTS if item.get(key)), None)
    bare: dict[str, str] = {}
    if given is None and output is None:
        output = {key: value for key, value in item.items() if key not in ("type", "id", "status", "server_label")}
    if kind == "web_search_call" and isinstance(given, dict):
        given = {key: value for key, value in cast("Fields", given).items() if key != "sources"}
        output = item["action"].get("sources")
    if kind == "image_generation_call":
        given = {key: item[key] for key in ("revised_prompt", "size") if item.get(key)}
        output = item.get("error")
        bare = {"result": _image_type(item)}
    given = parsed(given) if isinstance(given, str) else given
    output = parsed(output) if isinstance(output, str) else output
    return hosted_block(item, name, _tool(item, kind), given=given, output=output, state=_state(item, kind), bare=bare)


def read_annotation(text_id: str, annotation: Fields) -> SourceEvent | FileMade:
    """The source that an annotation of a text names, or the file that code of the provider made."""
    match annotation:
        case {"type": "container_file_citation", "file_id": str() as file_id, "container_id": str() as container_id}:
            name, remote = annotation.get("filename"), RemoteFile(file_id, container_id)
            made_by = ("code_interpreter", "")
            return FileMade(UNKNOWN_TYPE, b"", str(name) if name else None, remote=remote, made_by=made_by)
        case _:
            return _source(text_id, annotation)


def _source(text_id: str, annotation: Fields) -> SourceEvent:
    url = str(annotation.get("url") or "")
    start, end = annotation.get("start_index"), annotation.get("end_index")
    source = Source(
        title=str(annotation.get("title") or ""),
        url=url if url.startswith(("https:", "http:")) else "",
        start=start if isinstance(start, int) else None,
        end=end if isinstance(end, int) else None,
        name=str(annotation.get("filename") or annotation.get("file_id") or ""),
    )
    return SourceEvent(text_id, source, file_id=str(annotation.get("file_id") or ""))


def _tool(item: Fields, kind: str) -> str:
    match item:
        case {"server_label": str() as server, "name": str() as name}:
            return f"{server}.{name}"
        case {"server_label": str() as server}:
            return f"{server}.{kind.removeprefix('mcp_')}"
        case _:
            return kind.removesuffix(OUTPUT).removesuffix(CALL)


def _state(item: Fields, kind: str) -> HostedState:
    if kind == "mcp_approval_request":
        return "waiting"
    if kind in OPEN:
        return "running"
    return "error" if item.get("error") or item.get("status") in FAILED else "done"


def _image_type(item: Fields) -> str:
    name = item.get("output_format") or "png"
    return f"image/{'svg+xml' if name == 'svg' else name}"
