"""The way over the network, against real servers on loopback: what goes out, what comes back, and what goes wrong."""

import asyncio
import logging
import socket
import ssl
import subprocess
import sys
import threading
import traceback
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field

import pytest
import trustme

from showandtell.errors import BadAnswer, BadInput, CannotRender, FileChanged, ProviderError
from showandtell.network import http_session as network
from showandtell.network.environment import is_exempt, proxy_for, tls_context
from showandtell.network.transport import Timeouts, Transport

KEY = "sk-canary-1234567890"
OK = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 5\r\n\r\nhello"
MIB = 1024 * 1024


@dataclass(frozen=True)
class Post:
    url: str
    pieces: tuple = (b"one ", b"two")
    more: int = 0
    headers: dict = field(default_factory=lambda: {"authorization": f"Bearer {KEY}"})
    method: str = "POST"

    @property
    def size(self):
        return sum(len(piece) for piece in self.pieces if isinstance(piece, bytes)) + self.more

    async def body(self):
        for piece in self.pieces:
            if isinstance(piece, Exception):
                raise piece
            yield piece


class Server:
    """A server of one's own words: what it got (head, body), and what it says to each connection's requests."""

    def __init__(self, *answers, reads=True, late=b""):
        self.late = late
        self.answers, self.reads, self.got, self.connections, self.tasks = answers, reads, [], 0, set()
        self.writers = []

    async def serve(self, reader, writer):
        self.connections += 1
        self.writers.append(writer)
        self.tasks.add(asyncio.current_task())
        try:
            while head := await reader.readuntil(b"\r\n\r\n"):
                lengths = [line[15:] for line in head.lower().splitlines() if line.startswith(b"content-length")]
                body = await reader.readexactly(int(lengths[0])) if self.reads and lengths else b""
                self.got.append((head.decode(), body))
                answer = self.answers[min(len(self.got), len(self.answers)) - 1]
                if answer is None:
                    await (reader.read() if self.reads else self.over.wait())
                    return
                writer.write(answer)
                await writer.drain()
                if self.late:  # in a write of its own, as hosts end their streams
                    asyncio.get_running_loop().call_later(0.01, writer.write, self.late)
                if not self.reads or b"Length" not in answer:
                    return
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()


@asynccontextmanager
async def serving(server, tls=None):
    server.over = asyncio.Event()
    listening = await asyncio.start_server(server.serve, "127.0.0.1", 0, ssl=tls)
    port = listening.sockets[0].getsockname()[1]
    try:
        yield f"{'https' if tls else 'http'}://127.0.0.1:{port}/v1/x"
    finally:
        listening.close()
        server.over.set()
        await asyncio.gather(*server.tasks)
        server.tasks.clear()


async def exchange(transport, post):
    async with transport.send(post) as answer:
        return answer.status, answer.headers, b"".join([data async for data in answer.body])


def ask(server, tls=None, environ=None, timeouts=None, **post):
    """One exchange with a server; what it answers."""

    async def go():
        async with serving(server, tls) as url:
            return await exchange(Transport(timeouts, environ=environ or {}), Post(url, **post))

    return asyncio.run(go())


@pytest.fixture(scope="module")
def authority():
    return trustme.CA()


@pytest.fixture
def tls(authority):
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    authority.issue_cert("127.0.0.1").configure_cert(context)
    return context


@pytest.fixture
def trusting(authority, tmp_path):
    authority.cert_pem.write_to_path(tmp_path / "ca.pem")
    return {"SSL_CERT_FILE": str(tmp_path / "ca.pem")}


@pytest.mark.smoke
def test_a_body_goes_out_in_pieces_with_its_exact_length():
    server = Server(OK)
    status, headers, body = ask(server, pieces=(b"a" * 700_000, b"b" * 700_000, b"c"))
    ((head, got),) = server.got
    assert (status, headers["content-type"], body) == (200, "text/plain", b"hello")
    assert got == b"a" * 700_000 + b"b" * 700_000 + b"c"
    assert "content-length: 1400001" in head.lower()
    assert "chunked" not in head.lower()


def test_what_is_percent_encoded_stays_so():
    async def go():
        server = Server(OK)
        async with serving(server) as url:
            await exchange(Transport(environ={}), Post(f"{url}/us.claude-v1%3A0/converse?alt=sse"))
        assert server.got[0][0].startswith("POST /v1/x/us.claude-v1%3A0/converse?alt=sse HTTP/1.1")

    asyncio.run(go())


def test_connections_are_used_again_while_anybody_holds_the_transport_open():
    async def go():
        server, transport = Server(OK), Transport(environ={})
        async with serving(server) as url:
            async with transport:
                async with transport:
                    await exchange(transport, Post(url))
                await exchange(transport, Post(url))
                assert server.connections == 1
            await exchange(transport, Post(url))
            assert (server.connections, len(server.got)) == (2, 3)

    asyncio.run(go())


def test_an_answer_that_is_left_at_its_end_gives_its_connection_back(monkeypatch):
    monkeypatch.setattr(network, "LINGER_SECONDS", 5.0)  # on a busy machine its end may take a while

    async def go():
        words = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nX-Length: 1\r\n\r\n5\r\nhello\r\n"
        server, transport = Server(words, late=b"0\r\n\r\n"), Transport(environ={})
        async with serving(server) as url, transport:
            for _ in range(3):
                async with transport.send(Post(url)) as answer:
                    assert await anext(answer.body) == b"hello"
                    await answer.body.aclose()
        assert (server.connections, len(server.got)) == (1, 3)

    asyncio.run(go())


def test_what_came_on_an_idle_connection_answers_no_request():
    async def go():
        server, transport = Server(OK), Transport(environ={})
        async with serving(server) as url, transport:
            await exchange(transport, Post(url))
            server.writers[0].write(OK.replace(b"hello", b"other"))
            await exchange(Transport(environ={}), Post(url))  # meanwhile it has come
            assert (await exchange(transport, Post(url)))[2] == b"hello"
        assert server.connections == 3

    asyncio.run(go())


def test_a_host_that_speaks_before_it_is_asked_is_connected_to_once(tls, trusting):
    class Early(Server):
        async def serve(self, reader, writer):
            writer.write(b"220 smtp.test ESMTP\r\n\r\n")
            await super().serve(reader, writer)

    server, tls.maximum_version = Early(OK), ssl.TLSVersion.TLSv1_2  # where a host's words may end the handshake
    # From Python 3.13 on, the words break the connection.
    with pytest.raises((BadAnswer, ConnectionResetError), match=r"doesn't speak HTTP|broke the connection"):
        ask(server, tls, trusting, timeouts=Timeouts(total=2))
    assert server.connections == 1


def test_one_transport_serves_one_loop_after_the_other():
    transport, server = Transport(environ={}), Server(OK)

    async def go():
        async with serving(server) as url, transport:
            return await exchange(transport, Post(url))

    assert [asyncio.run(go())[2] for _ in range(2)] == [b"hello", b"hello"]


REFUSAL = b"HTTP/1.1 413 Too Large\r\nConnection: close\r\nContent-Length: 6\r\n\r\nbigger"


def test_an_answer_is_read_though_the_host_hung_up_while_the_body_was_sent():
    listening, hung_up = socket.create_server(("127.0.0.1", 0)), threading.Event()

    def refuse():
        with listening, listening.accept()[0] as peer:
            while not peer.recv(1024, socket.MSG_PEEK).endswith(b"first"):
                pass
            peer.sendall(REFUSAL)
        hung_up.set()

    class Slow(Post):
        async def body(self):
            yield b"first"
            assert hung_up.wait(60)  # the loop stands still, so that nothing is read before the next write
            yield bytes(MIB)

    thread = threading.Thread(target=refuse)
    thread.start()
    post = Slow(f"http://127.0.0.1:{listening.getsockname()[1]}/", pieces=(b"first", bytes(MIB)))
    status, _, body = asyncio.run(exchange(Transport(environ={}), post))
    thread.join()
    assert (status, body) == (413, b"bigger")


def test_an_answer_over_tls_is_read_before_the_body_is_through(tls, trusting):
    status, _, body = ask(Server(REFUSAL, reads=False), tls, trusting, pieces=(bytes(MIB),) * 16)
    assert (status, body) == (413, b"bigger")


def test_no_answer_is_compressed_and_no_cookie_kept():
    async def go():
        server = Server(OK.replace(b"Content-Type", b"Set-Cookie: a=b; Path=/\r\nContent-Type"))
        async with serving(server) as url, Transport(environ={}) as transport:
            await exchange(transport, Post(url))
            await exchange(transport, Post(url))
        for head, _ in server.got:
            assert "accept-encoding: identity" in head.lower()
            assert "cookie" not in head.lower()

    asyncio.run(go())


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_is_not_followed(status):
    moved = f"HTTP/1.1 {status} Moved\r\nLocation: http://evil.test/v2?key=x\r\nContent-Length: 0\r\n\r\n"
    with pytest.raises(ProviderError, match=r"redirects to http://evil\.test/v2, which is not followed") as caught:
        ask(Server(moved.encode()))
    assert caught.value.status == status


@pytest.mark.parametrize(
    ("location", "aim"), [(b"http://[", "nowhere"), (b"http://e.test/\xff", "http://e.test/\ufffd")]
)
def test_a_redirect_to_no_address_is_one_all_the_same(location, aim):
    moved = b"HTTP/1.1 302 Found\r\nLocation: " + location + b"\r\nContent-Length: 0\r\n\r\n"
    with pytest.raises(ProviderError) as caught:
        ask(Server(moved))
    assert f"redirects to {aim}, which is not followed" in caught.value.text


def test_a_header_of_any_bytes_is_text_that_can_be_written_down():
    _, headers, _ = ask(Server(OK.replace(b"text/plain", b"text/\xff\xc3\xa9")))
    assert headers["content-type"].encode().decode() == "text/\ufffd\xe9"


def test_nobody_listening_is_reported_in_the_systems_words():
    async def go():
        async with serving(Server(OK)) as url:
            pass
        await exchange(Transport(environ={}), Post(url))

    with pytest.raises(ConnectionRefusedError, match=r"no connection to 127\.0\.0\.1:.*Connection refused"):
        asyncio.run(go())


def test_a_name_of_no_host_is_reported():
    with pytest.raises(OSError, match=r"unknown host nowhere\.invalid") as caught:
        asyncio.run(exchange(Transport(environ={}), Post("http://nowhere.invalid/v1")))
    assert not isinstance(caught.value, ConnectionError | TimeoutError)  # asking again is no use


@pytest.mark.parametrize(
    ("server", "timeouts", "post", "words"),
    [
        (Server(None), Timeouts(idle=0.1), {}, "sent nothing for 0.1 s"),
        (Server(None, reads=False), Timeouts(total=0.1), {}, "took longer than 0.1 s"),
        (Server(OK[:-2]), Timeouts(idle=0.1), {}, "sent nothing for 0.1 s"),
    ],
    ids=["no answer", "too long", "an answer that stops"],
)
def test_each_timeout_ends_the_request(server, timeouts, post, words):
    with pytest.raises(TimeoutError, match=words):
        ask(server, timeouts=timeouts, **post)


@pytest.mark.parametrize("pieces", [(b"one ", b"two"), ()], ids=["a body", "no body"])
def test_a_host_that_only_says_that_it_is_busy_is_given_up(pieces):
    class Busy(Server):
        async def serve(self, reader, writer):
            self.tasks.add(asyncio.current_task())
            await reader.readuntil(b"\r\n\r\n")
            with suppress(ConnectionError):
                while True:
                    writer.write(b"HTTP/1.1 102 Processing\r\n\r\n" * 100)
                    await writer.drain()
            writer.close()

    with pytest.raises(TimeoutError, match=r"sent nothing for 0\.1 s"):
        ask(Busy(), timeouts=Timeouts(idle=0.1, total=2), pieces=pieces)


def test_a_host_that_takes_nothing_is_asked_to_take_little_and_given_up():
    asked = []

    class Endless(Post):
        async def body(self):
            while True:
                asked.append(1)
                yield bytes(MIB)

    async def go():
        async with serving(Server(None, reads=False)) as url:
            await exchange(Transport(Timeouts(idle=0.1), environ={}), Endless(url, more=1000 * MIB))

    with pytest.raises(TimeoutError, match=r"read nothing of the request for 0\.1 s"):
        asyncio.run(go())
    assert 0 < len(asked) < 30


@pytest.mark.parametrize("answer", [b"", OK[:-2].replace(b"plain\r\n", b"plain\r\nConnection: close\r\n")])
def test_a_broken_connection_is_reported(answer):
    with pytest.raises(ConnectionResetError, match="broke the connection"):
        ask(Server(answer, reads=False) if answer else Server(b""))


def test_what_is_no_http_is_reported():
    with pytest.raises(BadAnswer, match="doesn't speak HTTP"):
        ask(Server(b"220 smtp.test ESMTP\r\n\r\n"))


def test_an_error_of_the_body_comes_through():
    with pytest.raises(FileChanged, match="it vanished"):
        ask(Server(OK), pieces=(b"one", FileChanged("it vanished")), more=10)


@pytest.mark.parametrize("more", [-1, 1])
def test_a_body_of_another_length_than_it_says_is_a_defect(more):
    with pytest.raises(CannotRender, match="1 bytes off its content-length"):
        ask(Server(OK), more=more)


def test_an_authority_of_ones_own_is_named_by_a_variable(tls, trusting):
    assert ask(Server(OK), tls, trusting)[0] == 200
    assert ask(Server(OK), tls, {"REQUESTS_CA_BUNDLE": trusting["SSL_CERT_FILE"]})[0] == 200


def test_a_certificate_of_nobody_is_refused_with_advice(tls):
    with pytest.raises(OSError, match=r"certificate of 127\.0\.0\.1:.* is not trusted: .*SSL_CERT_FILE"):
        ask(Server(OK), tls)


def test_plain_http_behind_https_is_reported():
    async def refuse(reader, writer):
        await reader.read(100)
        writer.write(b"HTTP/1.1 400 Bad Request\r\n\r\n")
        writer.close()

    async def go():
        async with await asyncio.start_server(refuse, "127.0.0.1", 0) as listening:
            port = listening.sockets[0].getsockname()[1]
            await exchange(Transport(environ={}), Post(f"https://127.0.0.1:{port}/"))

    with pytest.raises(OSError, match="doesn't speak TLS as expected"):
        asyncio.run(go())


def test_certificates_that_are_none_are_refused(tmp_path):
    (tmp_path / "no.pem").write_text("nothing")
    for path in (tmp_path / "no.pem", tmp_path / "missing.pem"):
        with pytest.raises(BadInput, match=r"CURL_CA_BUNDLE names .* which has no certificates"):
            tls_context({"CURL_CA_BUNDLE": str(path)})


def test_a_request_goes_by_the_proxy_that_a_variable_names():
    async def go(**exceptions):
        proxy = Server(OK)
        async with serving(proxy) as url:
            there = url.removesuffix("/v1/x").replace("//", "//user:hidden@")
            transport = Transport(environ={"http_proxy": there, **exceptions})
            await exchange(transport, Post("http://models.test/v1/messages"))
        return proxy.got[0][0]

    head = asyncio.run(go())
    assert head.startswith("POST http://models.test/v1/messages HTTP/1.1")
    assert "Proxy-Authorization: Basic" in head
    with pytest.raises(OSError, match="unknown host"):
        asyncio.run(go(NO_PROXY="models.test"))


def test_a_proxy_that_does_not_answer_is_named_without_its_password():
    async def go():
        async with serving(Server(OK)) as url:
            pass
        there = url.removesuffix("/v1/x").replace("//", "//user:hidden@")
        await exchange(Transport(environ={"HTTP_PROXY": there}), Post("http://models.test/"))

    with pytest.raises(ConnectionError, match=r"the proxy 127\.0\.0\.1:\d+ can't be reached"):
        asyncio.run(go())


def test_a_proxy_that_refuses_is_reported():
    async def go():
        async with serving(Server(b"HTTP/1.1 407 No\r\nContent-Length: 0\r\n\r\n")) as url:
            await exchange(Transport(environ={"HTTPS_PROXY": url}), Post("https://models.test/"))

    with pytest.raises(OSError, match=r"the proxy 127\.0\.0\.1:.* responded with 407"):
        asyncio.run(go())


@pytest.mark.parametrize(
    ("url", "environ", "proxy"),
    [
        ("https://a.test/", {}, None),
        ("https://a.test/", {"HTTPS_PROXY": "http://p:1", "https_proxy": "http://q:2"}, "http://q:2"),
        ("https://a.test/", {"ALL_PROXY": "p:1"}, "http://p:1"),
        ("http://a.test/", {"HTTP_PROXY": "http://p:1", "REQUEST_METHOD": "GET"}, None),
        ("https://a.test:8443/", {"HTTPS_PROXY": "http://p:1", "NO_PROXY": "b.test, a.test"}, None),
    ],
)
def test_the_proxy_for_an_address(url, environ, proxy):
    assert proxy_for(url, environ) == proxy


@pytest.mark.parametrize(
    ("exceptions", "exempt"),
    [
        ("*", True),
        (".test", True),
        ("a.test:80", True),
        ("*.test", True),
        ("b.a.test", False),
        ("", False),
        (",", False),
    ],
)
def test_exceptions_name_hosts_and_domains(exceptions, exempt):
    assert is_exempt("a.test:80", exceptions) == exempt
    assert not is_exempt("xa.test:80", "a.test")


@pytest.mark.parametrize("proxy", ["socks5://p:1", "http://", "http://p:x"])
def test_a_proxy_that_is_none_is_refused_by_its_variable(proxy):
    with pytest.raises(BadInput, match="ALL_PROXY is not an HTTP proxy"):
        proxy_for("https://a.test/", {"all_proxy": proxy})
    assert proxy_for("https://a.test/", {"all_proxy": ""}) is None


def test_a_key_is_in_no_error_and_no_log(caplog, tls):
    caplog.set_level(logging.DEBUG)
    received = []
    for server, secure in [(Server(b""), None), (Server(b"nonsense\r\n\r\n"), None), (Server(OK), tls)]:
        with pytest.raises((OSError, ProviderError)) as caught:
            ask(server, secure)
        error = caught.value
        received += [repr(error), *traceback.format_exception(error), repr(error.__context__), repr(error.__cause__)]
    assert len(received) > 9
    assert KEY not in caplog.text + "".join(received)


def test_a_header_that_none_may_be_is_refused_unseen():
    with pytest.raises(BadInput, match="a header contains invalid characters") as caught:
        ask(Server(OK), headers={"authorization": f"Bearer {KEY}\nx: y"})
    assert KEY not in repr(caught.value) + repr(caught.value.__context__)


def test_the_http_client_is_loaded_by_the_first_request_alone():
    code = "import sys, showandtell; showandtell.Agent('inspector').run_sync('hi'); print('aiohttp' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)  # noqa: S603 - ours
    assert done.stdout == "False\n"
