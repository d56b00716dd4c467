"""Creates folders that only their owner can read."""

from __future__ import annotations

from pathlib import Path


def make_private_folder(path: Path) -> None:
    """Create a folder and its missing parents with mode 0700. An existing folder keeps its mode.

    What is stored in an existing folder is private by its own mode, so others see no more than names. Raises `OSError`.
    """
    if not path.parent.exists():
        make_private_folder(path.parent)
    path.mkdir(0o700, exist_ok=True)
