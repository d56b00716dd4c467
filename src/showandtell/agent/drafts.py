"""The user's side of a run as messages to store: a text with its files, and answers to waiting calls."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path

from showandtell.core.collect.entry import collect
from showandtell.core.collect.sanitize import clean
from showandtell.core.messages.file import File
from showandtell.core.messages.message import Draft
from showandtell.core.messages.parts import Approval
from showandtell.errors import BadInput


def new_drafts(text: object, files: Iterable[File], approvals: Mapping[str, bool] | None) -> list[Draft]:
    """The arguments of `Agent.run` as messages, if any. Raises `BadInput` for files that aren't `File`s."""
    answers = tuple(Approval(call_id, yes) for call_id, yes in (approvals or {}).items())
    message = user_draft(text, files)
    return [*([Draft("user", answers)] if answers else []), *([message] if message is not None else [])]


def user_draft(text: object, files: Iterable[File]) -> Draft | None:
    """The user's message as a draft; None if it is empty. Raises `BadInput` for files that aren't `File`s."""
    if isinstance(files, File | str | bytes | Path):
        raise BadInput("files takes a list of File: write files=[File.from_path(...)]")
    attached = tuple(files)
    for file in attached:
        if not isinstance(file, File):  # pyright: ignore[reportUnnecessaryIsInstance] - callers need not be typed
            raise BadInput(f"files takes File values, not {type(file).__name__}: write File.from_path({file!r:.80})")
    fresh = (replace(file, number=None) for file in attached)  # a file that is attached again gets a new number
    parts = (*(collect(text) if text is not None else ()), *fresh)
    return clean(Draft("user", parts)) if parts else None
