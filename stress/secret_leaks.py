"""A plugin for the whole suite: checks every log record from DEBUG on, and fails the run if one contains a key or bytes.

`make leaks` runs it; it takes as long as `make test`.
"""

from __future__ import annotations

import logging
import os
import re
from typing import Any

import pytest

#: What the tests use for keys, tokens and passwords, which may not be logged.
SECRETS = re.compile(r"canary|geheim|bench-token|devtoken", re.IGNORECASE)
#: Bytes as base64, hexadecimal digits or the like: no hash, id or name is that long.
BYTES = re.compile(r"[A-Za-z0-9+/_-]{257,}={0,2}")
#: Loggers that are checked: the product's own and those of its libraries.
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


class SecretLeaks(logging.Handler):
    """Records leaked secrets and bytes, with the test that logged them."""

    def __init__(self) -> None:
        super().__init__(logging.DEBUG)
        self.checked = 0
        self.leaks: dict[tuple[str, str, str], None] = {}

    def emit(self, record: logging.LogRecord) -> None:
        """As `logging.Handler`."""
        if record.name.partition(".")[0] not in OURS:
            return
        self.checked += 1
        text = self.format(record)
        for found in (SECRETS.search(text), BYTES.search(text)):
            if found is not None:
                test = os.environ.get("PYTEST_CURRENT_TEST", "").partition(" ")[0]
                self.leaks[(test, record.name, text[max(0, found.start() - 80) : found.start() + 80])] = None


handler = SecretLeaks()


def pytest_configure(config: pytest.Config) -> None:
    """Check the records of all loggers."""
    del config
    logging.root.addHandler(handler)
    logging.root.setLevel(logging.DEBUG)


def pytest_runtest_setup(item: Any) -> None:
    """Restore the level and the handler, which tests may have changed."""
    del item
    logging.root.setLevel(logging.DEBUG)
    if handler not in logging.root.handlers:
        logging.root.addHandler(handler)


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """Fail if anything leaked, or no record was checked."""
    write_line = session.config.get_terminal_writer().line
    write_line(f"\n{handler.checked} records were checked.")
    for test, name, text in handler.leaks:
        write_line(f"{test}: {name} logged {text!r}")
    if handler.leaks or not handler.checked:
        session.exitstatus = 1
