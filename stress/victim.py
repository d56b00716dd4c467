"""Programs to be killed: for each line of JSON on stdin a process plays a scene, and what it told is written to stdout.

The processes are forked, for what they import takes longer than what they do.
"""

import json
import os
import sys
import traceback
from pathlib import Path

sys.path.insert(1, str(Path(__file__).parent.parent / "tests"))
import disk
import durable


def start(asked):
    """A process that plays a scene: its id, and where what it tells can be read."""
    reading, writing = os.pipe()
    process = os.fork()
    if process:
        os.close(writing)
        return process, reading
    os.close(reading)
    code = 1
    try:
        play(asked, writing)
        code = 0
    except BaseException:  # noqa: BLE001
        received = {"what": "raised", "error": traceback.format_exc()}
        os.write(writing, json.dumps(received).encode() + b"\n")
    finally:
        os._exit(code)


def play(asked, writing):
    """Play the scenario on a disk whose faults are set."""

    def tell(what, **more):
        os.write(writing, json.dumps({"what": what, **more}).encode() + b"\n")

    disk.arm(asked["mode"], asked["place"], asked["error"])
    durable.play(asked["scene"], Path(asked["folder"]), tell)
    tell("ended", calls=disk.disarm())


def recorded(reading):
    """What a process has told until its pipe was closed."""
    with os.fdopen(reading, "rb") as source:
        return [json.loads(line) for line in source.read().splitlines()]


def main():
    for line in sys.stdin:
        process, reading = start(json.loads(line))
        output = recorded(reading)
        os.waitpid(process, 0)
        sys.stdout.write(json.dumps(output) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
