"""Answers of the Gemini API, as they were recorded."""

import base64
import json

PNG = b"\x89PNG\xfb\xff\xfe"

STANDARD = base64.b64encode(PNG).decode()


def sse(*chunks, line="\r\n"):
    return b"".join(b"data: %s%s" % (spell(chunk), (line * 2).encode()) for chunk in chunks)


def spell(value):
    return json.dumps(value, ensure_ascii=False).encode()


def say(*parts, reason=None, **more):
    candidate = {"content": {"parts": list(parts), "role": "model"}, "index": 0}
    return {"candidates": [candidate | ({"finishReason": reason} if reason else {})], **more, "modelVersion": "m"}


def text(words, **more):
    return {"text": words, **more}


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

TOLD = count(25, 9, thoughtsTokenCount=4, cachedContentTokenCount=5, promptTokensDetails=DETAILS)

SIZE = '{"size": 2, "of": ["kiwi 🥝", null]}'

CHUNKS = (
    say(text("A kiwi, ", thought=True), **count(25, 0)),
    say(text("I think.", thought=True), **count(25, 0)),
    say(text("Ça, c'est a "), **count(25, 4)),
    say(text("kiwi 🥝"), **count(25, 9)),
    say(text("", thoughtSignature="c2ln"), **count(25, 9)),
    say(call(id="fc_1", args=json.loads(SIZE), signature="EqQB"), call(args={}), **count(25, 9)),
    say({"inlineData": {"mimeType": "image/png", "data": STANDARD}}),
    say(text(""), reason="STOP", **TOLD),
)

STREAM = sse(*CHUNKS)

STREAMED = (
    say(call("paint", "EqQB", willContinue=True)),
    say(call(None, partialArgs=[partial("$.of", stringValue="a ki", willContinue=True)], willContinue=True)),
    say(call("paint", partialArgs=[partial("$.of", stringValue="wi")], willContinue=True)),
    say(call(None, partialArgs=[partial("$.of"), partial("$['in box'][0].x", numberValue=50)], willContinue=True)),
    say(call(None, partialArgs=[partial('$["in box"][0].y', boolValue=True)], willContinue=True)),
    say(call(None, partialArgs=[partial("$['in box'][1]", nullValue=None)], willContinue=True)),
    say({"functionCall": {}}),
    say(reason="STOP"),
)
