"""What is known beside a file: conversions, uploads and links that were made of it, and what was refused."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

from msgspec import Struct

from showandtell.core.messages.attachments import Address, Facts


class DerivationRequest(Struct, frozen=True):
    """A variant that the plan could use.

    `at`: the `Target.upload_scope` of an upload, the `Target.at` of a rejection, None for a conversion or a link.
    """

    sha256: str
    conversion: str
    at: str | None = None


class Derivative(Struct, frozen=True):
    """What a conversion gave: files, or text; `scale` is below 1 where pixels were lost, above where it was enlarged.

    `pages` are the pages that it shows, `times` the seconds of its frames, `total` the pages or seconds of the
    original; `cut` says that the end of a text or a sound is missing.

    Of an upload it is `file_id`, of a link `url`: both live until `expires`, in epoch seconds of our own clock, where
    that is known. Whoever plans forgets what has expired before; the plan itself looks at no clock.
    """

    files: tuple[Facts, ...] = ()
    text: str | None = None
    file_id: str | None = None
    scale: float = 1.0
    url: str | None = None
    expires: float | None = None
    pages: tuple[int, ...] = ()
    times: tuple[float, ...] = ()
    total: float | None = None
    cut: bool = False


class Link(Struct, frozen=True):
    """A URL by which a provider may fetch a file of ours; it lives until `expires`, in epoch seconds, if it ends."""

    url: str
    expires: float | None = None


def rejections(file: Facts | Address, at: str) -> tuple[DerivationRequest, DerivationRequest]:
    """Under which keys `Derivations` holds that a provider took a file in no place; `at` is `Target.at`."""
    return (
        DerivationRequest(file.sha256, "original/tool_result", at),
        DerivationRequest(file.sha256, "original/user", at),
    )


class Failed(Struct, frozen=True):
    """A conversion that didn't work, or a provider's rejection, and how we know. `passing`: a next run may try anew."""

    reason: str
    evidence: str = ""
    passing: bool = False


Derivations: TypeAlias = Mapping[DerivationRequest, Derivative | Failed]
