"""The decoding process, with hostile code in place of the decoders: `python -m support.hostile_child [--bare] …`.

With `--bare` it has no walls, to show that an attack works without them.
"""

import sys
import threading
from functools import partial

from showandtell.media import child
from showandtell.media.sandbox import Walls
from support import escapes


def find_task(request):
    name = request["task"]
    return partial(run_attack, escapes.ATTACKS.get(name) or getattr(escapes, name), request)


def run_attack(function, request):
    """`stopped` or `escaped`, and what happened."""
    if request.get("trickles"):
        threading.Thread(target=escapes.trickle, daemon=True).start()
    try:
        result = function(request)
        return ["escaped", result if isinstance(result, str | int | list) else repr(result)[:40]]
    except OSError as error:
        return ["stopped", str(error)]


if __name__ == "__main__":
    child.find_task = find_task
    if "--bare" in sys.argv:
        child.raise_outer_walls = Walls
    child.main(sys.argv[1:])
