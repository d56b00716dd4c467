"""Models that generate images, and their responses."""

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

#: Models that generate images, and the scripted model with the same wire format.
WIRE_OF = {GEMINI: GEMINI, VERTEX: GEMINI, RESPONSES: RESPONSES, ROUTER: GPT, CONVERSE: CONVERSE}

each_image_model = pytest.mark.parametrize("model", WIRE_OF)


def image_frames(model, data, index):
    """The frames of one image. If `data` is None, it is only a URL, or its generation failed."""
    text = data and encode(data)
    match WIRE_OF[model]:
        case _ if WIRE_OF[model] == GEMINI:
            part = {"inlineData": {"mimeType": "image/png", "data": text}}
            link = {"fileData": {"mimeType": "image/png", "fileUri": "https://a.example/made.png"}}
            return [gemini_chunk(part if text else link)]
        case _ if WIRE_OF[model] == GPT:
            url = f"data:image/png;base64,{text}" if text else "https://a.example/made.png"
            return [chunk({"images": [{"type": "image_url", "image_url": {"url": url}}]})]
        case _ if WIRE_OF[model] == RESPONSES:
            made = {"result": text, "status": "completed"} if text else {"result": None, "status": "failed"}
            item = {"type": "image_generation_call", "id": f"ig_{index}", "output_format": "png", **made}
            return [event("response.output_item.done", output_index=7 + index, item=item)]
        case _:
            source = {"source": {"bytes": text}} if text else {"error": {"message": "filtered"}}
            start = framed("contentBlockStart", contentBlockIndex=7 + index, start={"image": {"format": "png"}})
            delta = framed("contentBlockDelta", contentBlockIndex=7 + index, delta={"image": source})
            return [start, delta, framed("contentBlockStop", contentBlockIndex=7 + index)]


def draw(model, *pictures, calls=()):
    """An answer with text, images and calls."""
    own = WIRE_OF[model]
    spoken, last = frames("Here.", *calls, model=own), STOPS[own].last
    made = [frame for index, data in enumerate(pictures) for frame in image_frames(model, data, index)]
    return b"".join([*spoken[:-last], *made, *spoken[-last:]])
