"""Models that make files, and what they say then."""

import pytest

from support.inspector_requests import encode
from support.scripted import (
    CONVERSE,
    GEMINI,
    GPT,
    RESPONSES,
    STOPS,
    chunk,
    event,
    framed,
    frames,
    gemini_chunk,
)

ROUTER, VERTEX = "openrouter:google/gemini-2.5-flash-image", "vertex:gemini-2.5-flash-image"

#: Who makes pictures, and whose words it speaks.
SPEAKS = {GEMINI: GEMINI, VERTEX: GEMINI, RESPONSES: RESPONSES, ROUTER: GPT, CONVERSE: CONVERSE}

each_maker = pytest.mark.parametrize("model", SPEAKS)


def make(model, data, at):
    """The frames of one picture; None stands for one that is only an address, or was not made."""
    text = data and encode(data)
    match SPEAKS[model]:
        case _ if SPEAKS[model] == GEMINI:
            part = {"inlineData": {"mimeType": "image/png", "data": text}}
            link = {"fileData": {"mimeType": "image/png", "fileUri": "https://a.example/made.png"}}
            return [gemini_chunk(part if text else link)]
        case _ if SPEAKS[model] == GPT:
            url = f"data:image/png;base64,{text}" if text else "https://a.example/made.png"
            return [chunk({"images": [{"type": "image_url", "image_url": {"url": url}}]})]
        case _ if SPEAKS[model] == RESPONSES:
            made = {"result": text, "status": "completed"} if text else {"result": None, "status": "failed"}
            item = {"type": "image_generation_call", "id": "ig_1", "output_format": "png", **made}
            return [event("response.output_item.done", output_index=7 + at, item=item)]
        case _:
            source = {"source": {"bytes": text}} if text else {"error": {"message": "filtered"}}
            start = framed("contentBlockStart", contentBlockIndex=7 + at, start={"image": {"format": "png"}})
            delta = framed("contentBlockDelta", contentBlockIndex=7 + at, delta={"image": source})
            return [start, delta, framed("contentBlockStop", contentBlockIndex=7 + at)]


def draw(model, *pictures, calls=()):
    """An answer with words, pictures, and perhaps calls."""
    own = SPEAKS[model]
    spoken, last = frames("Here.", *calls, model=own), STOPS[own].last
    made = [frame for at, data in enumerate(pictures) for frame in make(model, data, at)]
    return b"".join([*spoken[:-last], *made, *spoken[-last:]])
