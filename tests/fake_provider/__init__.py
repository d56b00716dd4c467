"""The inspector's strict houses behind a socket, with what real providers have besides: keys, faults and blind spots.

`async with Standin(faults=[...]) as standin:` in a test, `python -m tests.fake_provider` in a shell.
"""

from .auth import AWS_BEARER, AWS_KEY, AWS_SECRET, KEYS, TOKEN
from .blindness import RECORDED_BLINDNESS, Blindness, blind
from .faults import FAULTS, Fault, Planned, read_fault
from .ledger import Received, Sight
from .recorded import RECORDED, WITHOUT_EYES, Rejection, reject_files
from .server import Standin

__all__ = [
    "AWS_BEARER",
    "AWS_KEY",
    "AWS_SECRET",
    "FAULTS",
    "KEYS",
    "RECORDED",
    "RECORDED_BLINDNESS",
    "TOKEN",
    "WITHOUT_EYES",
    "Blindness",
    "Fault",
    "Planned",
    "Received",
    "Rejection",
    "Sight",
    "Standin",
    "blind",
    "read_fault",
    "reject_files",
]
