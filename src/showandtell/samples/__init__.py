"""Our own sample files: an invoice (PDF), two drawn pictures, a chime. `docs/samples/make_samples.py` makes them."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path


def folder() -> Path:
    """The folder that holds invoice.pdf, harbour.png, kiwi.jpg and chime.wav."""
    return Path(str(files(__name__)))
