"""The process that decodes media, and nothing else does: `python -m showandtell.media.child [--ocr | --convert]`.

Reads one JSON request a line, writes one JSON answer a line. Its limits are set before the first decoder is imported.
Only with `--convert` may it write files: into the folder that a request names, none above a limit.
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

Answer: TypeAlias = dict[str, Any]

#: Measured, address space (of which about 100 MiB are never touched): decoders loaded, 150 MiB; the largest picture of
#: any type that is taken, 530 to 590 MiB.
MEDIA_MEMORY = 704 << 20
#: Conversions hold what they make, too: a sheet of ten million cells, frames of 8K film.
CONVERT_MEMORY = 1 << 30
#: Measured: detection and recognition on two threads, 920 MiB.
OCR_MEMORY = 2 << 30
OPEN_FILES = 64
#: The most bytes of one file that a conversion may write; the sum of them is checked by who asked.
FILE_LIMIT = 64 << 20


def main(arguments: list[str]) -> None:
    """Answer until standard input ends."""
    answers = take_stdout()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if "--convert" in arguments:
        limit_process(CONVERT_MEMORY, FILE_LIMIT)
    else:
        limit_process(OCR_MEMORY if "--ocr" in arguments else MEDIA_MEMORY, 0)
    for line in sys.stdin:
        answers.write(json.dumps(answer_request(json.loads(line))) + "\n")
        answers.flush()


def take_stdout() -> TextIO:
    """Keep standard output for answers alone: what a library prints goes to standard error."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    return answers


def limit_process(memory: int, written: int) -> None:
    """Bound the address space, open files and the bytes of a file; a system without a limit goes without."""
    sys.dont_write_bytecode = True  # a module's cache that the limit cuts short would break the next import of it
    limits = ((resource.RLIMIT_AS, memory), (resource.RLIMIT_NOFILE, OPEN_FILES))
    for limit, value in (*limits, (resource.RLIMIT_FSIZE, written), (resource.RLIMIT_CORE, 0)):
        with contextlib.suppress(OSError, ValueError):
            resource.setrlimit(limit, (value, value))


def answer_request(request: Answer) -> Answer:
    """Do what is asked: `{"found": …}`, or `{"problem": …, "advice": …}` in words that follow the file's name."""
    # The parent kills us at its own limit; the alarm is for when the parent is gone.
    signal.setitimer(signal.ITIMER_REAL, request["seconds"] + 5)
    try:
        return {"found": find_task(request)()}
    except BadFile as error:
        return refuse(error.problem, error.advice, request["path"]) | {"passing": error.passing}
    except MemoryError:
        return refuse("needs more memory to decode than is allowed", "use a smaller version of it", request["path"])
    except Exception as error:  # noqa: BLE001 - decoders raise anything, and one file must not end the process
        words = f"can't be decoded ({type(error).__name__}: {error})"
        return refuse(words, "check that the file is whole, or save it anew", request["path"])
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


def find_task(request: Answer) -> Callable[[], Any]:
    """What a request asks for, its decoders imported now that they are needed."""
    match request["ask"]:
        case "prove":
            from showandtell.media.probe import probe_file  # noqa: PLC0415 - loaded at first need

            return partial(probe_file, request["path"], request["media_type"])
        case "describe":
            from showandtell.media.describe import describe_file  # noqa: PLC0415 - the same

            return partial(describe_file, request["path"], request["media_type"])
        case "make":
            from showandtell.media.convert import make  # noqa: PLC0415 - the same

            tempfile.tempdir = request["folder"]  # a library that wants a file for itself gets it there
            return partial(make, request["path"], request["media_type"], request["recipe"], request["folder"])
        case "strip":
            from showandtell.media.convert.location import strip_location  # noqa: PLC0415 - the same

            return partial(strip_location, request["path"], request["media_type"], request["folder"])
        case "draw":
            from showandtell.media.draw import draw_chart  # noqa: PLC0415 - the same

            return partial(draw_chart, request["title"], request["values"], request["labels"])
        case "probe":
            from showandtell.media.cards import draw_probe  # noqa: PLC0415 - the same

            return partial(draw_probe, request["kind"], request["codes"], request["shapes"])
        case _:
            from showandtell.media.ocr import read_words  # noqa: PLC0415 - the same

            return partial(read_words, request["path"], request["media_type"])


def refuse(problem: str, advice: str, path: str) -> Answer:
    """An answer that isn't one; a decoder's words may hold the path, which people and models have no use for."""
    return {"problem": problem.replace(path, "the file")[:300], "advice": advice}


if __name__ == "__main__":
    main(sys.argv[1:])
