"""AWS's own SDK: Converse, with images in tool results."""

from __future__ import annotations

import json
from io import BytesIO

import boto3
from botocore.awsrequest import AWSResponse
from sink import ASKED, arrive, calls, report

session = boto3.Session(aws_access_key_id="none", aws_secret_access_key="none", region_name="us-east-1")  # noqa: S106 - no key
client = session.client("bedrock-runtime")
ANSWER = {
    "output": {"message": {"role": "assistant", "content": [{"text": "Nothing."}]}},
    "stopReason": "end_turn",
    "usage": {"inputTokens": 1, "outputTokens": 1, "totalTokens": 2},
    "metrics": {"latencyMs": 1},
}


class Raw(BytesIO):
    """A body as urllib3 gives it."""

    def stream(self, **_: object) -> list[bytes]:
        """Everything in one piece."""
        return [self.read()]


def answer(request: object, **_: object) -> AWSResponse:
    arrive(request.body)
    return AWSResponse(request.url, 200, {"content-type": "application/json"}, Raw(json.dumps(ANSWER).encode()))


client.meta.events.register("before-send.bedrock-runtime.*", answer)


def work() -> None:
    uses, results = [], []
    for call_id, path in calls():
        image = {"image": {"format": "png", "source": {"bytes": path.read_bytes()}}}
        uses.append({"toolUse": {"toolUseId": call_id, "name": "plot", "input": {}}})
        results.append({"toolResult": {"toolUseId": call_id, "content": [image]}})
    messages = [
        {"role": "user", "content": [{"text": ASKED}]},
        {"role": "assistant", "content": uses},
        {"role": "user", "content": results},
    ]
    client.converse(modelId="us.anthropic.claude-sonnet-4-5-20250929-v1:0", messages=messages)


report("boto3", "tool results", work)
