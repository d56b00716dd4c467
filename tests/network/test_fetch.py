"""The one function that opens URLs: what is never asked, what always is, and how much it may cost."""

import asyncio
import gzip
import tracemalloc
from contextlib import asynccontextmanager
from dataclasses import replace
from ipaddress import IPv4Address, IPv6Address

import pytest
from hypothesis import given
from hypothesis import strategies as st
from yarl import URL

from showandtell.errors import BadFile
from showandtell.network import fetch_request, public_addresses
from showandtell.network.fetch import FetchPolicy, _save, fetch, name_of
from showandtell.network.fetch_request import Dialer, FetchedResponse
from support.bad_urls import bad_urls
from support.fake_internet import Certificates, Web, page, redirect, resolve, serving

YES = FetchPolicy(fetch=True)
MAX_BYTES = 100_000
PICTURE = b"\x89PNG\r\n\x1a\n" + b"pixels" * 500


@pytest.fixture(scope="module")
def certificates():
    return Certificates()


@pytest.fixture
def visit(certificates, tmp_path):
    """Fetch a URL, or several, from a web; what came of each: a `Fetched` or a `BadFile`."""

    def go(web, *urls, allow=YES, **options):
        async def run():
            async with serving(web, certificates) as line:
                return [await attempt(url, tmp_path, line, allow, options) for url in urls]

        found = asyncio.run(run())
        return found[0] if len(urls) == 1 else found

    return go


async def attempt(url, folder, line, allow, options):
    try:
        return await fetch(url, folder, dialer=line, policy=allow, **{"max_bytes": MAX_BYTES, **options})
    except BadFile as error:
        return error


def paths(web):
    return [head.split()[1] for head in web.hits]


# ── what is never asked ──


def test_no_bad_url_reaches_anybody(visit, tmp_path):
    web, urls = Web({}), list(dict.fromkeys(bad_urls()))
    found = visit(web, *urls)
    assert len(urls) >= 150
    assert [url for url, item in zip(urls, found, strict=True) if not isinstance(item, BadFile)] == []
    assert (web.connections, web.dialled, web.hits) == (0, [], [])
    assert list(tmp_path.iterdir()) == []


def test_no_bad_url_reaches_anybody_when_http_and_all_ports_are_allowed(visit):
    web = Web({})
    urls = [url.replace("https:", "http:") for url in bad_urls() if "pictures.test" not in url]
    visit(web, *urls, allow=FetchPolicy(fetch=True, http=True, ports=tuple(range(65536))))
    assert (web.connections, web.dialled) == (0, [])


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "2130706433", "0x7f.1", "127.1", "0", "[::1]", "[::]"])
def test_the_systems_own_resolver_and_sockets_lead_to_no_server_here(host, certificates, tmp_path):
    web = Web({})

    async def go():
        async with serving(web, certificates) as line:
            port = web.ports["http"]
            allow = FetchPolicy(fetch=True, http=True, ports=(port,))
            return await attempt(f"http://{host}:{port}/x", tmp_path, Dialer(tls=line.tls), allow, {})

    assert isinstance(asyncio.run(go()), BadFile)
    assert web.connections == 0


def test_every_bad_host_is_a_hit_where_the_guard_is_gone(visit, monkeypatch):
    """The canaries sing: these tests can fail."""
    monkeypatch.setattr(public_addresses, "is_public", lambda _: True)
    web = Web({})
    visit(web, "https://inside.test/", "https://mixed.test/", "https://127.0.0.1/", "https://[fd00:ec2::254]/")
    assert {address for address, _ in web.dialled} >= {"10.1.2.3", "93.184.216.34", "127.0.0.1", "fd00:ec2::254"}
    assert web.connections > 0


@pytest.mark.parametrize(
    "location",
    [
        "https://inside.test/x",
        "//inside.test/x",
        "https://127.0.0.1/x",
        "https://[::ffff:a9fe:a9fe]/x",
        "http://pictures.test/x",
        "file:///etc/passwd",
        "data:text/plain,hello",
        "ftp://pictures.test/x",
        "https://user:password@pictures.test/x",
        "https://pictures.test:22/x",
        "https://pictures.test\\@inside.test/x",
        "https://mixed.test/x",
        "",
    ],
)
def test_a_redirect_is_checked_like_the_first_address(location, visit):
    web = Web({"/go": redirect(location)})
    error = visit(web, "https://pictures.test/go")
    assert isinstance(error, BadFile)
    assert str(error).startswith("pictures.test redirects to ")
    assert paths(web) == ["/go"]


def test_http_by_setting_still_leads_nowhere_inside(visit):
    web = Web({"/in": redirect("http://169.254.169.254/")})
    assert isinstance(visit(web, "http://pictures.test/in", allow=replace(YES, http=True)), BadFile)
    assert paths(web) == ["/in"]


def test_https_leads_back_to_http_only_by_setting(visit):
    web = Web({"/back": redirect("http://pictures.test/x")})
    assert "FetchPolicy(http=True)" in str(visit(web, "https://pictures.test/back"))
    assert visit(web, "https://pictures.test/back", allow=replace(YES, http=True)).size == 5
    assert paths(web) == ["/back", "/back", "/x"]


def test_a_host_inside_a_network_is_fetched_if_it_is_listed(visit):
    web = Web({"/go": redirect("https://inside.test/x"), "/on": redirect("https://inside.test/x")})
    allow = replace(YES, private_hosts=("inside.test",))
    assert "FetchPolicy(private_hosts=…)" in str(visit(web, "https://inside.test/"))
    found = visit(web, "https://inside.test/", "https://inside.test/on", "https://pictures.test/go", allow=allow)
    assert [getattr(item, "size", None) for item in found] == [5, 5, None]
    assert "has no public address" in found[-1].problem
    assert [address for address, _ in web.dialled] == ["10.1.2.3"] * 3 + ["93.184.216.34"]


def test_hosts_inside_a_network_are_added_to_those_that_are_allowed(visit):
    allow = replace(YES, hosts=("other.test",), private_hosts=(".test",))
    assert [item.size for item in visit(Web({}), "https://other.test/", "https://inside.test/", allow=allow)] == [5, 5]


def test_headers_are_sent_to_the_first_address_alone(visit):
    web = Web({"/go": redirect("/end")})
    visit(web, "https://pictures.test/go", headers={"authorization": "Bearer secret"})
    assert ["secret" in head for head in web.hits] == [True, False]


def test_redirects_end_after_five_and_circles_at_once(visit):
    chain = {f"/{number}": redirect(f"/{number + 1}") for number in range(10)}
    web = Web({**chain, "/a": redirect("/b"), "/b": redirect("https://PICTURES.test/a#x")})
    far, circle = visit(web, "https://pictures.test/0", "https://pictures.test/a")
    assert far.problem == "redirects more than 5 times"
    assert circle.problem == "redirects in a circle"
    assert paths(web) == ["/0", "/1", "/2", "/3", "/4", "/5", "/a", "/b"]


@pytest.mark.parametrize("first", ["93.184.216.34", "10.0.0.1"])
def test_a_name_that_changes_its_address_is_asked_once_and_dialled_where_it_was_checked(first, visit):
    asked = []

    async def rebind(host, _port):
        asked.append(host)
        return [first] if asked.count(host) == 1 else ["127.0.0.1"]

    web = Web({}, rebind)
    found = visit(web, *(f"https://files.pictures.test/{number}" for number in range(1)))
    assert asked == ["files.pictures.test"]
    assert web.dialled == ([(first, 443)] if first != "10.0.0.1" else [])
    assert isinstance(found, BadFile) == (first == "10.0.0.1")


def test_two_hundred_rebindings_reach_nobody_inside(visit):
    asked = []

    async def rebind(_host, _port):
        asked.append(1)
        return ["93.184.216.34" if len(asked) % 2 else "169.254.169.254"]

    web = Web({"/go": redirect("https://pictures.test/there")}, rebind)
    found = visit(web, *["https://pictures.test/go"] * 100)
    assert len(asked) == 200
    assert set(web.dialled) == {("93.184.216.34", 443)}
    assert set(paths(web)) == {"/go"}
    assert {item.problem for item in found} == {"redirects to pictures.test, which has no public address"}


def test_a_socket_opens_for_checked_addresses_alone():
    opened = fetch_request.guarded_sockets(fetch_request.open_socket, [IPv4Address("93.184.216.34")])
    with pytest.raises(OSError, match="not checked"):
        opened((2, 1, 6, "", ("127.0.0.1", 443)))


@pytest.mark.parametrize(
    "host", ["a%00.test", "%69nside.test", "a,b.test", "a;b.test", "a b.test", "[::1%25lo]", "a\ud800b"]
)
def test_a_host_that_is_no_name_is_not_even_looked_up(host, visit):
    async def anything(_host, _port):
        return ["93.184.216.34"]

    web = Web({}, anything)
    assert visit(web, f"https://{host}/x").name == "the address"
    assert web.dialled == []


@given(st.one_of(st.integers(0, 2**32 - 1).map(IPv4Address), st.integers(0, 2**128 - 1).map(IPv6Address)))
def test_what_python_calls_not_global_is_never_public(address):
    assert address.is_global or not public_addresses.is_public(address)


@given(st.integers(0, 2**32 - 1).map(IPv4Address))
def test_an_address_within_another_is_never_more_public_than_itself(inner):
    for outer in (0, 0xFFFF << 32, 0x64FF9B << 96, 0x26064700 << 96 | 0x5EFE << 32, 0x2002 << 112 | int(inner) << 80):
        address = IPv6Address(outer | int(inner))
        assert public_addresses.is_public(inner) or not public_addresses.is_public(address)


def test_names_that_lead_inside_and_names_of_nobody_are_distinguished_for_no_one(visit):
    found = visit(Web({}), "https://inside.test/", "https://no-such-name.test/", "https://mixed.test/")
    assert len({(item.problem, item.advice) for item in found}) == 1


# ── what always is ──


@pytest.mark.parametrize(
    "url",
    [
        "https://pictures.test/a.png",
        "  https://pictures.test/a.png ",
        "HTTPS://PICTURES.TEST./a.png",
        "https://pictures.test:443/a.png#part",
        "https://pictures.test:/a.png",
        "https://münchen.test/a.png",
        "https://xn--mnchen-3ya.test/a.png",
        "https://both.test/a.png",
        "https://six.test/a.png",
        "https://translated.test/a.png",
        "https://93.184.216.34/a.png",
        "https://[2606:4700::1111]/a.png",
        "https://[2606:4700:0:0::1111]/a.png",
        "https://pictures.test/redirect/a.png",
        "https://pictures.test/far/5/a.png",
    ],
)
def test_a_good_url_is_fetched(url, visit):
    far = {f"/far/{number}/a.png": redirect(f"../{number - 1}/a.png") for number in range(2, 6)}
    web = Web(
        {
            "/a.png": page(PICTURE, b"Content-Type: image/png"),
            "/redirect/a.png": redirect("https://other.test/a.png", b"308 Permanent Redirect"),
            "/far/1/a.png": redirect("/a.png"),
            **far,
        }
    )
    found = visit(web, url)
    assert found.path.read_bytes() == PICTURE
    assert (found.media_type, found.name, found.size) == ("image/png", "a.png", len(PICTURE))


def test_a_signed_url_is_sent_unchanged(visit):
    web = Web({})
    path = "/a%2Fb%7e/x+y?X-Signature=a%2Bb%3D%3d&e=(1)&s='%20'"
    found = visit(web, f"https://pictures.test{path}")
    assert paths(web) == [path]
    assert found.url == f"https://pictures.test{path}"


def test_spaces_and_characters_beyond_ascii_are_encoded(visit):
    web = Web({"/go": redirect("/böse Datei.png")})
    found = visit(web, "https://pictures.test/my büro.png", "https://pictures.test/go")
    assert paths(web) == ["/my%20b%C3%BCro.png", "/go", "/b%C3%B6se%20Datei.png"]
    assert [item.name for item in found] == ["my büro.png", "böse Datei.png"]


def test_the_claims_are_those_of_the_host(visit):
    named = page(PICTURE, b"Content-Type: Image/JPG; x=y", b'Content-Disposition: attachment; filename="../../q 1.jpg"')
    silent = page(PICTURE, b"Content-Type: binary/octet-stream")
    found, unsaid = visit(Web({"/x": named, "/": silent}), "https://pictures.test/x?id=7", "https://pictures.test")
    assert (found.file.media_type, found.file.name) == ("image/jpeg", "q 1.jpg")
    assert found.file.read() == PICTURE
    assert (unsaid.media_type, unsaid.name) == (None, None)


@pytest.mark.parametrize(
    ("header", "name"),
    [
        ("attachment; filename=a.png", "a.png"),
        ("attachment; filename*=UTF-8''b%C3%BCro%20%E2%82%AC.pdf", "büro €.pdf"),
        ('inline; filename="C:\\\\temp\\\\c.doc"', "c.doc"),
        ("attachment; filename=/etc/passwd", "passwd"),
        ("attachment", None),
        ("", None),
        ("; ; filename*=''%", "%"),
        ("attachment; filename*=nonsense''%ff", "\xff"),
    ],
)
def test_a_name_is_read_from_content_disposition(header, name):
    assert name_of(header) == name


@given(st.text())
def test_no_content_disposition_breaks_the_reading(header):
    name = name_of(f"attachment; {header}")
    assert name is None or "/" not in name


def test_chunked_and_gzip_bodies_come_whole(visit):
    chunked = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n"
    members = page(gzip.compress(PICTURE) + gzip.compress(b"more"), b"Content-Encoding: gzip")
    until_close = b"HTTP/1.1 200 OK\r\n\r\nhello"
    web = Web({"/c": chunked, "/g": members, "/u": until_close})
    found = visit(web, *(f"https://pictures.test/{path}" for path in "cgu"))
    assert [item.path.read_bytes() for item in found] == [b"abcde", PICTURE + b"more", b"hello"]


def test_settings_allow_http_ports_and_hosts(visit):
    web = Web({})
    plain, other = (FetchPolicy(fetch=True, http=True), FetchPolicy(fetch=True, ports=(443, 8443)))
    assert visit(web, "http://pictures.test/", allow=plain).size == 5
    assert visit(web, "https://pictures.test:8443/", allow=other).size == 5
    some = FetchPolicy(fetch=True, hosts=("Other.test", ".pictures.test"))
    urls = ("https://other.test/", "https://files.pictures.test/", "https://pictures.test/", "https://six.test/")
    assert [isinstance(item, BadFile) for item in visit(web, *urls, allow=some)] == [False, False, True, True]
    assert web.dialled == [
        (address, port)
        for address, port in zip(
            ("93.184.216.34", "93.184.216.34", "151.101.1.69", "93.184.216.35"), (80, 8443, 443, 443), strict=True
        )
    ]


def test_by_default_nothing_is_fetched_and_the_setting_is_named(visit):
    web = Web({})
    error = visit(web, "https://pictures.test/", allow=None)
    assert "FetchPolicy(fetch=True)" in str(error)
    assert web.connections == 0


# ── what it may cost ──


def endless(head, piece=b"x" * 4096):
    async def answer(writer):
        writer.write(head)
        while not writer.is_closing():
            writer.write(piece)
            await writer.drain()

    return answer


@pytest.mark.parametrize(
    ("answer", "problem"),
    [
        (page(b"x" * (MAX_BYTES + 1)), "sends more than 100000 bytes"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\n", "sends more than 100000 bytes"),
        (endless(b"HTTP/1.1 200 OK\r\n\r\n"), "sends more than 100000 bytes"),
        (endless(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", b"5\r\nabcde\r\n"), "sends more than 100000 bytes"),
        (page(gzip.compress(bytes(10_000_000)), b"Content-Encoding: gzip"), "sends more than 100000 bytes"),
        (endless(b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n", gzip.compress(b"") * 50), "sends more than 100000 bytes"),
        (page(gzip.compress(PICTURE)[:-9], b"Content-Encoding: gzip"), "broke off"),
        (page(b"no gzip", b"Content-Encoding: gzip"), "sends broken gzip"),
        (page(b"x", b"Content-Encoding: br"), "sends it compressed (br)"),
        (page(b"x", b"Content-Encoding: zstd"), "sends it compressed (zstd)"),
        (page(b"x", b"Content-Encoding: gzip, gzip"), "sends it compressed (gzip, gzip)"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\nshort", "broke off"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\n", "doesn't answer as HTTP does"),
        (b"HTTP/1.1 200 OK\r\nX: " + b"x" * 20_000 + b"\r\n\r\n", "doesn't answer as HTTP does"),
        (b"HTTP/1.1 200 OK\r\n" + b"X: y\r\n" * 5000 + b"\r\n", "doesn't answer as HTTP does"),
        (b"SSH-2.0-OpenSSH_9.9\r\n", "doesn't answer as HTTP does"),
        (page(b"<h1>secret</h1>", status=b"404 Not Found"), "answers 404"),
        (page(b"part", status=b"206 Partial Content"), "answers 206"),
        (page(b"x", status=b"302 Found"), "redirects to nowhere"),
        (b"", "broke off"),
    ],
)  # fmt: skip
def test_what_is_too_much_or_broken_is_refused_and_leaves_nothing(answer, problem, visit, tmp_path):
    error = visit(Web({"/x": answer}), "https://pictures.test/x")
    assert (error.name, error.problem) == ("pictures.test", problem)
    assert list(tmp_path.iterdir()) == []


def drip(head, rest):
    async def answer(writer):
        writer.write(head)
        for _ in range(1000):
            writer.write(rest)
            await writer.drain()
            await asyncio.sleep(0.01)

    return answer


@pytest.mark.parametrize(
    "answer",
    [
        drip(b"HTTP/1.1 200 OK\r\nContent-Length: 5000\r\n\r\n", b"x"),
        drip(b"HTTP/1.1 200 OK\r\nX: ", b"x"),
        drip(b"", b"HTTP/1.1 102 Processing\r\n\r\n"),
        drip(b"HTTP/1.1 302 Found\r\nLocation: ", b"x"),
    ],
    ids=["body", "header", "informational", "redirect"],
)
def test_one_byte_at_a_time_ends_with_the_time_for_everything(answer, visit, tmp_path):
    error = visit(Web({"/x": answer}), "https://pictures.test/x?token=1", seconds=0.15)
    assert str(error).startswith("pictures.test took longer than 0.15 s: ")
    assert list(tmp_path.iterdir()) == []


def test_a_resolver_that_never_answers_ends_with_the_time_too(visit):
    async def silent(_host, _port):
        await asyncio.Event().wait()

    assert "took longer" in str(visit(Web({}, silent), "https://pictures.test/", seconds=0.05))


def test_a_full_disk_is_the_systems_own_error_and_leaves_nothing(visit, tmp_path, monkeypatch):
    async def full(_write, _piece):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(asyncio, "to_thread", full)
    with pytest.raises(OSError, match="No space left"):
        visit(Web({}), "https://pictures.test/x")
    assert list(tmp_path.iterdir()) == []


def test_a_fetch_that_is_cancelled_leaves_nothing(certificates, tmp_path):
    async def go(begun):
        async def answer(writer):
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf")
            begun.set()
            await asyncio.Event().wait()

        async with serving(Web({"/x": answer}), certificates) as line:
            task = asyncio.create_task(attempt("https://pictures.test/x", tmp_path, line, YES, {}))
            await begun.wait()
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
            return task.cancelled()

    assert asyncio.run(go(asyncio.Event()))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("headers", [{}, {"content-length": "7"}, {"content-encoding": "gzip"}])
def test_no_byte_is_written_beyond_the_limit_and_one_piece_read(headers, tmp_path):
    taken = []

    async def pieces():
        data = gzip.compress(bytes(300_000_000), 1) if headers.get("content-encoding") else bytes(10_000_000)
        for start in range(0, len(data), 65536):
            taken.append(start)
            yield data[start : start + 65536]

    async def go():
        with (tmp_path / "sink").open("wb") as sink, pytest.raises(BadFile):
            await _save(FetchedResponse(200, headers, pieces()), sink, 1_000_000, URL("https://pictures.test/"))

    asyncio.run(go())
    assert (tmp_path / "sink").stat().st_size <= 1_000_000
    assert len(taken) <= 1_000_000 // 65536 + 1


def test_a_bomb_costs_little_memory(visit):
    web = Web({"/x": page(gzip.compress(bytes(200_000_000), 9), b"Content-Encoding: gzip")})
    tracemalloc.start()
    error = visit(web, "https://pictures.test/x", max_bytes=20_000_000)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert "sends more than 20000000 bytes" in str(error)
    assert peak < 8_000_000


# ── what leaves ──


def test_no_key_cookie_login_or_proxy_of_this_machine_is_used(visit, monkeypatch, tmp_path_factory):
    netrc = tmp_path_factory.mktemp("home") / "netrc"
    netrc.write_text("machine pictures.test login me password s3cret-netrc\ndefault login me password s3cret-netrc\n")
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY", "AWS_SECRET_ACCESS_KEY", "HF_TOKEN"):
        monkeypatch.setenv(name, "s3cret-key")
    for name in ("HTTPS_PROXY", "https_proxy", "ALL_PROXY", "HTTP_PROXY"):
        monkeypatch.setenv(name, "http://me:s3cret-proxy@127.0.0.1:9")
    monkeypatch.setenv("NETRC", str(netrc))
    web = Web({"/go": redirect("/there"), "/there": redirect("https://other.test/end")})
    assert visit(web, "https://pictures.test/go").size == 5
    heads = "".join(web.hits).lower()
    assert len(web.hits) == 3
    assert [word for word in ("s3cret", "c00kie", "cookie", "authorization", "referer") if word in heads] == []


def test_a_request_says_only_what_it_must(visit):
    web = Web({})
    visit(web, "https://PICTURES.test./x?a=1#secret")
    lines = web.hits[0].strip().split("\r\n")
    names = {line.partition(":")[0].lower() for line in lines[1:]}
    assert lines[:2] == ["GET /x?a=1 HTTP/1.1", "Host: pictures.test"]
    assert names - {"connection"} == {"host", "user-agent", "accept", "accept-encoding"}
    assert "accept-encoding: identity" in lines


def test_an_error_tells_the_host_and_neither_query_login_address_nor_body(visit):
    web = Web(
        {"/404": page(b"<h1>body</h1>", status=b"404 Not Found"), "/go": redirect("https://inside.test/x?t0ken=1")}
    )
    urls = (
        "https://pictures.test/404?t0ken=1",
        "https://pictures.test/go?t0ken=1",
        "https://inside.test/?t0ken=1",
        "https://user:t0ken@pictures.test/",
        "https://pictures.test:22/?t0ken",
        "https://t0ken\\x/",
    )
    received = " ".join(f"{error} {error.__cause__} {error.__context__}" for error in visit(web, *urls))
    assert "pictures.test" in received
    assert [word for word in ("t0ken", "10.1.2.3", "127.0.0.1", "body", "user:") if word in received] == []


@pytest.mark.parametrize("strange", ["wrong name", "unknown authority"])
def test_a_certificate_must_be_believed_and_name_the_host(strange, visit, certificates, monkeypatch):
    if strange == "unknown authority":
        monkeypatch.setattr(certificates, "ours", fetch_request.default_tls())
    url = "https://151.101.1.69/" if strange == "wrong name" else "https://pictures.test/"
    web = Web({})
    assert visit(web, url).problem == "has a certificate that is not trusted"
    assert web.hits == []


@asynccontextmanager
async def nobody():
    yield Dialer(resolve, refuse)


def refuse(_info):
    raise ConnectionRefusedError("127.0.0.1 refused")


def test_a_host_that_cannot_be_reached_is_named(tmp_path):
    async def go():
        async with nobody() as line:
            return await attempt("https://pictures.test/", tmp_path, line, YES, {})

    assert str(asyncio.run(go())) == "pictures.test can't be reached: check the address, or try again later"
