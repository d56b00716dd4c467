"""The only process that decodes media: `python -m showandtell.media.child [--ocr | --convert]`.

Reads one JSON request per line and writes one JSON response per line. It imports the decoders but opens no file itself:
for each request it has a fork ready, which raises its walls for exactly this request, answers and ends. So what a
hostile file leaves behind in a decoder never meets another file. Only with `--convert` may a fork write files: into the
folder of the request, each within a size limit.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import resource
import signal
import sys
import tempfile
from collections.abc import Callable
from functools import partial
from typing import Any, TypeAlias

from msgspec import to_builtins

from showandtell.errors import BadFile
from showandtell.media.forks import Fork, Handler, start_fork, write_all
from showandtell.media.readers import load_reader
from showandtell.media.refusals import explain
from showandtell.media.sandbox import InnerWalls, Walls, list_libraries, raise_outer_walls

Message: TypeAlias = dict[str, Any]

#: Measured, address space (about 100 MiB of it are never touched): decoders loaded, 150 MiB; the largest image that is
#: accepted, of any type, 530 to 590 MiB.
MEDIA_MEMORY = 704 << 20
#: Conversions also hold their output: a sheet of ten million cells, frames of 8K video.
CONVERT_MEMORY = 1 << 30
#: Measured: detection and recognition on two threads, 920 MiB.
OCR_MEMORY = 2 << 30
OPEN_FILES = 64
#: Maximum bytes of one file that a conversion writes; `forks` limits the sum of all files.
FILE_LIMIT = 64 << 20
#: Maximum bytes of a request.
REQUEST_LIMIT = 1 << 20
#: The fields of a request that `read_head` returns.
HEAD = re.compile(
    rb'"(task|media_type|conversion|converter|becomes|folder|kind|seconds)": ("(?:[^"\\]|\\.)*"|[0-9.e+-]+)'
)
#: The answer for a request that a fork gave none to. Who asked knows what to advise.
STOPPED: Message = {"problem": "stopped the decoder"}


def main(arguments: list[str]) -> None:
    """Answer requests until standard input ends."""
    output = claim_stdout()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    walls = raise_outer_walls()
    may_write = "--convert" in arguments
    if may_write:
        limit_process(CONVERT_MEMORY, FILE_LIMIT)
    else:
        limit_process(OCR_MEMORY if "--ocr" in arguments else MEDIA_MEMORY, 0)
    with contextlib.suppress(BrokenPipeError):
        answer_requests(output, walls, may_write=may_write, is_rare="--ocr" in arguments)


def claim_stdout() -> int:
    """Reserve standard output for responses: what a library prints goes to standard error."""
    output = os.dup(1)
    os.dup2(2, 1)
    return output


def limit_process(memory: int, written: int) -> None:
    """Limit the address space, open files and the size of written files, as far as the system can."""
    sys.dont_write_bytecode = True  # a .pyc that is cut off at the limit would break the next import
    limits = ((resource.RLIMIT_AS, memory), (resource.RLIMIT_NOFILE, OPEN_FILES))
    for limit, value in (*limits, (resource.RLIMIT_FSIZE, written), (resource.RLIMIT_CORE, 0)):
        with contextlib.suppress(OSError, ValueError):
            resource.setrlimit(limit, (value, value))


def answer_requests(output: int, walls: Walls, *, may_write: bool, is_rare: bool) -> None:
    """Let a fork answer each request; the next one is forked before its request comes, unless requests are rare.

    Requests and answers are in one buffer that is wiped, because each fork has a copy of this process's memory.
    """
    fork: Fork | None = None
    buffer = bytearray(REQUEST_LIMIT)
    start = make_start(walls, may_write=may_write)
    while size := read_request(buffer):
        if import_decoders(read_head(buffer, size)):
            start = make_start(walls, may_write=may_write)
            if fork:
                fork.stop()  # it would have to import them itself
                fork = None
        answer_request(fork or start(), buffer, size, output)
        fork = None if is_rare else start()


def make_start(walls: Walls, *, may_write: bool) -> Callable[[], Fork]:
    """What starts a fork. Libraries are listed here, because forks would copy all that this touches."""
    return partial(start_fork, partial(prepare, walls, list_libraries(), may_write=may_write))


def read_request(buffer: bytearray) -> int:
    """Read one line into the buffer: its length, 0 at the end or if it is too long."""
    size, view = 0, memoryview(buffer)
    while not size or not buffer.endswith(b"\n", 0, size):
        count = os.readv(0, [view[size:]])
        if not count:
            return 0
        size += count
    return size


def read_head(buffer: bytearray, size: int) -> Message:
    """The fields of a request that this process needs: neither paths nor what a chart shows."""
    return {name.decode(): json.loads(value) for name, value in HEAD.findall(buffer, 0, size)}


def answer_request(fork: Fork, buffer: bytearray, size: int, output: int) -> None:
    """Pass on the answer of a fork, or say that there is none."""
    head = read_head(buffer, size)
    with contextlib.suppress(BrokenPipeError):
        write_all(fork.requests, memoryview(buffer)[:size])
    buffer[:size] = bytes(size)
    is_whole = fork.pass_on(output, buffer, head["seconds"] + 5, head.get("folder"))
    if not is_whole:  # a line that breaks off is no JSON, which counts as a death
        write_all(output, (b"" if is_whole is False else json.dumps(STOPPED).encode()) + b"\n")
    fork.reap()  # its memory is given back while the parent reads


def import_decoders(request: Message) -> bool:
    """Import what a request needs, so that forks have it; whether anything was new."""
    count = len(sys.modules)
    with contextlib.suppress(Exception):  # a field that isn't known here, or an error that the fork meets and reports
        find_task(request)
    with contextlib.suppress(Exception):
        load_shared_state()
    return len(sys.modules) > count


def load_shared_state() -> None:
    """Load what libraries in use would otherwise load in each fork: Pillow's formats, the names of PDFium's fonts."""
    if "PIL.Image" in sys.modules:
        sys.modules["PIL.Image"].init()
    if "showandtell.media.documents" in sys.modules:
        sys.modules["showandtell.media.documents"].load_fonts()


def prepare(walls: Walls, libraries: list[str], *, may_write: bool) -> Handler:
    """Get ready for one request, in the fork."""
    return partial(handle_line, InnerWalls(walls, libraries, may_write=may_write))


def handle_line(walls: InnerWalls, line: bytes) -> bytes:
    """The response to the request in a line, within the walls."""
    request = json.loads(line)
    walls.raise_for(request.get("path"), request.get("folder"))
    response = {"result": to_builtins(walls.walls)} if request["task"] == "walls" else handle_request(request)
    # Half of a surrogate pair, as damaged documents have it, is no text.
    return json.dumps(response, ensure_ascii=False).encode(errors="replace") + b"\n"


def handle_request(request: Message) -> Message:
    """Run the task: `{"result": …}`, or `{"problem": …, "advice": …}` as text that follows the file's name."""
    # The parent kills this process at its own limit; the alarm is for when the parent no longer exists.
    signal.setitimer(signal.ITIMER_REAL, request["seconds"] + 5)
    try:
        return {"result": find_task(request)()}
    except BadFile as error:
        return refuse(error.problem, error.advice, request["path"]) | {"passing": error.passing}
    except Exception as error:  # noqa: BLE001 - decoders raise anything, and a bad file must not end the process
        return refuse(*explain(error, request.get("media_type", "")), request["path"])
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


def find_task(request: Message) -> Callable[[], Any]:
    """The function for a request; its decoders are imported at first use."""
    match request["task"]:
        case "probe" | "describe" as task:
            return partial(load_reader(task, request["media_type"]), request["path"], request["media_type"])
        case "convert":
            from showandtell.media.convert import load_converter, load_package  # noqa: PLC0415 - imported at first use

            tempfile.tempdir = request["folder"]  # temporary files of libraries go there
            if function := request.get("converter"):
                converter = load_package(function, request["becomes"], request["conversion"])
            else:
                converter = load_converter(request["media_type"], request["conversion"])
            return partial(converter, request["path"], folder=request["folder"])
        case "strip":
            from showandtell.media.convert.location import strip_location  # noqa: PLC0415 - imported at first use

            return partial(strip_location, request["path"], request["media_type"], request["folder"])
        case "draw_chart":
            from showandtell.media.draw import draw_chart  # noqa: PLC0415 - imported at first use

            return partial(draw_chart, request["title"], request["values"], request["labels"])
        case "draw_probe":
            from showandtell.media.cards import draw_probe  # noqa: PLC0415 - imported at first use

            return partial(draw_probe, request["kind"], request["codes"], request["shapes"])
        case _:
            from showandtell.media.ocr import read_text  # noqa: PLC0415 - imported at first use

            return partial(read_text, request["path"], request["media_type"])


def refuse(problem: str, advice: str, path: str) -> Message:
    """A response that reports a problem; the path in a decoder's message must not reach users and models."""
    return {"problem": problem.replace(path, "the file")[:300], "advice": advice}


if __name__ == "__main__":
    main(sys.argv[1:])
