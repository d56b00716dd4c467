"""Answers that need the text in images: waiting for OCR takes no thread, and ends after a while."""

from __future__ import annotations

import asyncio
import tempfile
import time
from pathlib import Path

from showandtell.errors import BadFile, TooBusy
from showandtell.inspector.answering.answer import answer
from showandtell.inspector.answering.report import FileReport, describe_text, examine, ocr_cache
from showandtell.inspector.request import ModelRequest, ReceivedFile, Reply
from showandtell.media import gate
from showandtell.media.turns import caller

BUSY = "text not read: OCR is busy with other pictures, ask again in a moment"


class UnreadImage(Exception):
    """An image that the answer needs the text of."""

    def __init__(self, data: bytes, media_type: str, sha256: str) -> None:
        super().__init__(sha256)
        self.data, self.media_type, self.sha256 = data, media_type, sha256


class Examiner:
    """Examines the files of one request, each once. Raises `UnreadImage` for an image that is not in `texts`."""

    def __init__(self) -> None:
        self.texts: dict[str, tuple[str, str] | BadFile] = {}
        self._reports: dict[tuple[str, int, bool], FileReport] = {}

    def __call__(self, file: ReceivedFile, index: int, *, read: bool) -> FileReport:
        """Describe a file. With `read`, also its text."""
        key = file.position, index, read
        if key not in self._reports:
            self._reports[key] = examine(file, index, read=read, read_image=self._find_text)
        return self._reports[key]

    def _find_text(self, path: Path, media_type: str, sha256: str) -> tuple[str, str]:
        if (known := ocr_cache.get(sha256)) is not None:
            return describe_text(sha256, known)
        found = self.texts.get(sha256)
        if found is None:
            raise UnreadImage(path.read_bytes(), media_type, sha256)
        if isinstance(found, BadFile):
            raise found
        return found


async def answer_in_turn(request: ModelRequest, seconds: float) -> Reply:
    """Answer a request in threads. It waits at most these seconds for OCR; images that are not read then say so."""
    examiner = Examiner()
    while True:
        try:
            return await asyncio.to_thread(answer, request, examiner)
        except UnreadImage as image:
            started = time.monotonic()
            try:
                async with gate.OCR.turns.awaited(caller.get().owner, max(0.0, seconds)) as place:
                    seconds -= time.monotonic() - started
                    reading = place.keep_for(asyncio.ensure_future(asyncio.to_thread(read_in_turn, image)))
                    examiner.texts[image.sha256] = await asyncio.shield(reading)
            except TooBusy:
                seconds = 0.0
                examiner.texts[image.sha256] = "", BUSY


def read_in_turn(image: UnreadImage) -> tuple[str, str] | BadFile:
    """Run OCR, for a caller that has a turn."""
    with tempfile.TemporaryDirectory(prefix="inspector-") as folder:
        path = Path(folder) / "file"
        path.write_bytes(image.data)
        try:
            return describe_text(image.sha256, gate.read_text_in(path, image.media_type, has_turn=True))
        except BadFile as error:
            return error
