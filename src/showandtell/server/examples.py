"""What a newcomer may try: three prompts with files of ours, which also the inspector answers well, without any key."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter
from msgspec import Struct, to_builtins
from pydantic import ConfigDict
from starlette.responses import Response

from showandtell import samples
from showandtell.core.messages.file import File
from showandtell.errors import NotFound
from showandtell.server.auth.authenticate import CurrentUser
from showandtell.server.files.attachments import found_json, link_for
from showandtell.server.schemas import PENDING, AttachmentShape, Shape, answer, errors
from showandtell.server.state import CurrentServer

router = APIRouter(prefix="/api/examples", tags=["examples"])


class Example(Struct, frozen=True):
    """A prompt: its card's title, its words, and the names of the samples that go with it."""

    name: str
    title: str
    text: str
    files: tuple[str, ...] = ()


EXAMPLES = (
    Example(
        "chart",
        "Draw a chart",
        'Draw a bar chart titled "Visitors from Monday to Friday" with the values 120, 95, 140, 180 and 230.',
    ),
    Example("invoice", "Read an invoice", "What is the total of this invoice, and when is it due?", ("invoice.pdf",)),
    Example(
        "pictures",
        "Compare two pictures",
        "Compare these two pictures: what do they have in common, and how do they differ?",
        ("harbour.png", "kiwi.jpg"),
    ),
)
BY_NAME = {one.name: one for one in EXAMPLES}
INVOICES: dict[str, Any] = {**to_builtins(BY_NAME["invoice"]), "files": ["invoice.pdf"]}


class ExampleShape(Shape):
    """A prompt to try, and the names of the files that go with it."""

    model_config = ConfigDict(json_schema_extra={"examples": [INVOICES]})

    name: str
    title: str
    text: str
    files: list[str]


class ExamplesShape(Shape):
    """All of them."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"examples": [INVOICES]}]})

    examples: list[ExampleShape]


class PreparedShape(Shape):
    """What to send: the words, and the uploads that belong to the message."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"text": INVOICES["text"], "attachments": [PENDING]}]})

    text: str
    attachments: list[AttachmentShape]


@router.get("", operation_id="list_examples", responses={200: {"model": ExamplesShape}, **errors()})
async def list_examples(user: CurrentUser) -> Response:
    """List what one may try."""
    del user
    return answer({"examples": EXAMPLES})


@router.post(
    "/{name}",
    operation_id="prepare_example",
    status_code=201,
    responses={201: {"model": PreparedShape}, **errors(404, 507)},
)
async def prepare_example(here: CurrentServer, user: CurrentUser, name: str) -> Response:
    """Upload the files of an example as yours, for a message with its words."""
    found = BY_NAME.get(name)
    if found is None:
        raise NotFound(f"there is no example {name[:40]!r}: there are {', '.join(BY_NAME)}")
    uploads, link = here.store.uploads(user.name), link_for(here, user)
    files: list[dict[str, Any]] = [
        found_json(await uploads.add(File.from_path(samples.folder() / one)), link) for one in found.files
    ]
    return answer({"text": found.text, "attachments": files}, 201)
