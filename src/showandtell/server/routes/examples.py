"""Example prompts with sample files. They also work with the inspector, without any key."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter
from msgspec import Struct, to_builtins
from pydantic import ConfigDict
from starlette.responses import Response

from showandtell import samples
from showandtell.core.messages.file import File
from showandtell.errors import NotFound, UnknownModel
from showandtell.server.auth.authenticate import CurrentUser
from showandtell.server.files.attachments import file_json
from showandtell.server.files.file_addresses import CurrentLink
from showandtell.server.files.receiving import all_or_none
from showandtell.server.schemas import PENDING, AttachmentShape, Shape, errors, json_response
from showandtell.server.state import CurrentServer, Server

router = APIRouter(prefix="/api/examples", tags=["examples"])


class Example(Struct, frozen=True):
    """A prompt with the title of its card, the names of its sample files, and the tool that it needs.

    `models` are two that answer it, to be compared; empty for the user's own model.
    """

    name: str
    title: str
    text: str
    files: tuple[str, ...] = ()
    models: tuple[str, ...] = ()
    tool: str = ""


EXAMPLES = (
    Example(
        "chart",
        "Draw a chart",
        'Draw a bar chart titled "Visitors by day" from this table.',
        ("visitors.csv",),
        tool="chart",
    ),
    Example(
        "pages",
        "Read a PDF page by page",
        "Go through this PDF page by page: show each one, and sum it up.",
        ("guide.pdf",),
        tool="view_file",
    ),
    Example(
        "apis",
        "Give two APIs one picture",
        "Show me image 1 again, with view_file.",
        ("harbour.png",),
        models=("inspector:anthropic-messages", "inspector:openai-chat"),
        tool="view_file",
    ),
)
BY_NAME = {example.name: example for example in EXAMPLES}


def example_json(example: Example) -> dict[str, Any]:
    """An example as JSON."""
    shown = ("name", "title", "text", "files", "models")
    return {name: value for name, value in to_builtins(example).items() if name in shown}


PAGES_EXAMPLE: dict[str, Any] = {**example_json(BY_NAME["pages"]), "files": ["guide.pdf"], "models": []}


class ExampleShape(Shape):
    """An example prompt, the names of its files, and two models that answer it; none for the user's own."""

    model_config = ConfigDict(json_schema_extra={"examples": [PAGES_EXAMPLE]})

    name: str
    title: str
    text: str
    files: list[str]
    models: list[str]


class ExamplesShape(Shape):
    """All example prompts."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"examples": [PAGES_EXAMPLE]}]})

    examples: list[ExampleShape]


class PreparedShape(Shape):
    """The text and the uploads to send as a message."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"text": PAGES_EXAMPLE["text"], "attachments": [PENDING]}]}
    )

    text: str
    attachments: list[AttachmentShape]


@router.get("", operation_id="list_examples", responses={200: {"model": ExamplesShape}, **errors()})
async def list_examples(server: CurrentServer, user: CurrentUser) -> Response:
    """List the example prompts whose tool and models this server has."""
    del user
    tools = {tool.name for tool in await server.agents.available_tools()}
    found = [one for one in EXAMPLES if one.tool in tools and all(has_model(server, name) for name in one.models)]
    return json_response({"examples": [example_json(example) for example in found]})


def has_model(server: Server, name: str) -> bool:
    """Whether a message may name this model."""
    try:
        server.catalog.check(name)
    except UnknownModel:
        return False
    return True


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
