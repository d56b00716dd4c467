"""Uploads and downloads of a server in a process of its own: floods, endless bodies, hostile names (promises C1, C9 to C11)."""

import asyncio
import os
import re
import subprocess
import sys
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from time import perf_counter
from urllib.parse import urlsplit

import aiohttp
import pytest
from hostile_names import HOSTILE, TYPES

from support.fixtures import png

pytestmark = pytest.mark.anyio
PATH = "/api/attachments"
MB = 1 << 20
SERVE = """
import asyncio, sys
from pathlib import Path
from support.serving import serving

async def main():
    async with serving(Path(sys.argv[1]), place={"max_file_bytes": int(sys.argv[2])}, rates=sys.argv[3]) as house:
        print(house.url, house.server.keys.token, flush=True)
        await asyncio.to_thread(sys.stdin.readline)

asyncio.run(main())
"""
#: Rates are another test's.
FREE = "uploads=1000000/minute,reads=1000000/minute"


class Far:
    """A server in another process."""

    def __init__(self, process, url, token):
        self.process, self.url = process, url
        self.headers = {"authorization": f"Bearer {token}"}

    def session(self):
        return aiohttp.ClientSession(self.url, headers=self.headers, timeout=aiohttp.ClientTimeout(total=None))

    def status(self, name):
        """A line of the kernel's own account of the process, in bytes."""
        output = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(re.search(rf"{name}:\s+(\d+) kB", output)[1]) * 1024

    def forget_peak(self):
        Path(f"/proc/{self.process.pid}/clear_refs").write_text("5")

    def cpu(self):
        """Seconds of processor time so far."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@contextmanager
def far(folder, max_bytes=20 * MB):
    environment = {**os.environ, "PYTHONPATH": "tests"}
    command = [sys.executable, "-c", SERVE, str(folder), str(max_bytes), FREE]
    with subprocess.Popen(  # noqa: S603 - our own words
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
    ) as process:
        try:
            yield Far(process, *process.stdout.readline().split())
        finally:
            process.communicate("\n", timeout=30)


def spooled(folder):
    return [*(folder / "blobs" / "spool").iterdir()]


async def put(session, data, name="a.bin", **headers):
    async with session.put(PATH, params={"name": name}, data=data, headers=headers) as answer:
        return answer.status, answer.headers, await answer.json()


async def flood(size, counted, piece=bytes(MB)):
    """Yields `size` bytes in pieces, and adds each requested size to `counted`."""
    for _ in range(size // len(piece)):
        counted.append(len(piece))
        yield piece


async def test_ten_uploads_of_two_gigabytes_at_once_are_refused_while_they_stream(tmp_path):
    with far(tmp_path, 1024 * MB) as server:
        async with server.session() as session:
            await put(session, b"warm")
            server.forget_peak()
            counted = [[] for _ in range(10)]

            async def send(mine):
                try:
                    return (await put(session, flood(2048 * MB, mine)))[0]
                except aiohttp.ClientConnectionError:
                    return 413  # it has hung up while we were talking

            assert await asyncio.gather(*map(send, counted)) == [413] * 10
            taken, peak = [sum(item) for item in counted], server.status("VmHWM")
            print(f"taken {max(taken) / MB:.0f} MB at max_bytes, peak {peak / MB:.0f} MB")  # noqa: T201
            assert max(taken) < 1200 * MB
            assert peak < 300 * MB
            assert spooled(tmp_path) == []
            assert (await put(session, b"still here"))[0] == 201


async def test_a_declared_flood_is_refused_without_being_read(tmp_path):
    with far(tmp_path, MB) as server:
        async with server.session() as session:
            before = server.cpu()
            for _ in range(20):
                sent = []
                try:
                    status = (await put(session, flood(2048 * MB, sent), **{"content-length": str(2048 * MB)}))[0]
                except aiohttp.ClientConnectionError:
                    status = 413
                assert (status, sum(sent) < 64 * MB) == (413, True)
            assert server.cpu() - before < 5


FORM = {"content-type": "multipart/form-data; boundary=x"}
PART = b'--x\r\ncontent-disposition: form-data; name="file"; filename="a.txt"\r\n\r\n%d\r\n'


async def test_forms_of_any_shape_cost_little_memory(tmp_path):
    shapes = {
        "ten thousand parts": b"".join(PART % number for number in range(10_000)),
        "a million headers": b"--x\r\n" + b"a: b\r\n" * 1_000_000,
        "one long header": b"--x\r\na: " + b"b" * 30 * MB,
        "no boundary": b"a" * 30 * MB,
        "almost boundaries": b"--x\r\ncontent-disposition: form-data; name=a\r\n\r\n" + b"\r\n--" * 5 * MB,
        "a field of 30 MB": b'--x\r\ncontent-disposition: form-data; name="a"\r\n\r\n' + b"b" * 30 * MB,
    }
    with far(tmp_path) as server:
        async with server.session() as session:
            for name, data in shapes.items():
                await put(session, b"warm")
                server.forget_peak()
                before = server.status("VmRSS")
                try:
                    async with session.post(PATH, data=BytesIO(data), headers=FORM) as answer:
                        status = answer.status
                except aiohttp.ClientConnectionError:
                    status = 422
                grown = server.status("VmHWM") - before
                print(f"{name}: {status}, {grown / MB:.1f} MB")  # noqa: T201
                assert status in {413, 422}, name
                assert grown < 32 * MB, name
        assert spooled(tmp_path) == []


async def test_a_form_of_large_files_is_streamed_to_the_store(tmp_path):
    data, count = os.urandom(15 * MB), 8
    with far(tmp_path) as server:
        async with server.session() as session:
            await put(session, b"warm")
            server.forget_peak()
            before, form = server.status("VmRSS"), aiohttp.FormData()
            for number in range(count):
                form.add_field("file", BytesIO(data + b"%d" % number), filename=f"{number}.bin")
            began, cpu = perf_counter(), server.cpu()
            async with session.post(PATH, data=form) as answer:
                assert answer.status == 201
            seconds, cpu = perf_counter() - began, server.cpu() - cpu
            grown = server.status("VmHWM") - before
            print(f"{count * 15} MB in {seconds:.2f} s, {cpu:.2f} s of CPU, {grown / MB:.1f} MB")  # noqa: T201
            assert grown < 32 * MB


async def test_hostile_names_and_types_are_taken_and_come_back_in_headers_of_one_line(tmp_path):
    wrong = []
    with far(tmp_path) as server:
        async with server.session() as session:
            for number, name in enumerate(HOSTILE):
                output = name.encode("utf-8", "replace").decode()
                status, _, one = await put(session, png(3, 3), output)
                if status != 201:
                    wrong.append((name, status, one))
                    continue
                async with session.get(one["url"]) as answer:
                    if answer.status != 200 or await answer.read() != png(3, 3) or len(answer.headers) > 20:
                        wrong.append((name, answer.status, one["url"]))
                    if not answer.headers["content-disposition"].isascii() or "set-cookie" in answer.headers:
                        wrong.append((name, answer.headers["content-disposition"]))
                if number % 7 == 0:
                    async with session.post(PATH, data=form_with(output)) as answer:
                        if answer.status not in {201, 422}:
                            wrong.append((name, answer.status))
            for kind in TYPES:
                if not any(ord(letter) < 32 for letter in kind):
                    status, _, one = await put(session, png(3, 3), "a.png", **{"content-type": kind})
                    if status != 201 or one["media_type"] != "image/png":
                        wrong.append((kind, status, one))
    assert wrong == []
    assert {path.name for path in tmp_path.iterdir()} <= {
        "blobs",
        "showandtell.db",
        "showandtell.db-wal",
        "showandtell.db-shm",
    }


def form_with(name):
    """A form as browsers write it: only quotes and line ends are percent-encoded."""
    encoded = name.replace('"', "%22").replace("\r", "%0D").replace("\n", "%0A")
    return aiohttp.payload.BytesPayload(
        b'--x\r\ncontent-disposition: form-data; name="file"; filename="%s"\r\n\r\n%s\r\n--x--\r\n'
        % (encoded.encode(), png(3, 3)),
        content_type=FORM["content-type"],
    )


async def test_many_ranges_cost_nothing(tmp_path):
    with far(tmp_path) as server:
        async with server.session() as session:
            _, _, one = await put(session, BytesIO(bytes(5 * MB)))
            async with session.get(one["url"]) as answer:
                await answer.read()
            many = ",".join(f"{number}-{number + 99_999}" for number in range(1000))[:60_000]
            for output in (
                f"bytes={many}",
                "bytes=-" + "9" * 60_000,
                "bytes=0-0," * 5000,
                "bytes=99999999-",
                "bytes=5-1",
            ):
                before = server.cpu()
                async with session.request("GET", one["url"], headers={"range": output}) as answer:
                    assert answer.status in {200, 416, 400, 431}
                    answer.close()
                assert server.cpu() - before <= 0.05 + 0.02  # the clock of /proc has ticks of 10 ms


async def test_a_large_download_is_fast_and_held_by_nobody(tmp_path):
    data = os.urandom(256 * MB)
    with far(tmp_path, 300 * MB) as server:
        async with server.session() as session:
            _, _, one = await put(session, BytesIO(data))
            server.forget_peak()
            before, cpu, began = server.status("VmRSS"), server.cpu(), perf_counter()
            async with session.get(one["url"]) as answer:
                size = 0
                async for piece in answer.content.iter_any():
                    size += len(piece)
            seconds, cpu = perf_counter() - began, server.cpu() - cpu
            grown = server.status("VmHWM") - before
            print(f"256 MB in {seconds:.2f} s, {cpu:.2f} s of CPU, {grown / MB:.1f} MB")  # noqa: T201
            assert size == len(data)
            assert grown < 16 * MB
            at = urlsplit(one["url"])
            assert at.path.startswith(PATH)
