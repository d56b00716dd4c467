"""Nobody learns by the clock whether a conversation of somebody else is there (promises A9)."""

from statistics import median
from time import perf_counter

import pytest

from showandtell.core.messages.ids import new_id
from showandtell.errors import NotFound
from support.stores import Place, note, show

pytestmark = pytest.mark.anyio


async def test_it_takes_as_long_to_find_nothing_as_to_refuse(tmp_path):
    async def once(one):
        before = perf_counter()
        with pytest.raises(NotFound):
            await store.open(one, "stranger")
        return perf_counter() - before

    async with Place("sqlite", tmp_path).store() as store:
        theirs = (await show(store, note("one"), owner="owner")).id
        pairs = [(await once(theirs), await once(new_id("conv"))) for _ in range(200)]  # in turn, as noise comes
    foreign, missing = map(median, zip(*pairs, strict=True))
    assert abs(foreign - missing) < 0.002
