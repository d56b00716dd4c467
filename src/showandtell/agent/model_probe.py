"""Asks a model about an image of 32 pixels, to find out if it takes images at all."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator
from contextlib import aclosing
from hashlib import sha256
from io import BytesIO

import pybase64
from msgspec.structs import replace

from showandtell.core.capabilities.cells import Target
from showandtell.core.messages.attachments import Attachment, Facts, Origin
from showandtell.core.messages.message import Message
from showandtell.core.messages.parts import Shown, Text
from showandtell.core.planning.plan import plan
from showandtell.core.planning.values import Policy, View
from showandtell.core.wire.options import Options
from showandtell.core.wire.request import Request, compose
from showandtell.errors import ProviderError
from showandtell.providers.exchange import Exchange
from showandtell.providers.retry import RetryPolicy, ask_with_retries

#: A grey PNG of 32 by 32 pixels.
IMAGE = pybase64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAACAAAAAgCAAAAABWESUoAAAAGElEQVR42mOcz0AAMP5nJKRgVMGoAtooAAD1GAF/Sk2ZbwAAAABJRU5ErkJggg=="
)
FACTS = Facts(sha256(IMAGE).hexdigest(), "image/png", len(IMAGE), pixels=(32, 32))
FILE = Attachment("att_probe", 1, "grey.png", Origin("user"), "2026-11-23", FACTS)
QUESTION = Message("probe", "user", (Text("Which colour is this image? Answer with one word."), Shown(1, FILE.id)))
#: Maximum length of the answer in tokens: the least that the Responses API accepts.
MAX_TOKENS = 16
#: Maximum seconds for the answer to begin.
TIMEOUT = 20.0
#: Statuses by which providers refuse a request for its content, or fail on it.
REFUSALS = frozenset({400, 404, 415, 422, 500, 501})


class ImageReader(BytesIO):
    """The bytes of the image, all in memory."""

    def read_cached(self, buffer: memoryview) -> int:
        """Read into the buffer."""
        return self.readinto(buffer)


class ProbeImage:
    """The bytes of the image, as a request reads them."""

    def chunks(self, facts: Facts, size: int) -> Iterator[memoryview]:  # noqa: ARG002 - as in `BlobReader`
        """Yield the bytes at once."""
        yield memoryview(IMAGE)

    def reader(self, files: Iterable[Facts]) -> ImageReader:  # noqa: ARG002 - as in `BlobReader`
        """Read the bytes."""
        return ImageReader(IMAGE)

    def read(self, facts: Facts) -> bytes:  # noqa: ARG002 - as in `BlobReader`
        """Return the bytes."""
        return IMAGE


def probe_request(target: Target, options: Options) -> Request | None:
    """A short request with the image; None if the table has no place for one."""
    planned = plan(View((QUESTION,), {1: FILE}), target, {}, Policy())
    if planned.wants or planned.receipts[0].place is None:
        return None
    short = replace(options, instructions="", tools=(), tool_choice="auto", schema=None, max_tokens=MAX_TOKENS)
    return compose(planned, target, short, ProbeImage())


async def takes_images(target: Target, options: Options, exchange: Exchange) -> tuple[bool, str] | None:
    """Whether a model takes an image, with the evidence. None if that can't be found out now."""
    request = probe_request(target, options)
    if request is None:
        return None
    try:
        async with asyncio.timeout(TIMEOUT):
            answer = ask_with_retries(exchange, request, RetryPolicy(tries=0), lambda _: None)
            async with aclosing(answer) as batches:
                async for _ in batches:
                    break
    except TimeoutError:
        return None
    except ProviderError as error:
        return (False, f"it refused an image of 32 pixels: {error}"[:300]) if error.status in REFUSALS else None
    return True, "it took an image of 32 pixels"
