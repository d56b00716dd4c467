"""A text in another encoding: its bytes stay, and people and models get it in UTF-8."""

import pytest

from support.serving import serving

pytestmark = pytest.mark.anyio
TEXT = "Stadt;Größe\nKöln;€ 12\n"


async def test_a_table_from_excel_reaches_people_and_models_and_keeps_its_bytes(tmp_path):
    data = TEXT.encode("cp1252")
    async with serving(tmp_path) as site:
        async with site.session.put("/api/attachments", params={"name": "sizes.txt"}, data=data) as answer:
            upload = await answer.json()
        async with site.session.get(upload["url"]) as answer:
            assert (answer.headers["content-type"], await answer.read()) == ("text/plain; charset=windows-1252", data)
        async with site.session.get(f"/api/attachments/{upload['id']}/text") as answer:
            assert await answer.text("utf-8") == TEXT
        status, chunks = await site.post("Quote text 1.", files=[upload["id"]])
        (receipt,) = [chunk["data"] for chunk in chunks if chunk["type"] == "data-receipt"]
        assert (status, "windows-1252" in receipt["reason"]) == (200, True)
