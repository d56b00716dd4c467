"""A database that hangs: a proxy before PostgreSQL that keeps its connections and passes nothing on while it is frozen."""

import select
import socket
import socketserver
import threading
from contextlib import contextmanager, suppress
from pathlib import Path

from sqlalchemy import make_url

CHUNK = 65536
#: How PostgreSQL's messages that hold a statement begin: Query and Parse.
STATEMENTS = (b"Q", b"P")


class FreezingProxy(socketserver.ThreadingUnixStreamServer):
    """`url` leads through the proxy, a socket in a folder, to a PostgreSQL that listens on a socket in another folder."""

    daemon_threads = False  # server_close() waits for them
    request_queue_size = 200

    def __init__(self, url, folder):
        parts = make_url(url)
        self.database = f"{parts.query['host']}/.s.PGSQL.{parts.port or parts.query.get('port', 5432)}"
        self.url = parts.update_query_dict({"host": str(folder)}).render_as_string(False)
        self.open_sockets, self.flows = set(), threading.Event()
        self.flows.set()
        self.swallows, self.swallowed = False, 0
        super().__init__(str(Path(folder, Path(self.database).name)), Connection)

    def freeze(self):
        """Answer nothing from now on. New connections are accepted."""
        self.flows.clear()

    def thaw(self):
        """Pass on what waited, and what comes."""
        self.flows.set()

    def swallow(self):
        """From now on, make connections as usual, and then swallow their statements: they never answer again.

        `swallowed` is the number of such connections.
        """
        self.swallows = True

    def fail_over(self):
        """Connections that swallowed a statement stay as they are; new ones work."""
        self.swallows = False

    @property
    def connections(self):
        """How many there are."""
        return len(self.open_sockets)

    def process_request(self, request, client_address):
        """Remember a connection before its thread starts, so that closing finds every one."""
        self.open_sockets.add(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request):
        """Forget a connection that has ended."""
        super().shutdown_request(request)
        self.open_sockets.discard(request)

    def close(self):
        """End all connections, and wait for their threads."""
        self.shutdown()
        for request in [*self.open_sockets]:
            with suppress(OSError):  # it has ended meanwhile
                request.shutdown(socket.SHUT_RDWR)
        self.thaw()
        self.server_close()


class Connection(socketserver.BaseRequestHandler):
    """Passes on one connection until either side ends it."""

    def handle(self):
        """Handle one connection in a thread."""
        self.server.flows.wait()
        swallows = False
        with socket.socket(socket.AF_UNIX) as behind, suppress(OSError):
            behind.connect(self.server.database)
            other = {self.request: behind, behind: self.request}
            while True:
                for source in select.select([*other], [], [])[0]:
                    data = source.recv(CHUNK)
                    self.server.flows.wait()
                    if not data:
                        return
                    is_statement = source is self.request and data[:1] in STATEMENTS
                    if is_statement and self.server.swallows and not swallows:
                        swallows = True
                        self.server.swallowed += 1
                    if not swallows:
                        other[source].sendall(data)


@contextmanager
def freezing_proxy(url, folder):
    """A proxy in threads of its own."""
    proxy = FreezingProxy(url, folder)
    thread = threading.Thread(target=proxy.serve_forever, args=[0.02])
    thread.start()
    try:
        yield proxy
    finally:
        proxy.close()
        thread.join()
