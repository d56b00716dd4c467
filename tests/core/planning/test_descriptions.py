"""Words in place of pictures, as the planner sees them: only for models without eyes, only of files for a model."""

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from showandtell.agent.loader import may_be_described
from showandtell.core.capabilities.resolve import resolve
from showandtell.core.messages.derivations import Derivative
from showandtell.core.planning.conversions import sees_images
from showandtell.core.planning.plan import plan
from showandtell.core.planning.values import Policy, View
from support.blind import NO_EYES
from support.builders import Everything
from support.planned_conversations import MODELS, conversations, placed_in

DESCRIBING = Policy(describer="m:x", on_unsupported={"image": "convert"})
models = st.sampled_from(MODELS)


class Described(Everything):
    """A `Derivations` in which only descriptions succeed. `wanted` are their hashes."""

    def __init__(self):
        super().__init__()
        self.wanted = set()

    def get(self, want, default=None):
        if not want.conversion.startswith("description"):
            return super().get(want, default)
        self.wanted.add(want.sha256)
        return Derivative(text="words", by="m:x")


@st.composite
def partly_private(draw):
    """A conversation in which some files are for the user alone, kept out of requests, or not to be converted."""
    seen = draw(conversations())
    files = {
        number: replace(
            file,
            audience=draw(st.sampled_from(("both", "user"))),
            in_context=draw(st.booleans()),
            convert=draw(st.booleans()),
        )
        for number, file in seen.attachments.items()
    }
    return View(seen.messages, files, seen.answering)


@given(partly_private(), models)
def test_a_model_without_eyes_gets_words_and_never_the_bytes_of_a_picture(seen, model):
    known = Described()
    planned = plan(seen, resolve(model, NO_EYES), known, DESCRIBING)
    assert all(placed.file.kind != "image" for placed in placed_in(planned.entries))
    for receipt in planned.receipts:
        file = seen.attachments[receipt.number]
        if file.kind == "image" and may_be_described(file):
            assert (receipt.delivery, receipt.variant, receipt.cell) in {
                ("native", Derivative(text="words", by="m:x"), None),
                ("listed", None, None),
            }


@given(partly_private(), models)
def test_only_pictures_and_pages_that_a_model_may_see_are_described(seen, model):
    known = Described()
    plan(seen, resolve(model, NO_EYES), known, DESCRIBING)
    allowed = {
        file.facts.sha256
        for file in seen.attachments.values()
        if file.media_type.startswith("image/") or file.media_type == "application/pdf"
        if may_be_described(file)
    }
    assert known.wanted <= allowed


@given(partly_private(), models)
def test_nothing_is_described_for_a_model_that_sees_or_if_nobody_describes(seen, model):
    known = Described()
    target = resolve(model)
    plan(seen, target, known, DESCRIBING if sees_images(target) else Policy())
    assert known.wanted == set()
