"""What each extra is for, as something to do with an installed package: its output tells whether it worked."""

import asyncio
import os
import shutil
import subprocess
import threading
import urllib.request
from collections.abc import Callable
from contextlib import contextmanager
from functools import partial
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any, NamedTuple
from uuid import uuid4

import pillow_heif
from PIL import Image

from fake_provider.auth import AWS_KEY, AWS_SECRET
from fake_provider.server import FakeProvider
from showandtell.samples import folder
from support.docx import word_file
from support.paths import TESTS
from support.postgres import new_database
from support.s3_server import start_s3
from support.server_process import ADDRESS
from support.videos import grey

LETTER = "The harbour opens at nine."


class Trial(NamedTuple):
    """`run(installed, home)` returns what the commands print, which includes `success` if the extra works."""

    run: Callable[[Any, Any], str]
    success: str


def write_files(home):
    """Write files that only an extra reads."""
    (home / "letter.docx").write_bytes(word_file(LETTER))
    (home / "clip.mp4").write_bytes(grey())
    pillow_heif.from_pillow(Image.new("RGB", (64, 48), "red")).save(home / "photo.heic")
    shutil.copy(TESTS / "support" / "speech.ogg", home)
    shutil.copy(folder() / "harbour.png", home)
    return home


def output_of(done):
    return done.stdout + done.stderr


def ask(name, question, installed, home):
    return output_of(installed.run(home, "showandtell", "ask", "--attach", name, question))


def store(installed, home, *options, **environ):
    """Ask about a picture, and list the conversation afterwards."""
    asked = installed.run(home, "showandtell", "ask", "--attach", "harbour.png", "Which pier?", *options, **environ)
    listed = installed.run(home, "showandtell", "list", *options, **environ)
    return asked.stderr + output_of(listed)


def store_on_postgres(installed, home):
    url = new_database("postgresql", home) if installed.extras else "postgresql://127.0.0.1:1/none"
    return store(installed, home, "--database", url, "--blobs", "blobs")


def store_in_bucket(installed, home):
    bucket = start_s3() if installed.extras else {}
    return store(installed, home, "--data", "data", "--blobs", f"s3://tests/{uuid4().hex}", **bucket)


def ask_provider(model, installed, home, **environ):
    """Ask a provider that checks credentials."""

    async def go():
        async with FakeProvider() as provider:
            command = ("showandtell", "ask", "--model", model, "Hello")
            own = {name: value for name, value in provider.environ().items() if not name.startswith("AWS_")}
            return await asyncio.to_thread(installed.run, home, *command, **{**own, **environ})

    return output_of(asyncio.run(go()))


def ask_bedrock(installed, home):
    """With the credentials of a profile."""
    keys = f"aws_access_key_id={AWS_KEY}\naws_secret_access_key={AWS_SECRET}"
    (home / "aws").write_text(f"[profile team]\nregion=us-east-1\n{keys}\n")
    variables = {"AWS_PROFILE": "team", "AWS_CONFIG_FILE": str(home / "aws"), "AWS_REGION": "us-east-1"}
    return ask_provider("bedrock:anthropic.claude-sonnet-4-5-20250929-v1:0", installed, home, **variables)


def ask_vertex(installed, home):
    """With a service account's file."""
    return ask_provider("vertex:gemini-3-pro", installed, home, GOOGLE_CLOUD_PROJECT="acme")


def serve(installed, home, **environ):
    """Start a server, load its page, and stop it. Returns what it prints, and the page."""
    command = [installed.folder / "bin" / "showandtell", "serve", "--port", "0", "--data", str(home / "data")]
    kept = {"PATH": os.defpath, "HOME": str(home), **environ}
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
    with subprocess.Popen(command, cwd=home, env=kept, **pipes) as server:  # noqa: S603 - our own
        lines = [server.stdout.readline() for _ in range(2)]
        try:
            if found := ADDRESS.search("".join(lines)):
                browser = urllib.request.build_opener(urllib.request.HTTPCookieProcessor())
                lines.append(browser.open(found[1], timeout=60).read().decode())
        finally:
            server.terminate()
        return "".join(lines) + server.stdout.read()


@contextmanager
def collector():
    """A server that takes what is posted: its address, and the paths and bodies so far."""
    taken = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            taken.append((self.path, self.rfile.read(int(self.headers["content-length"]))))
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_, **__):
            pass

    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}", taken
        server.shutdown()


def trace(installed, home):
    """Serve with a collector of traces."""
    with collector() as (url, taken):
        variables = {"FASTAPI_OTEL_AUTO_CONFIGURE": "true", "OTEL_EXPORTER_OTLP_ENDPOINT": url}
        output = serve(installed, home, **variables)
    return output + "".join(f"traced {body}" for path, body in taken if path == "/v1/traces")


TRIALS = {
    "asr": Trial(partial(ask, "speech.ogg", "What is it?"), "Machine transcript by PocketSphinx"),
    "av": Trial(partial(ask, "clip.mp4", "What is it?"), "8 pictures"),
    "bedrock": Trial(ask_bedrock, "I am the inspector"),
    "history": Trial(store, "Which pier?"),
    "images": Trial(partial(ask, "photo.heic", "What is it?"), "all red"),
    "ocr": Trial(partial(ask, "harbour.png", "What does it say?"), "“PIER 7”"),
    "office": Trial(partial(ask, "letter.docx", "What is it?"), LETTER),
    "postgres": Trial(store_on_postgres, "Which pier?"),
    "remote": Trial(store_in_bucket, "Which pier?"),
    "server": Trial(serve, "<title>"),
    "telemetry": Trial(trace, "traced "),
    "vertex": Trial(ask_vertex, "I am the inspector"),
}
#: The hints that don't name their extra: those of what an extra includes, and of the inspector.
LACKS = {
    "ocr": "OCR is not installed",
    "postgres": "showandtell[history]",
    "remote": "showandtell[history]",
    "telemetry": "showandtell[server]",
}
