"""Whatever five APIs answer in turn: nothing of it is lost, and every next request is accepted by a strict server."""

import asyncio
import json
from itertools import count

from hypothesis import given
from hypothesis import strategies as st

from showandtell.core.events.types import Finish
from showandtell.core.messages.parts import HostedBlock
from support.agents import make_agent
from support.hosted_answers import PIECES, STOPS, WRITERS, write
from support.properties import examples
from support.scripted import ONCE, Script, check_usable, say, watch

turns = st.lists(
    st.tuples(
        st.sampled_from([*WRITERS]),
        st.lists(st.sampled_from(PIECES), min_size=1, max_size=6),
        st.sampled_from(STOPS),
        st.none() | st.integers(1, 12),
    ),
    min_size=1,
    max_size=5,
)


def echo() -> str:
    """Say something."""
    return "echo"


def blocks_of(conversation):
    parts = (part for message in conversation.messages for part in message.parts)
    return [json.loads(part.block) for part in parts if isinstance(part, HostedBlock) and part.block]


@examples(120)
@given(turns)
def test_nothing_is_lost_and_every_next_request_is_accepted(turns):
    conversation, expected, ids = None, [], count(1)
    for model, pieces, stop, cut in turns:
        data, blocks = write(model, pieces, stop, ids, cut if stop == "cut" else None)
        script = Script(data, say("Done.", model=model), model=model)
        agent = make_agent(model, tools=[echo], exchange=script.exchange, retry=ONCE)
        run = agent.run("and now?", conversation=conversation)
        events = asyncio.run(watch(run))
        assert isinstance(events[-1], Finish)
        is_empty = "returned an empty response" in str(run.error)
        assert run.status in {"complete", "incomplete"} or (cut and is_empty), (run.status, run.reason, run.error)
        conversation, expected = run.conversation, expected + [json.loads(block) for block in blocks]
        assert blocks_of(conversation) == expected
    check_usable(conversation, *WRITERS)
