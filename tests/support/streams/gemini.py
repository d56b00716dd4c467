"""Recorded responses of the Gemini API."""

import base64
import json

PNG = b"\x89PNG\xfb\xff\xfe"

STANDARD = base64.b64encode(PNG).decode()


def sse(*chunks, line="\r\n"):
    return b"".join(b"data: %s%s" % (encode(chunk), (line * 2).encode()) for chunk in chunks)


def encode(value):
    return json.dumps(value, ensure_ascii=False).encode()


def chunk_of(*parts, reason=None, **more):
    candidate = {"content": {"parts": list(parts), "role": "model"}, "index": 0}
    return {"candidates": [candidate | ({"finishReason": reason} if reason else {})], **more, "modelVersion": "m"}


def text(value, **more):
    return {"text": value, **more}


def call(name="draw", signature=None, **more):
    signed = {"thoughtSignature": signature} if signature else {}
    return {"functionCall": {"name": name, **more}, **signed}


def partial(path, **more):
    return {"jsonPath": path, **more}


def count(prompt, answer, **more):
    return {"usageMetadata": {"promptTokenCount": prompt, "candidatesTokenCount": answer, **more}}


DETAILS = [
    {"modality": "TEXT", "tokenCount": 20},
    {"modality": "IMAGE", "tokenCount": 5},
    {"modality": "AUDIO"},
    {"modality": "MODALITY_UNSPECIFIED", "tokenCount": 3},
]

USAGE = count(25, 9, thoughtsTokenCount=4, cachedContentTokenCount=5, promptTokensDetails=DETAILS)

SIZE = '{"size": 2, "of": ["kiwi 🥝", null]}'

CHUNKS = (
    chunk_of(text("A kiwi, ", thought=True), **count(25, 0)),
    chunk_of(text("I think.", thought=True), **count(25, 0)),
    chunk_of(text("Ça, c'est a "), **count(25, 4)),
    chunk_of(text("kiwi 🥝"), **count(25, 9)),
    chunk_of(text("", thoughtSignature="c2ln"), **count(25, 9)),
    chunk_of(call(id="fc_1", args=json.loads(SIZE), signature="EqQB"), call(args={}), **count(25, 9)),
    chunk_of({"inlineData": {"mimeType": "image/png", "data": STANDARD}}),
    chunk_of(text(""), reason="STOP", **USAGE),
)

STREAM = sse(*CHUNKS)

STREAMED = (
    chunk_of(call("paint", "EqQB", willContinue=True)),
    chunk_of(call(None, partialArgs=[partial("$.of", stringValue="a ki", willContinue=True)], willContinue=True)),
    chunk_of(call("paint", partialArgs=[partial("$.of", stringValue="wi")], willContinue=True)),
    chunk_of(call(None, partialArgs=[partial("$.of"), partial("$['in box'][0].x", numberValue=50)], willContinue=True)),
    chunk_of(call(None, partialArgs=[partial('$["in box"][0].y', boolValue=True)], willContinue=True)),
    chunk_of(call(None, partialArgs=[partial("$['in box'][1]", nullValue=None)], willContinue=True)),
    chunk_of({"functionCall": {}}),
    chunk_of(reason="STOP"),
)
