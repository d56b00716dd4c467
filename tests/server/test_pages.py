"""Addresses of no page, and the page's assets in the forms that its build has written."""

import pytest

from support.coded_responses import load
from support.serving import serving

pytestmark = pytest.mark.anyio
#: What browsers say when a person opens an address, and what scripts and programs say.
PERSON = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"
PROGRAM = "*/*"
#: A script, and what its build would have written beside it: these bytes are only passed on.
SCRIPT = {"app-1a2b.js": b"plain " * 50, "app-1a2b.js.br": b"in brotli", "app-1a2b.js.gz": b"in gzip's form"}
TINY = {"tiny-3c4d.css": b"a{}"}
#: The document that draws diagrams, by the hash of its script.
SCRIPT_HASH = f"{'-_a0' * 10}-_E"
DIAGRAMS = {f"diagrams-{SCRIPT_HASH}.html": b"<script></script>"}


@pytest.fixture
async def site(tmp_path):
    page = tmp_path / "page"
    (page / "assets").mkdir(parents=True)
    for name, content in (SCRIPT | TINY | DIAGRAMS).items():
        (page / "assets" / name).write_bytes(content)
    async with serving(tmp_path, page=page) as site:
        yield site


async def load_script(site, accept_encoding=None, method="GET", **headers):
    return await load(site.as_user(), "/assets/app-1a2b.js", accept_encoding, method, **headers)


async def look(site, path, accept, method="GET", session=None):
    async with (session or site.session).request(method, path, headers={"accept": accept}) as answer:
        return answer.status, answer.headers["content-type"], await answer.text()


@pytest.mark.parametrize("path", ["/nosuch", "/c/", "/c/a/b", "/assets/nosuch.js", "/matrix/x", "/%3Cscript%3E"])
async def test_a_person_at_an_address_of_nothing_is_led_to_the_chat(tmp_path, path):
    async with serving(tmp_path) as site:
        for session in (None, site.as_user()):
            status, kind, text = await look(site, path, PERSON, session=session)
            assert (status, kind) == (404, "text/html; charset=utf-8")
            assert 'href="/"' in text
            assert "<script" not in text.lower()
        assert (await look(site, path, PERSON, "HEAD"))[::2] == (404, "")


async def test_programs_and_the_api_are_answered_in_json(tmp_path):
    async with serving(tmp_path) as site:
        asked = [("/nosuch", PROGRAM, "GET"), ("/api/nosuch", PERSON, "GET"), ("/api/attachments/x", PERSON, "GET")]
        for path, accept, method in [*asked, ("/nosuch", PERSON, "DELETE")]:
            status, kind, text = await look(site, path, accept, method)
            assert (status, kind) == (404, "application/json")
            assert '"NotFound"' in text


@pytest.mark.parametrize(
    ("accepted", "coding", "name"),
    [
        ("gzip, deflate, br, zstd", "br", "app-1a2b.js.br"),
        ("gzip, deflate", "gzip", "app-1a2b.js.gz"),
        ("*", "br", "app-1a2b.js.br"),
        ("br;q=0, *;q=0.5", "gzip", "app-1a2b.js.gz"),
        ("br; q=0.2, gzip;q=0.8", "gzip", "app-1a2b.js.gz"),
        ("BR", "br", "app-1a2b.js.br"),
        ("br;q=0, gzip;q=0.000", None, "app-1a2b.js"),
        ("identity, br;q=0.5", None, "app-1a2b.js"),
        ("identity", None, "app-1a2b.js"),
        ("br;q=high", None, "app-1a2b.js"),
        ("", None, "app-1a2b.js"),
        (None, None, "app-1a2b.js"),
    ],
)
async def test_an_asset_is_sent_in_the_form_that_its_client_prefers(site, accepted, coding, name):
    found = await load_script(site, accepted)
    assert (found.status, found.coding, found.body) == (200, coding, SCRIPT[name])
    assert found.headers["content-length"] == str(len(SCRIPT[name]))
    assert found.headers["content-type"] == "text/javascript; charset=utf-8"
    assert found.headers["vary"] == "accept-encoding"
    assert "immutable" in found.headers["cache-control"]


async def test_the_head_of_an_asset_is_that_of_its_form(site):
    whole, head = [await load_script(site, "br", method) for method in ("GET", "HEAD")]
    assert head.body == b""
    same = ("content-encoding", "content-length", "content-type", "etag", "vary")
    assert [head.headers[name] for name in same] == [whole.headers[name] for name in same]


async def test_each_form_has_an_etag_of_its_own(site):
    tags = {coding: (await load_script(site, coding)).headers["etag"] for coding in ("br", "gzip", "identity")}
    assert len(set(tags.values())) == 3
    for coding, tag in tags.items():
        known = await load_script(site, coding, if_none_match=tag)
        assert (known.status, known.body, known.coding) == (304, b"", None)
        assert (known.headers["etag"], known.headers["vary"]) == (tag, "accept-encoding")
    assert (await load_script(site, "gzip", if_none_match=tags["br"])).body == SCRIPT["app-1a2b.js.gz"]


async def test_a_part_of_an_asset_is_a_part_of_its_plain_form(site):
    part = await load_script(site, "br", range="bytes=0-4")
    assert (part.status, part.body, part.coding) == (206, b"plain", None)
    assert part.headers["vary"] == "accept-encoding"
    of_other_form = (await load_script(site, "br")).headers["etag"]
    whole = await load_script(site, "br", range="bytes=0-4", if_range=of_other_form)
    assert (whole.status, whole.body) == (200, SCRIPT["app-1a2b.js"])


async def test_an_asset_that_the_build_has_not_compressed_is_sent_as_it_is(site):
    found = await load(site.as_user(), "/assets/tiny-3c4d.css", "br, gzip")
    assert (found.status, found.coding, found.body) == (200, None, b"a{}")
    assert (await load(site.as_user(), "/assets/nosuch.js", "br")).status == 404


async def test_the_document_that_draws_diagrams_runs_its_own_script_and_loads_nothing(site):
    (name,) = DIAGRAMS
    found = await load(site.as_user(), f"/assets/{name}")
    policy = dict(rule.split(" ", 1) for rule in found.headers["content-security-policy"].split("; "))
    assert policy["script-src"] == f"'sha256-{'+/a0' * 10}+/E='"
    assert (policy["sandbox"], policy["default-src"]) == ("allow-scripts", "'none'")
    assert policy["frame-ancestors"] == "'self'"
    assert found.headers["x-frame-options"] == "SAMEORIGIN"
    assert "'self'" not in policy["script-src"]


async def test_other_documents_of_the_assets_may_not_be_framed(site):
    found = await load(site.as_user(), "/assets/tiny-3c4d.css")
    assert "frame-ancestors 'none'" in found.headers["content-security-policy"]
    assert "x-frame-options" not in found.headers


async def permissions_of(site, path):
    async with site.session.get(path) as answer:
        return set(answer.headers["permissions-policy"].split(", "))


@pytest.mark.parametrize("path", ["/", "/c/conv_1", "/settings"])
async def test_the_page_alone_may_ask_for_the_microphone_and_for_nothing_else(site, tmp_path, path):
    (tmp_path / "page" / "index.html").write_text("<!doctype html>")
    others = [await permissions_of(site, each) for each in ("/nosuch", "/api/me", f"/assets/{next(iter(DIAGRAMS))}")]
    page = await permissions_of(site, path)
    assert others == [page - {"microphone=(self)"} | {"microphone=()"}] * 3
    assert [each for each in page if not each.endswith("=()")] == ["microphone=(self)"]
