"""Presets and favourites: what a user keeps for other conversations, in any number of tabs."""

import pytest

from showandtell.storage.conversations.preferences import MAX_FAVOURITES
from showandtell.storage.conversations.presets import MAX_PRESETS
from support.postgres import each_database, postgresql_if_thorough, ready_database
from support.serving import serving
from support.two_users import ask, open_accounts

pytestmark = pytest.mark.anyio
RHYMES = {"instructions": "Answer in rhymes."}


async def add(site, name, settings=None, session=None):
    body = {"name": name, "settings": RHYMES if settings is None else settings}
    return await ask(session or site.session, "POST", "/api/presets", json=body)


async def listed(site, session=None):
    return (await site.get("/api/presets", session))[1]["presets"]


async def change(site, preset, **body):
    return await ask(site.session, "PATCH", f"/api/presets/{preset['id']}", json=body)


@postgresql_if_thorough
async def test_a_preset_is_stored_renamed_changed_and_deleted(database, tmp_path):
    async with serving(tmp_path, database=ready_database(database, tmp_path)) as site:
        _, preset = await add(site, "  Poet\n ", {**RHYMES, "temperature": 0.5, "tools": ["chart"]})
        await add(site, "accountant", {})
        assert [one["name"] for one in await listed(site)] == ["accountant", "Poet"]
        assert (await change(site, preset, revision=1, name="Bard"))[1]["revision"] == 2
        status, changed = await change(site, preset, revision=2, settings={"temperature": 1})
        assert (status, changed["name"], changed["settings"]["instructions"]) == (200, "Bard", "")
        assert (await listed(site))[1] == changed
        for status in (204, 404):
            assert (await ask(site.session, "DELETE", f"/api/presets/{preset['id']}"))[0] == status
        assert len(await listed(site)) == 1


@each_database
async def test_an_edit_of_an_older_preset_is_refused_in_words(database, tmp_path):
    async with serving(tmp_path, database=ready_database(database, tmp_path)) as site:
        _, preset = await add(site, "Poet")
        assert (await change(site, preset, revision=1, name="Bard"))[0] == 200
        status, answer = await change(site, preset, revision=1, settings={})
        assert (status, answer["error"]["text"]) == (
            409,
            "the preset 'Bard' changed elsewhere since you opened it: look at it again, then save",
        )
        assert [(one["name"], one["settings"]["instructions"]) for one in await listed(site)] == [
            ("Bard", "Answer in rhymes.")
        ]


@each_database
async def test_two_presets_of_a_user_have_two_names(database, tmp_path):
    async with serving(tmp_path, database=ready_database(database, tmp_path)) as site:
        await add(site, "Poet")
        _, other = await add(site, "Bard")
        for status, answer in (await add(site, "Poet "), await change(site, other, revision=1, name="Poet")):
            assert status == 422
            assert "already: choose another name" in answer["error"]["text"]
        assert (await change(site, other, revision=1, name="Bard", settings={}))[0] == 200


@pytest.mark.parametrize(
    ("name", "settings", "problem"),
    [
        (" ", {}, "a name of 0 characters"),
        ("x" * 61, {}, "a name of 61 characters"),
        ("x", {"tools": ["shell"]}, "offers no tool 'shell'"),
        ("x", {"temperature": 3}, "the temperature is 3"),
        ("x", {"instructions": "x" * 20_001}, "length <= 20000"),
    ],
)
async def test_presets_that_no_conversation_can_have_are_refused(name, settings, problem, tmp_path):
    async with serving(tmp_path) as site:
        status, answer = await add(site, name, settings)
        assert (status, problem in answer["error"]["text"]) == (422, True), answer
        assert await listed(site) == []


async def test_presets_have_a_limit(tmp_path):
    async with serving(tmp_path) as site:
        for number in range(MAX_PRESETS):
            assert (await add(site, f"preset {number}"))[0] == 200
        status, answer = await add(site, "one more")
        assert status == 422
        assert "delete one of them" in answer["error"]["text"]


async def test_presets_and_favourites_are_the_users_own(tmp_path):
    async with serving(tmp_path) as site:
        ann, bob = map(open_accounts(site), ("ann", "bob"))
        _, preset = await add(site, "Poet", session=ann)
        await ask(ann, "PATCH", "/api/settings", json={"star": "inspector:gemini"})
        assert await listed(site, bob) == []
        assert (await ask(bob, "DELETE", f"/api/presets/{preset['id']}"))[0] == 404
        assert (await site.get("/api/settings", bob))[1]["favourites"] == []
        assert (await add(site, "Poet", session=bob))[0] == 200


@each_database
async def test_models_are_starred_one_by_one(database, tmp_path):
    async def patch(**body):
        return (await ask(site.session, "PATCH", "/api/settings", json=body))[1]["favourites"]

    async with serving(tmp_path, database=ready_database(database, tmp_path)) as site:
        assert await patch(star="inspector:gemini") == ["inspector:gemini"]
        assert await patch(star="openai:gpt-5.5") == ["inspector:gemini", "openai:gpt-5.5"]
        assert await patch(star="inspector:gemini", theme="dark") == ["inspector:gemini", "openai:gpt-5.5"]
        assert await patch(unstar="inspector:gemini") == ["openai:gpt-5.5"]
        assert await patch(unstar="nobody:any") == ["openai:gpt-5.5"]
        assert (await ask(site.session, "PATCH", "/api/settings", json={"star": "nobody:any"}))[0] == 422


async def test_favourites_have_a_limit(tmp_path):
    async with serving(tmp_path) as site:
        answers = [
            await ask(site.session, "PATCH", "/api/settings", json={"star": f"vllm:model-{number}"})
            for number in range(MAX_FAVOURITES + 1)
        ]
    assert [status for status, _ in answers] == [200] * MAX_FAVOURITES + [422]
    assert "take the star from one" in answers[-1][1]["error"]["text"]
