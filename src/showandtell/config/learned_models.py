"""What requests have taught about models: a file that all programs of a user share, for a day.

An entry belongs to a base URL, a model and an account, because two servers may run different models under one name.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path

import msgspec

from showandtell.config.user_settings import read_optional, state_folder, write_atomically
from showandtell.core.capabilities.modalities import ListedWindow, MessageField, Modality
from showandtell.errors import BadInput

FILE = "models.json"
#: Seconds for which an entry counts.
LIFETIME = 24 * 3600.0
#: Seconds between two questions to a host that doesn't answer.
PAUSE = 300.0


class ModelKey(msgspec.Struct, frozen=True):
    """A model at a host, for one account. model: `provider:model`. account: a fingerprint, never a key."""

    base_url: str
    model: str
    account: str = ""


class LearnedModel(msgspec.Struct, frozen=True):
    """What is known about one model."""

    key: ModelKey
    modalities: tuple[Modality, ...]
    window: ListedWindow | None = None
    fields: tuple[MessageField, ...] = ()


class LearnedModels:
    """The file of learned models. A file that can't be written is replaced by the memory of this object.

    `clock` gives epoch seconds.
    """

    def __init__(self, path: Path, clock: Callable[[], float] = time.time) -> None:
        self._path = path
        self._clock = clock
        self._read: tuple[tuple[int, int], Sequence[LearnedModel]] = ((0, 0), ())
        self._unwritten: Sequence[LearnedModel] = ()
        self._asked: dict[ModelKey, float] = {}

    @property
    def all(self) -> tuple[LearnedModel, ...]:
        """Everything that still counts."""
        fresh = map(self._fresh, (*self._stored(), *self._unwritten))
        return tuple(model for model in fresh if model.modalities or model.fields or model.window is not None)

    def find(self, key: ModelKey) -> LearnedModel:
        """What still counts of a model. Costs a `stat` unless the file has changed."""
        known = next((model for model in (*self._stored(), *self._unwritten) if model.key == key), None)
        return LearnedModel(key, ()) if known is None else self._fresh(known)

    def learn(
        self,
        key: ModelKey,
        modalities: Iterable[Modality] = (),
        window: ListedWindow | None = None,
        fields: Iterable[MessageField] = (),
    ) -> None:
        """Keep modalities, a window and fields, each in place of an older one. Blocks while the file is written."""
        before = self.find(key)
        kinds = {modality.kind: modality for modality in (*before.modalities, *modalities)}
        names = {field.name: field for field in (*before.fields, *fields)}
        learned = LearnedModel(key, tuple(kinds.values()), window or before.window, tuple(names.values()))
        others = (model for model in self.all if model.key != key)
        self._write((*others, learned))

    def may_ask(self, key: ModelKey) -> bool:
        """Whether to ask a host about a model: not again within five minutes, if it doesn't tell."""
        now = self._clock()
        if now - self._asked.get(key, -PAUSE) < PAUSE:
            return False
        self._asked[key] = now
        return True

    def forget(self, model: str | None = None) -> tuple[LearnedModel, ...]:
        """Forget what is known about a model, `provider:model`, or about all. Returns what was forgotten."""
        everything = self.all
        self._asked.clear()
        forgotten = tuple(known for known in everything if model in {None, known.key.model})
        if forgotten:
            self._write(tuple(known for known in everything if known not in forgotten))
        return forgotten

    def _fresh(self, model: LearnedModel) -> LearnedModel:
        now = self._clock()
        modalities = tuple(modality for modality in model.modalities if modality.until > now)
        window = model.window if model.window is not None and model.window.until > now else None
        fields = tuple(field for field in model.fields if field.until > now)
        return LearnedModel(model.key, modalities, window, fields)

    def _write(self, models: Sequence[LearnedModel]) -> None:
        try:
            write_atomically(self._path, msgspec.json.format(msgspec.json.encode(models), indent=2))
            self._unwritten = ()
        except BadInput:  # a read-only home must not fail the run
            self._unwritten = models

    def _stored(self) -> Sequence[LearnedModel]:
        if self._unwritten:
            return ()
        try:
            status = self._path.stat()
        except OSError:
            return ()
        version = (status.st_mtime_ns, status.st_ino)
        if version != self._read[0]:
            self._read = (version, read_models(self._path))
        return self._read[1]


def learned_models(environ: Mapping[str, str] = os.environ) -> LearnedModels:
    """The learned models of this user: in one process always the same object."""
    return _shared(environ.get("XDG_STATE_HOME", ""), environ.get("HOME", ""))


@cache
def _shared(state: str, home: str) -> LearnedModels:
    return LearnedModels(state_folder({"XDG_STATE_HOME": state, "HOME": home}) / FILE)


def read_models(path: Path) -> Sequence[LearnedModel]:
    """The entries of a file. A damaged file counts as empty, because everything in it can be learned again."""
    try:
        return msgspec.json.decode(read_optional(path) or b"[]", type=tuple[LearnedModel, ...])
    except (BadInput, msgspec.DecodeError, UnicodeDecodeError):
        return ()
