"""Models without eyes, and connections that reach several scripts by the model's name."""

from dataclasses import dataclass, field

from msgspec.structs import replace

from showandtell import Connection
from showandtell.core.capabilities.cells import Capability

#: Verdicts by which a model takes no image, in any place and form.
NO_EYES = tuple(
    Capability(place, "image", ("image/*",), form, "rejects", "for a test", "2026-11-26")
    for place in ("tool_result", "user")
    for form in ("inline", "url", "file_id")
)
#: No documents either.
NO_PAGES = (*NO_EYES, *(replace(cell, kind="document", media_types=("application/pdf",)) for cell in NO_EYES))


@dataclass(frozen=True, slots=True, kw_only=True)
class ScriptedModels(Connection):
    """A connection to the script of whichever model is asked."""

    scripts: dict = field(default_factory=dict)

    def open(self, target, transport):  # noqa: ARG002 - as in `Connection`
        return self.scripts[target.name].exchange
