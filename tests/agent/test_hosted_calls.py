"""Tools of the provider in a run: what waits, what continues after a pause, and what only a program could answer."""

import asyncio

from showandtell.core.events.types import ApprovalNeeded, Finish, HostedCall
from showandtell.core.messages.parts import HostedBlock
from support.scripted import CLAUDE, RESPONSES, event, say, scripted, watch
from support.streams import anthropic

ASKED = {"type": "mcp_approval_request", "id": "mcpr_1", "server_label": "wiki", "name": "ask", "arguments": '{"q": 1}'}
CALLED = {"type": "mcp_call", "id": "mcp_1", "server_label": "wiki", "name": "ask", "arguments": "{}", "output": "Yes."}
CLICK = {"type": "computer_call", "id": "cu_1", "call_id": "c_1", "status": "completed", "action": {"type": "click"}}
CLICK |= {"pending_safety_checks": []}
SEARCH = {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "kiwi"}}
FOUND = {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": []}


def answered(*items):
    done = [event("response.output_item.done", output_index=at, item=item) for at, item in enumerate(items)]
    response = {
        "id": "resp_1",
        "status": "completed",
        "output": [*items],
        "usage": {"input_tokens": 9, "output_tokens": 5},
    }
    return b"".join([*done, event("response.completed", response=response)])


def go(agent, *arguments, **settings):
    run = agent.run(*arguments, **settings)
    events = asyncio.run(watch(run))
    assert [item for item in events if isinstance(item, Finish)] == events[-1:]
    return run, events


def test_a_tool_of_the_provider_waits_for_a_person():
    run, events = go(scripted(answered(ASKED), model=RESPONSES)[0], "ask the wiki")
    assert (run.status, run.reason) == ("waiting", "approval")
    assert [item for item in events if isinstance(item, ApprovalNeeded)] == [
        ApprovalNeeded("mcpr_1", "wiki.ask", '{"q":1}')
    ]


def test_the_decision_goes_to_the_provider_which_continues():
    agent, script = scripted(answered(ASKED), answered(CALLED), say("Yes.", model=RESPONSES), model=RESPONSES)
    run, _ = go(agent, "ask the wiki")
    again, events = go(agent, conversation=run.conversation, approvals={"mcpr_1": True})
    assert script.bodies[1]["input"][-2:] == [
        ASKED,
        {"type": "mcp_approval_response", "approval_request_id": "mcpr_1", "approve": True},
    ]
    assert again.status == "complete"
    assert [item.output for item in events if isinstance(item, HostedCall)] == ['"Yes."']


def test_a_person_who_says_something_else_instead_leaves_a_history_that_is_accepted():
    agent, script = scripted(answered(ASKED), say("Well.", model=RESPONSES), model=RESPONSES)
    run, _ = go(agent, "ask the wiki")
    again, _ = go(agent, "never mind", conversation=run.conversation)
    assert (again.status, again.text) == ("complete", "Well.")
    assert "mcp_approval" not in str(script.bodies[1])
    assert "wiki.ask of the provider" in str(script.bodies[1])


def test_a_run_whose_only_call_is_for_a_program_is_incomplete_and_names_it():
    run, _ = go(scripted(answered(CLICK), model=RESPONSES)[0], "click it")
    assert (run.status, run.reason) == ("incomplete", "computer")
    assert isinstance(run.messages[-1].parts[0], HostedBlock)


def test_an_answer_that_is_only_a_block_is_not_empty():
    run, _ = go(scripted(answered(CALLED), model=RESPONSES)[0], "ask the wiki")
    assert run.status == "complete"


def test_a_paused_turn_continues_with_its_blocks():
    paused = anthropic.sse(anthropic.BEGIN, *anthropic.block(0, SEARCH), anthropic.end("pause_turn"), anthropic.STOP)
    found = anthropic.sse(
        anthropic.BEGIN,
        *anthropic.block(0, FOUND),
        *anthropic.text(1, "A fruit."),
        anthropic.end("end_turn"),
        anthropic.STOP,
    )
    agent, script = scripted(paused, found, say("Yes."), model=CLAUDE)
    run, _ = go(agent, "what is a kiwi?")
    again, _ = go(agent, "really?", conversation=run.conversation)
    assert (run.status, run.text, again.status) == ("complete", "A fruit.", "complete")
    assert script.bodies[1]["messages"][-1] == {"role": "assistant", "content": [SEARCH]}
    assert script.bodies[2]["messages"][1]["content"][:2] == [SEARCH, FOUND]
