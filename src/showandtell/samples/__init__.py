"""Sample files: an invoice, a guide, a table, two drawings and a chime, made by `docs/samples/make_samples.py`."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path


def folder() -> Path:
    """Return the folder with invoice.pdf, guide.pdf, visitors.csv, harbour.png, kiwi.jpg and chime.wav.

    >>> from showandtell.samples import folder
    >>> sorted(path.name for path in folder().iterdir() if path.suffix in {".pdf", ".csv", ".png", ".jpg", ".wav"})
    ['chime.wav', 'guide.pdf', 'harbour.png', 'invoice.pdf', 'kiwi.jpg', 'visitors.csv']
    """
    return Path(str(files(__name__)))
