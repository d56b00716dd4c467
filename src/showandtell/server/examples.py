"""Example prompts with sample files. They also work with the inspector, without any key."""

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
from showandtell.server.files.attachments import file_json
from showandtell.server.files.file_addresses import CurrentLink
from showandtell.server.files.receiving import all_or_none
from showandtell.server.schemas import PENDING, AttachmentShape, Shape, errors, json_response
from showandtell.server.state import CurrentServer

router = APIRouter(prefix="/api/examples", tags=["examples"])


class Example(Struct, frozen=True):
    """A prompt with the title of its card and the names of its sample files."""

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
BY_NAME = {example.name: example for example in EXAMPLES}
INVOICE_EXAMPLE: dict[str, Any] = {**to_builtins(BY_NAME["invoice"]), "files": ["invoice.pdf"]}


class ExampleShape(Shape):
    """An example prompt, and the names of its files."""

    model_config = ConfigDict(json_schema_extra={"examples": [INVOICE_EXAMPLE]})

    name: str
    title: str
    text: str
    files: list[str]


class ExamplesShape(Shape):
    """All example prompts."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"examples": [INVOICE_EXAMPLE]}]})

    examples: list[ExampleShape]


class PreparedShape(Shape):
    """The text and the uploads to send as a message."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"text": INVOICE_EXAMPLE["text"], "attachments": [PENDING]}]}
    )

    text: str
    attachments: list[AttachmentShape]


@router.get("", operation_id="list_examples", responses={200: {"model": ExamplesShape}, **errors()})
async def list_examples(user: CurrentUser) -> Response:
    """List the example prompts."""
    del user
    return json_response({"examples": EXAMPLES})


@router.post(
    "/{name}",
    operation_id="prepare_example",
    status_code=201,
    responses={201: {"model": PreparedShape}, **errors(404, 507)},
)
async def prepare_example(server: CurrentServer, user: CurrentUser, link: CurrentLink, name: str) -> Response:
    """Upload the files of an example as yours, to send them with its text."""
    example = BY_NAME.get(name)
    if example is None:
        raise NotFound(f"there is no example {name[:40]!r}: use one of {', '.join(BY_NAME)}")
    uploads = server.store.uploads(user.name)
    async with all_or_none(uploads) as received:
        for one in example.files:
            received.append(await uploads.add(File.from_path(samples.folder() / one)))
    return json_response({"text": example.text, "attachments": [file_json(file, link) for file in received]}, 201)
