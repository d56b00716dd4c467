"""Real servers for tests, on loopback alone: S3 by seaweedfs. It is started once, when a test first asks for it."""

import contextlib
import functools
import itertools
import json
import random
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import obstore
from obstore.store import from_url

from support.run_cleanup import at_end

KEYS = {"AWS_ACCESS_KEY_ID": "tester", "AWS_SECRET_ACCESS_KEY": "no-secret-of-anybody"}
WEED = Path(sys.executable).with_name("weed")
PORTS = ("s3.port", *(f"{item}.port" for item in ("master", "volume", "filer")))
IDENTITY = {
    "name": "tester",
    "credentials": [{"accessKey": KEYS["AWS_ACCESS_KEY_ID"], "secretKey": KEYS["AWS_SECRET_ACCESS_KEY"]}],
    "actions": ["Admin", "Read", "Write", "List"],
}
#: It starts in about 4 s; a busy machine takes longer.
TIMEOUT = 60.0


def free_ports(count):
    """Ports that are free. The system gives none of them to the servers that other tests start meanwhile."""
    found = (port for port in random.sample(range(10_000, 32_000), 1000) if is_free(port))
    return list(itertools.islice(found, count))


def is_free(port):
    with socket.socket() as other, contextlib.suppress(OSError):
        other.bind(("127.0.0.1", port))
        return True
    return False


def wait_for(server, port):
    """Until a port answers; a server that ends before says why in the error."""
    end = time.monotonic() + TIMEOUT
    while time.monotonic() < end:
        if server.poll() is not None:
            raise RuntimeError(f"the server ended with {server.returncode}")
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
            return
        time.sleep(0.05)
    raise TimeoutError(f"nothing answers at port {port}")


@functools.cache
def start_s3():
    """A real S3 with the bucket `tests`, until Python ends; gives the environment that reaches it."""
    folder = Path(tempfile.mkdtemp(prefix="showandtell-s3-"))
    (folder / "s3.json").write_text(json.dumps({"identities": [IDENTITY]}))
    ports = free_ports(2 * len(PORTS))
    given = [f"-{name}={port}" for name, port in zip([*PORTS, *(f"{item}.grpc" for item in PORTS)], ports, strict=True)]
    fixed = ["-ip=127.0.0.1", "-ip.bind=127.0.0.1", "-filer", "-s3", "-s3.config=s3.json", "-dir=."]
    quiet = ["-master.telemetry=false", "-s3.port.iceberg=0", "-s3.port.lance=0"]
    small = ["-volume.max=20", "-master.volumeSizeLimitMB=64"]
    with (folder / "log").open("wb") as log:
        command = [WEED, "-logtostderr=true", "server", *fixed, *given, *quiet, *small]
        server = subprocess.Popen(command, cwd=folder, stdout=log, stderr=log)  # noqa: S603 - from a wheel, to test with
    at_end.callback(stop, server, folder, ports)
    wait_for(server, ports[0])
    place = {"AWS_ENDPOINT": f"http://127.0.0.1:{ports[0]}", "AWS_REGION": "us-east-1", **KEYS}
    bucket = from_url("s3://tests", config=place, client_options={"allow_http": True})  # pyright: ignore[reportCallIssue] - a mapping of settings
    obstore.put(bucket, "first", b"buckets appear when they are written to")
    return {**place, "AWS_ALLOW_HTTP": "true"}


def stop(server, folder, ports):
    """End it, by its own id, and remove what it wrote: its sockets are always in /tmp."""
    server.terminate()
    try:
        server.wait(60)
    except subprocess.TimeoutExpired:
        server.kill()
        server.wait()
    shutil.rmtree(folder, ignore_errors=True)
    for port in ports:
        for socket_file in Path("/tmp").glob(f"seaweedfs-*-{port}.sock"):
            socket_file.unlink(missing_ok=True)
