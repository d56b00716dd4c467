"""Files of the conversation for code that the provider runs: uploaded, put in by id, and named by number."""

import pytest

from showandtell.core.capabilities.resolve import resolve
from showandtell.core.messages.derivations import DerivationRequest, Derivative, Failed
from showandtell.core.messages.message import Message
from showandtell.core.messages.parts import Text
from showandtell.core.planning.placement import UPLOAD
from showandtell.core.planning.plan import plan
from showandtell.core.planning.values import Policy
from showandtell.core.wire.options import Options
from showandtell.core.wire.request import compose
from showandtell.hosted import CodeExecution
from showandtell.providers.exchange import Exchange
from showandtell.providers.uploads import with_file_headers
from support.builders import Everything, assistant, attachment, result, shown, user, view

CLAUDE, GPT = "anthropic:claude-sonnet-5", "openai:gpt-5.5"
TABLE = attachment(1, "application/vnd.sqlite3", origin=None)
ARCHIVE = attachment(2, "application/zip")


def request(model, messages, files, outcome=None, **policy):
    """The request with all uploads done, or the requests for them."""
    target = resolve(model)
    known = Everything()
    for file in files:
        key = DerivationRequest(file.facts.sha256, UPLOAD, target.upload_scope)
        known[key] = outcome or Derivative(file_id=f"file_{file.number}")
    planned = plan(view(*messages, files=files), target, known, Policy(container=True, **policy))
    return compose(planned, target, Options(hosted=(CodeExecution(files=True),)), None)


def test_claude_gets_a_block_for_each_file_after_its_label():
    body = request(CLAUDE, [user("Sum it up.", shown(1))], [TABLE]).json()
    *_, label, upload = body["messages"][0]["content"]
    assert upload == {"type": "container_upload", "file_id": "file_1"}
    assert label["text"].startswith("⟦file 1: file1.vnd.sqlite3, ")
    assert f"whose name contains {TABLE.facts.sha256[:16]}" in label["text"]


def test_gpt_gets_the_ids_with_the_tool():
    body = request(GPT, [user("Sum it up.", shown(1))], [TABLE]).json()
    assert body["tools"] == [{"type": "code_interpreter", "container": {"type": "auto", "file_ids": ["file_1"]}}]
    assert "file 1" in str(body["input"])


@pytest.mark.parametrize("model", [CLAUDE, GPT])
def test_a_file_of_a_tool_follows_after_the_results(model):
    messages = [
        user("Get it."),
        assistant("c1"),
        result("c1", shown(2)),
        assistant("c2", named="a2"),
        result("c2", "ok"),
    ]
    body = request(model, messages, [ARCHIVE]).json()
    assert str(body).count("file_2") == 1
    assert "file 2" in str(body)


def test_a_file_that_no_model_reads_is_not_refused_if_code_has_it():
    receipts = request(CLAUDE, [user("Sum it up.", shown(1))], [TABLE]).receipts
    assert [receipt.delivery for receipt in receipts] == ["for_tools"]
    assert receipts[0].reason == f"{CLAUDE} takes no application/vnd.sqlite3"


def test_an_upload_that_failed_is_in_the_reason():
    messages = [user("Get it."), assistant("c1"), result("c1", shown(2))]
    (receipt,) = request(CLAUDE, messages, [ARCHIVE], Failed("no room")).receipts
    assert receipt.reason.endswith("code of the provider can't read it: no room")


def test_uploads_are_requested_first_and_only_where_they_may_be_used():
    here = view(user("Sum it up.", shown(1)), files=[TABLE])
    for model, count in ((CLAUDE, 1), (GPT, 1), ("google:gemini-3-pro", 0)):
        target = resolve(model)
        wants = plan(here, target, Everything(), Policy(container=True)).wants
        assert [request.conversion for request in wants] == [UPLOAD] * count
    assert plan(here, resolve(CLAUDE), Everything(), Policy()).wants == frozenset()


def test_a_file_for_the_user_alone_is_not_uploaded():
    secret = attachment(1, "text/csv")
    secret = type(secret)(**{name: getattr(secret, name) for name in secret.__struct_fields__} | {"audience": "user"})
    planned = plan(view(user("Look.", shown(1)), files=[secret]), resolve(CLAUDE), Everything(), Policy(container=True))
    assert planned.wants == frozenset()


def test_claude_is_sent_the_header_of_its_files():
    sent = with_file_headers(
        Exchange(None, "https://a.example", {}), request(CLAUDE, [user("Sum.", shown(1))], [TABLE])
    )
    assert sent.headers == {"anthropic-beta": "files-api-2025-04-14"}


def test_code_keeps_its_files_in_the_steps_after():
    first = request(CLAUDE, [user("Sum it up.", shown(1))], [TABLE]).json()["messages"]
    later = [user("Sum it up.", shown(1)), Message("a1", "assistant", (Text("3"),)), user("And now?", named="u2")]
    assert request(CLAUDE, later, [TABLE]).json()["messages"][0] == first[0]
