"""A scripted provider whose code made files: it gives them by id, with the key and the header that it demands."""

import json
from contextlib import asynccontextmanager
from dataclasses import replace
from urllib.parse import urlsplit

from showandtell.core.wire.http import HttpResponse
from support.fake_files_api import in_one
from support.scripted import RESPONSES, Script


class FileScript(Script):
    """A script beside the files by path: bytes, a status, or an error to raise. `fetched` are the paths in order."""

    def __init__(self, *answers, files, model=RESPONSES, names=None):
        super().__init__(*answers, model=model)
        self.stored, self.names, self.fetched = files, names or {}, []

    @property
    def exchange(self):
        return replace(super().exchange, send=self.send_or_give, headers={"authorization": "Bearer sk-secret"})

    @asynccontextmanager
    async def send_or_give(self, request):
        if request.method != "GET":
            async with self.send(request) as response:
                yield response
            return
        assert request.headers["authorization"] == "Bearer sk-secret"
        path = urlsplit(request.url).path
        self.fetched.append(path)
        if "/v1/files" in path and "anthropic" in self.model:
            assert request.headers["anthropic-beta"] == "files-api-2025-04-14"
        yield self._give(path)

    def _give(self, path):
        if path in self.names:
            return HttpResponse(200, {}, in_one(json.dumps(self.names[path]).encode()))
        match self.stored.get(path):
            case bytes() as data:
                return HttpResponse(200, {"content-type": "application/octet-stream"}, in_one(data))
            case Exception() as error:
                raise error
            case status:
                error = {"error": {"message": f"No such file: {path}"}}
                return HttpResponse(status or 404, {}, in_one(json.dumps(error).encode()))
