"""A provider that reads each request to its end and gives a short answer, in plain HTTP and in TLS.

It prints its ports by scheme. The answer is that of the API whose name is in the path or in the header `x-api`.
"""

from __future__ import annotations

import json
import socket
import ssl
import sys
import threading

MIB = 1 << 20
SCHEMES = ("http", "https")
TEXT = {"type": "text", "text": "Done."}
OUTPUT = {"type": "output_text", "text": "Done.", "annotations": [], "logprobs": []}
ITEM = {"id": "msg_1", "type": "message", "role": "assistant", "status": "completed", "content": [OUTPUT]}
ABOUT_RESPONSE = {"id": "resp_1", "object": "response", "created_at": 1, "status": "completed", "model": "gpt-5-mini"}
REST = {"output": [ITEM], "parallel_tool_calls": True, "tool_choice": "auto", "tools": []}
CHOICE = {"index": 0, "message": {"role": "assistant", "content": "Done."}, "finish_reason": "stop"}
ABOUT = {"id": "msg_1", "type": "message", "role": "assistant", "model": "claude-sonnet-4-5", "stop_sequence": None}
ANSWERS = {
    "anthropic-messages": {
        **ABOUT,
        "content": [TEXT],
        "stop_reason": "end_turn",
        "usage": {"input_tokens": 1, "output_tokens": 1},
    },
    "openai-chat": {
        "id": "chat_1",
        "object": "chat.completion",
        "created": 1,
        "model": "gpt-5-mini",
        "choices": [CHOICE],
        "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
    },
    "openai-responses": {**ABOUT_RESPONSE, **REST},
    "gemini": {
        "candidates": [{"content": {"role": "model", "parts": [{"text": "Done."}]}, "finishReason": "STOP", "index": 0}]
    },
    "bedrock-converse": {
        "output": {"message": {"role": "assistant", "content": [{"text": "Done."}]}},
        "stopReason": "end_turn",
        "usage": {"inputTokens": 1, "outputTokens": 1, "totalTokens": 2},
        "metrics": {"latencyMs": 1},
    },
}
#: How the paths of the APIs end.
PATHS = {
    "/messages": "anthropic-messages",
    "/chat/completions": "openai-chat",
    "/responses": "openai-responses",
    "generateContent": "gemini",
    "/converse": "bedrock-converse",
    "/converse-stream": "bedrock-converse",
}


def listen(certificate: str) -> None:
    """Listen on a port for each scheme, and print which."""
    tls = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    tls.load_cert_chain(certificate)
    listening = {scheme: socket.create_server(("127.0.0.1", 0)) for scheme in SCHEMES}
    print(json.dumps({scheme: item.getsockname()[1] for scheme, item in listening.items()}), flush=True)
    for scheme, item in listening.items():
        threading.Thread(target=accept, args=(item, tls if scheme == "https" else None)).start()


def accept(listening: socket.socket, tls: ssl.SSLContext | None) -> None:
    """Serve each connection in a thread."""
    while True:
        connection, _ = listening.accept()
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if tls is not None:
            connection = tls.wrap_socket(connection, server_side=True)
        threading.Thread(target=serve, args=(connection,), daemon=True).start()


def serve(connection: socket.socket) -> None:
    """Read requests, discard their bodies, and answer each."""
    buffer = bytearray(MIB)
    while head := read_head(connection):
        first, *lines = head.split("\r\n")
        path = first.split()[1].partition("?")[0]
        fields = {name.lower(): value for name, _, value in (line.partition(": ") for line in lines)}
        if fields.get("expect"):
            connection.sendall(b"HTTP/1.1 100 Continue\r\n\r\n")
        left = int(fields["content-length"])
        while left:
            left -= connection.recv_into(buffer, min(left, MIB))
        api = next(api for end, api in PATHS.items() if path.lower().replace(":", "/").endswith(end.lower()))
        output = json.dumps(ANSWERS[api])
        head = f"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {len(output)}\r\n\r\n"
        connection.sendall((head + output).encode())


def read_head(connection: socket.socket) -> str:
    """Everything before the body, byte by byte, so that nothing of the body is read; empty at the end."""
    head = bytearray()
    while not head.endswith(b"\r\n\r\n"):
        byte = connection.recv(1)
        if not byte:
            return ""
        head += byte
    return head.decode()


if __name__ == "__main__":
    listen(sys.argv[1])
