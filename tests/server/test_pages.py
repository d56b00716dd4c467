"""Addresses of no page: a person's browser gets a page that leads to the chat, a program the JSON of every error."""

import pytest

from support.serving import serving

pytestmark = pytest.mark.anyio
#: What browsers say when a person opens an address, and what scripts and programs say.
PERSON = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"
PROGRAM = "*/*"


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
