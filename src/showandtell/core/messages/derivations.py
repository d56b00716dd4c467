"""What is known about a file besides its facts: conversions, uploads, signed URLs and rejections."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

from msgspec import Struct

from showandtell.checking.checked import Checked
from showandtell.core.messages.attachments import Address, Facts


class DerivationRequest(Checked, Struct, frozen=True, gc=False):
    """A derivative of the file with this hash that the plan could use.

    `scope`: the `Target.upload_scope` of an upload, the `Target.rejection_scope` of a rejection, None for a conversion
    or a signed URL.
    """

    sha256: str
    conversion: str
    scope: str | None = None


class Derivative(Checked, Struct, frozen=True, gc=False):
    """The result of a conversion: files or text; of an upload: `file_id`; of a signed URL: `url`.

    Args:
        scale: below 1 if pixels were lost, above 1 if the image was enlarged.
        pages: the pages that it shows.
        times: the seconds of its frames.
        total: the pages or seconds of the original.
        cut: the end of a text or of audio is missing.
        by: who made the words of a description, such as a model's name. Empty for all others.
        expires: when `file_id` or `url` expires, in epoch seconds of our own clock; None if unknown. Callers drop
            expired derivatives before they plan, because the plan uses no clock.
        is_own: the provider made the file itself, so its id is used without any setting.
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
    by: str = ""
    is_own: bool = False


class Link(Struct, frozen=True):
    """A URL at which a provider may fetch a stored file. `expires` is in epoch seconds; None: never."""

    url: str
    expires: float | None = None


def rejections(file: Facts | Address, scope: str) -> tuple[DerivationRequest, ...]:
    """The keys in `Derivations` for a file that a provider rejected; `scope` is `Target.rejection_scope`."""
    places = ("tool_result", "user", "answer")
    return tuple(DerivationRequest(file.sha256, f"original/{place}", scope) for place in places)


class Failed(Checked, Struct, frozen=True, gc=False):
    """A failed conversion or a provider's rejection, with evidence. `passing`: the next run may try again.

    Args:
        retry_smaller: the provider may accept a smaller or newly encoded copy of the rejected file.
    """

    reason: str
    evidence: str = ""
    passing: bool = False
    retry_smaller: bool = False


Derivations: TypeAlias = Mapping[DerivationRequest, Derivative | Failed]
