"""Google's own SDK, with images in function responses."""

from __future__ import annotations

import httpx2
from google import genai
from google.genai import types
from sink import ASKED, arrive, calls, report


def answer(request: httpx2.Request) -> httpx2.Response:
    arrive(request.read())
    parts = [{"text": "Nothing."}]
    return httpx2.Response(200, json={"candidates": [{"content": {"role": "model", "parts": parts}}]})


options = types.HttpOptions(httpx_client=httpx2.Client(transport=httpx2.MockTransport(answer)))
client = genai.Client(api_key="none", http_options=options)


def work() -> None:
    uses, results = [], []
    for call_id, path in calls():
        blob = types.FunctionResponseBlob(mime_type="image/png", data=path.read_bytes())
        shown = [types.FunctionResponsePart(inline_data=blob)]
        response = types.FunctionResponse(id=call_id, name="plot", response={"output": "drawn"}, parts=shown)
        uses.append(types.Part(function_call=types.FunctionCall(id=call_id, name="plot", args={})))
        results.append(types.Part(function_response=response))
    contents = [
        types.Content(role="user", parts=[types.Part(text=ASKED)]),
        types.Content(role="model", parts=uses),
        types.Content(role="user", parts=results),
    ]
    client.models.generate_content(model="gemini-3-flash-preview", contents=contents)


report("google-genai", "tool results", work)
