"""The only process that decodes media: `python -m showandtell.media.child [--ocr | --convert]`.

Reads one JSON request per line and writes one JSON response per line. It limits itself before it imports a decoder.
Only with `--convert` may it write files: into the folder of the request, each within a size limit.
"""

from __future__ import annotations

import contextlib
import json
import os
import resource
import signal
import sys
import tempfile
from collections.abc import Callable
from functools import partial
from typing import Any, TextIO, TypeAlias

from showandtell.errors import BadFile
from showandtell.media.refusals import explain

Message: TypeAlias = dict[str, Any]

#: Measured, address space (about 100 MiB of it are never touched): decoders loaded, 150 MiB; the largest image that is
#: accepted, of any type, 530 to 590 MiB.
MEDIA_MEMORY = 704 << 20
#: Conversions also hold their output: a sheet of ten million cells, frames of 8K video.
CONVERT_MEMORY = 1 << 30
#: Measured: detection and recognition on two threads, 920 MiB.
OCR_MEMORY = 2 << 30
OPEN_FILES = 64
#: Maximum bytes of one file that a conversion writes; the parent checks the sum of all files.
FILE_LIMIT = 64 << 20


def main(arguments: list[str]) -> None:
    """Handle requests until standard input ends."""
    output = claim_stdout()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if "--convert" in arguments:
        limit_process(CONVERT_MEMORY, FILE_LIMIT)
    else:
        limit_process(OCR_MEMORY if "--ocr" in arguments else MEDIA_MEMORY, 0)
    for line in sys.stdin:
        output.write(json.dumps(handle_request(json.loads(line))) + "\n")
        output.flush()


def claim_stdout() -> TextIO:
    """Reserve standard output for responses: what a library prints goes to standard error."""
    output = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    return output


def limit_process(memory: int, written: int) -> None:
    """Limit the address space, open files and the size of written files, as far as the system can."""
    sys.dont_write_bytecode = True  # a .pyc that is cut off at the limit would break the next import
    limits = ((resource.RLIMIT_AS, memory), (resource.RLIMIT_NOFILE, OPEN_FILES))
    for limit, value in (*limits, (resource.RLIMIT_FSIZE, written), (resource.RLIMIT_CORE, 0)):
        with contextlib.suppress(OSError, ValueError):
            resource.setrlimit(limit, (value, value))


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
        case "probe":
            from showandtell.media.probe import probe_file  # noqa: PLC0415 - imported at first use

            return partial(probe_file, request["path"], request["media_type"])
        case "describe":
            from showandtell.media.describe import describe_file  # noqa: PLC0415 - imported at first use

            return partial(describe_file, request["path"], request["media_type"])
        case "convert":
            from showandtell.media.convert import make  # noqa: PLC0415 - imported at first use

            tempfile.tempdir = request["folder"]  # temporary files of libraries go there
            return partial(make, request["path"], request["media_type"], request["conversion"], request["folder"])
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
