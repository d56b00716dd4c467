"""A witness beside the whole suite: it hears every log from DEBUG on, and fails the run where one tells a key or bytes.

`make overheard` runs it; it takes as long as `make test`.
"""

from __future__ import annotations

import logging
import os
import re
from typing import Any

import pytest

#: What the tests use for keys, tokens and passwords that nobody may tell.
SECRETS = re.compile(r"canary|geheim|bench-token|devtoken", re.IGNORECASE)
#: Bytes as base64, hexadecimal digits or the like: no hash, id or name is that long.
BYTES = re.compile(r"[A-Za-z0-9+/_-]{257,}={0,2}")
#: Whose logs these are: what we write, and what the libraries do that the product uses.
OURS = (
    "showandtell",
    "aiohttp",
    "asyncio",
    "uvicorn",
    "fastapi",
    "starlette",
    "sqlalchemy",
    "alembic",
    "obstore",
    "PIL",
)


class Overhearing(logging.Handler):
    """Notes what must not have been told, and in which test it was."""

    def __init__(self) -> None:
        super().__init__(logging.DEBUG)
        self.heard = 0
        self.told: dict[tuple[str, str, str], None] = {}

    def emit(self, record: logging.LogRecord) -> None:
        """As `logging.Handler`."""
        if record.name.partition(".")[0] not in OURS:
            return
        self.heard += 1
        words = self.format(record)
        for found in (SECRETS.search(words), BYTES.search(words)):
            if found is not None:
                test = os.environ.get("PYTEST_CURRENT_TEST", "").partition(" ")[0]
                self.told[(test, record.name, words[max(0, found.start() - 80) : found.start() + 80])] = None


witness = Overhearing()


def pytest_configure(config: pytest.Config) -> None:
    """Hear all that is said."""
    del config
    logging.root.addHandler(witness)
    logging.root.setLevel(logging.DEBUG)


def pytest_runtest_setup(item: Any) -> None:
    """Tests may have set another level."""
    del item
    logging.root.setLevel(logging.DEBUG)
    if witness not in logging.root.handlers:
        logging.root.addHandler(witness)


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """Fail where anything was told."""
    tell = session.config.get_terminal_writer().line
    tell(f"\n{witness.heard} records were heard.")
    for test, name, words in witness.told:
        tell(f"{test}: {name} told {words!r}")
    if witness.told or not witness.heard:
        session.exitstatus = 1
