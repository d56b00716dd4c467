"""Display names come from the issuer's claims; a person is stored rarely, and never kept out by that."""

import pytest

from showandtell.errors import StorageFailed
from showandtell.server.auth.people import SEEN_SECONDS, People, display_name
from showandtell.storage.conversations import users
from showandtell.storage.conversations.users import name_of
from support.postgres import postgresql_if_thorough

pytestmark = pytest.mark.anyio

CLAIMS = [
    ({"name": "Ann Smith", "nickname": "Annie"}, "Ann Smith"),
    ({"name": "ann@example.com", "nickname": "Annie"}, "Annie"),
    ({"name": "", "preferred_username": "annie"}, "annie"),
    ({"preferred_username": "ann@example.com", "email": "ann@example.com"}, ""),
    ({"name": "00uX1", "sub": "00uX1"}, ""),
    ({"name": "system", "nickname": ["Ann"]}, ""),
    ({"email": "ann@example.com", "sub": "ann"}, ""),
]


@pytest.mark.parametrize(("claims", "name"), CLAIMS)
def test_a_display_name_is_never_an_address_or_the_accounts_id(claims, name):
    assert display_name(claims) == name


class Counted:
    """A database that counts its writes, and can refuse them."""

    def __init__(self, database):
        self.database, self.writes, self.error = database, 0, None

    async def write(self, transaction):
        self.writes += 1
        if self.error is not None:
            raise self.error
        return await self.database.write(transaction)


@postgresql_if_thorough
async def test_a_person_is_stored_again_after_an_hour_or_with_another_name(store):
    database = Counted(store.database)
    people, ann = People(database), {"sub": "ann", "name": "Ann"}
    for now in (0.0, 1.0, SEEN_SECONDS - 1):
        await people.remember("ann@id", ann, now)
    await people.remember("ann@id", {"sub": "ann"}, 2.0)  # an access token without the name
    assert database.writes == 1
    await people.remember("ann@id", ann, SEEN_SECONDS)
    await people.remember("ann@id", {**ann, "name": "Beth"}, SEEN_SECONDS)
    assert (database.writes, await name_of(store.database, "ann@id")) == (3, "Beth")


ADMINS = [
    ({"groups": ["staff", "admins"]}, True),
    ({"groups": "admins"}, True),
    ({"groups": ["admins-of-nothing"]}, False),
    ({"roles": "admins"}, False),
]


@pytest.mark.parametrize(("claims", "is_admin"), ADMINS)
async def test_an_administrator_has_the_value_of_the_claim(store, claims, is_admin):
    people = People(store.database, ("groups", "admins"))
    await people.remember("ann@id", {"name": "Ann", **claims}, 0.0)
    assert await users.is_admin(store.database, "ann@id") == is_admin


async def test_a_database_that_can_not_store_a_person_keeps_nobody_out(store):
    database = Counted(store.database)
    database.error, people = StorageFailed("the disk is full"), People(database)
    await people.remember("ann@id", {"name": "Ann"}, 0.0)
    database.error = None
    await people.remember("ann@id", {"name": "Ann"}, 1.0)
    assert await name_of(store.database, "ann@id") == "Ann"
