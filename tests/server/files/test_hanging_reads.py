"""Reads of a stored file that hang: its text is answered with 503 in time."""

import os

import pytest

from support.serving import serving

pytestmark = pytest.mark.anyio


async def test_the_text_of_a_file_that_can_not_be_read_is_a_503(tmp_path):
    async with serving(tmp_path) as site:
        async with site.session.put("/api/attachments", params={"name": "a.txt"}, data=b"hello") as answer:
            id_ = (await answer.json())["id"]
        (blob,) = [one for one in site.store.blobs.inner.path.rglob("*") if len(one.name.partition(".")[0]) == 64]
        blob.unlink()
        os.mkfifo(blob)  # opening it for reading waits
        site.store.blobs.deadlines.seconds = 0.1
        try:
            async with site.session.get(f"/api/attachments/{id_}/text", timeout=60) as answer:
                assert answer.status == 503
        finally:
            os.close(os.open(blob, os.O_RDWR | os.O_NONBLOCK))  # ends what waits
