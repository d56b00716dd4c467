"""The inspector's hosts on a socket, plus what real providers have: API keys, faults and files that models don't see.

`async with FakeProvider(faults=[...]) as fake_provider:` in a test, `python -m tests.fake_provider` in a shell.
"""

from .auth import AWS_BEARER, AWS_KEY, AWS_SECRET, KEYS, TOKEN
from .blindness import RECORDED_BLINDNESS, Blindness, blind
from .faults import FAULTS, Fault, PlannedFault, read_fault
from .ledger import FileEntry, LedgerEntry
from .recorded import RECORDED, WITHOUT_MMPROJ, Rejection, reject_files
from .server import FakeProvider

__all__ = [
    "AWS_BEARER",
    "AWS_KEY",
    "AWS_SECRET",
    "FAULTS",
    "KEYS",
    "RECORDED",
    "RECORDED_BLINDNESS",
    "TOKEN",
    "WITHOUT_MMPROJ",
    "Blindness",
    "FakeProvider",
    "Fault",
    "FileEntry",
    "LedgerEntry",
    "PlannedFault",
    "Rejection",
    "blind",
    "read_fault",
    "reject_files",
]
