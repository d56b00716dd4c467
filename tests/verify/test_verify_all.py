"""`verify --all` over the network: every provider with a key, side by side, whatever the others do."""

import socket
from collections import Counter
from dataclasses import replace
from importlib import import_module

import pytest
from msgspec.structs import replace as change
from typer import Abort
from typer.testing import CliRunner

from fake_provider import PlannedFault, blind, faults
from showandtell.cli import commands as cli
from showandtell.cli import verify_all as command
from showandtell.config.user_settings import read_overrides
from showandtell.core.capabilities import apis, registry
from showandtell.core.capabilities.matrix import markdown, matrix
from showandtell.core.wire.parsers import parser_of
from showandtell.core.wire.renderers import renderer_of
from showandtell.errors import UsageError
from showandtell.extending import register_api, register_provider
from showandtell.providers.retry import RetryPolicy
from showandtell.verify.all_models import Candidates, check_all, estimate, find_candidates
from support.drawn_probes import share_probes
from support.extensions import forget_registered, import_from
from support.faulty_provider import serving

#: Only the first row of each provider is asked, and about pictures, so that a test takes few requests.
KINDS = ("image",)


def environ_of(fake_provider, path, *providers, **more):
    """The environment of a user who has keys of some providers."""
    known = fake_provider.environ()
    prefixes = [name.upper() for name in providers]
    keys = {
        name: value for name, value in known.items() if name.endswith("_API_KEY") and name.split("_")[0] in prefixes
    }
    bases = {name: value for name, value in known.items() if name.split("_")[1] in prefixes}
    return {**bases, **keys, "NO_PROXY": "127.0.0.1", "SHOWANDTELL_OVERRIDES": str(path), **more}


def first_of_each(environ):
    """The candidates, with one model for each provider."""
    found = find_candidates(environ)
    return Candidates(
        tuple({model.target.provider: model for model in reversed(found.models)}.values()), found.left_out
    )


def check(environ, capsys, *, candidates=None, **more):
    """The exit status and the output of a check."""
    options = {"again": False, "yes": True, "json": False, "limit": lambda _: 600.0, "retry": RetryPolicy(tries=0)}
    status = command.verify_all(candidates or first_of_each(environ), KINDS, environ=environ, **options | more)
    return status, capsys.readouterr().out


@pytest.fixture
def path(tmp_path):
    return tmp_path / "mine.json"


@pytest.fixture(autouse=True)
def _probes_are_read_already(monkeypatch):
    """Without OCR, which `stress/test_verify.py` uses."""
    share_probes(monkeypatch, is_read=True)


def test_a_provider_that_refuses_hangs_or_is_down_keeps_no_other_from_being_checked(path, capsys):
    with socket.socket() as nobody, serving(PlannedFault(faults.stall(), host="xai", times=0)) as fake_provider:
        nobody.bind(("127.0.0.1", 0))
        down = f"http://127.0.0.1:{nobody.getsockname()[1]}"
        names = ("anthropic", "google", "gemini", "groq", "xai", "mistral")
        environ = environ_of(
            fake_provider, path, *names, GROQ_API_KEY="a-wrong-key-of-groq", SHOWANDTELL_MISTRAL_BASE_URL=down
        )
        limit = lambda target: 1.0 if target.provider == "xai" else 600.0  # noqa: E731 - it never answers
        status, out = check(environ, capsys, limit=limit)
    assert status == command.SOME_FAILED
    assert {name.partition(":")[0] for name in read_overrides(environ)} == {"anthropic", "google"}
    assert "2 of 5 models checked, 4 verdicts" in out
    missing = sorted(line.split(": ")[:2] for line in out.partition("no verdicts:\n")[2].splitlines()[:3])
    assert [(model.partition(":")[0].strip(), end) for model, end in missing] == [
        ("groq", "refused"),
        ("mistral", "unreachable"),
        ("xai", "too slow"),
    ]
    assert "a-wrong-key-of-groq" not in out


def test_providers_without_a_key_are_named_and_not_asked(path, capsys):
    with serving() as fake_provider:
        _, out = check(environ_of(fake_provider, path, "anthropic"), capsys)
        assert {entry.host for entry in fake_provider.ledger} == {"anthropic"}
    assert "asked: anthropic (1 model)\nleft out, without a key: anthropic-bedrock, " in out


def test_after_a_refused_key_the_other_models_of_the_provider_are_not_asked(path, capsys):
    with serving() as fake_provider:
        environ = environ_of(fake_provider, path, "anthropic", ANTHROPIC_API_KEY="wrong")
        status, out = check(environ, capsys, candidates=find_candidates(environ))
        assert len(fake_provider.ledger) == 1
    assert status == command.NONE_JUDGED
    assert out.count("refused: as anthropic:claude-sonnet-4-5") == 2 * 2  # as it goes, and in the end


def test_after_a_spent_account_the_other_models_of_the_provider_are_not_asked(path, capsys):
    spent = faults.status(429, message="You exceeded your current quota (insufficient_quota).")
    with serving(PlannedFault(spent, host="anthropic", nth=3, times=0)) as fake_provider:
        environ = environ_of(fake_provider, path, "anthropic")
        found = find_candidates(environ)
        status, out = check(environ, capsys, candidates=found)
        assert len(fake_provider.ledger) == 3
    assert status == command.NONE_JUDGED
    first = found.models[0].target.name
    assert f"{first}: out of credit: You exceeded your current quota" in out
    assert out.count(f"out of credit: as {first}") == 2 * (len(found.models) - 1)


def test_a_quota_of_one_model_which_will_be_there_again_keeps_no_other_from_being_asked(path, capsys):
    message = "You exceeded your current quota, please check your billing details."
    used_up = faults.status(429, retry_after=30, message=message)
    with serving(PlannedFault(used_up, host="google")) as fake_provider:
        environ = environ_of(fake_provider, path, "google", "gemini")
        found = find_candidates(environ)
        status, out = check(environ, capsys, candidates=found)
    assert status == command.SOME_FAILED
    assert f"{len(found.models) - 1} of {len(found.models)} models checked" in out
    assert f"{found.models[0].target.name}: unavailable: You exceeded your current quota" in out


@pytest.mark.parametrize("error", [TypeError("it takes no files"), SystemExit("it takes no files")])
def test_a_mistake_in_the_code_of_one_model_keeps_no_other_from_being_checked(path, capsys, error):
    def send(_):
        raise error

    with serving() as fake_provider:
        environ = environ_of(fake_provider, path, "anthropic", "groq")
        first, second = first_of_each(environ).models
        broken = change(first, exchange=replace(first.exchange, send=send))
        status, out = check(environ, capsys, candidates=Candidates((broken, second), {}))
    assert status == command.SOME_FAILED
    assert f"  {first.target.name}: failed: {type(error).__name__}: it takes no files\n" in out
    assert list(read_overrides(environ)) == [second.target.name]


def test_the_key_is_hidden_in_the_text_of_a_mistake(path, capsys):
    def send(request):
        raise ValueError(f"bad headers: {dict(request.headers)}")

    with serving() as fake_provider:
        environ = environ_of(fake_provider, path, "anthropic")
        [model] = first_of_each(environ).models
        broken = change(model, exchange=replace(model.exchange, send=send))
        _, out = check(environ, capsys, candidates=Candidates((broken,), {}))
    assert "failed: ValueError: bad headers" in out
    assert environ["ANTHROPIC_API_KEY"] not in out


@pytest.mark.parametrize(
    ("module", "text", "reason"),
    [
        ("render", "import acme_lost", "the module render of the API acme-talk failed: ModuleNotFoundError: No module"),
        ("parse", "import acme_lost", "the module parse of the API acme-talk failed: ModuleNotFoundError: No module"),
        ("render", "raise RecursionError('too deep')", "RecursionError: too deep"),
        ("", "", "the API 'acme-talk' is not known."),
    ],
)
def test_a_provider_whose_api_cant_be_used_is_left_out_with_the_reason(tmp_path, monkeypatch, module, text, reason):
    forget_registered(monkeypatch, apis.REGISTRY, registry.REGISTRY)
    import_from(tmp_path, monkeypatch)
    parser_of.cache_clear()
    renderer_of.cache_clear()
    register_provider(import_module("acme_talk").TALK)
    if module:
        register_api(import_module("acme_talk").API)
        (tmp_path / "acme_talk" / f"{module}.py").write_text(text)
    found = find_candidates({"ACME_TALK_KEY": "a key of acme", "ANTHROPIC_API_KEY": "a key of anthropic"})
    assert {model.target.provider for model in found.models} == {"anthropic"}
    assert found.left_out["acme-talk"].startswith(reason)


def test_after_no_verdict_at_all_the_table_is_not_named(path, capsys):
    with serving() as fake_provider:
        environ = environ_of(fake_provider, path, "anthropic", ANTHROPIC_API_KEY="wrong")
        _, out = check(environ, capsys)
    assert "0 of 1 model checked, 0 verdicts\nno verdicts:\n" in out
    assert "our table" not in out


def test_the_end_names_what_differs_from_the_table(path, capsys):
    with serving(blind=[blind(kinds=["image"], places=["tool_result"], host="anthropic")]) as fake_provider:
        _, out = check(environ_of(fake_provider, path, "anthropic", "google", "gemini"), capsys)
    assert "1 of them differ from our table:\n  anthropic:" in out
    assert "image in a tool result: blind, our table says sees" in out


def test_an_interrupted_check_continues_with_the_models_that_are_left(path, capsys, monkeypatch):
    async def interrupted(models, kinds, **options):
        async for item in check_all(models[:1], kinds, **options):
            yield item
        raise KeyboardInterrupt

    with serving() as fake_provider:
        environ = environ_of(fake_provider, path, "anthropic", "groq")
        with monkeypatch.context() as patch:
            patch.setattr(command, "check_all", interrupted)
            with pytest.raises(KeyboardInterrupt):
                check(environ, capsys)
        assert "interrupted: the same command continues" in capsys.readouterr().out
        status, out = check(environ, capsys)
    assert status == command.ALL_JUDGED
    assert "1/1 " in out
    assert "left out: " in out
    assert len(read_overrides(environ)) == 2


def test_checked_models_are_asked_again_only_if_that_is_wanted(path, capsys):
    with serving() as fake_provider:
        environ = environ_of(fake_provider, path, "anthropic")
        check(environ, capsys)
        asked = len(fake_provider.ledger)
        status, out = check(environ, capsys)
        assert (status, len(fake_provider.ledger)) == (command.ALL_JUDGED, asked)
        assert out.endswith("nothing to check\n")
        check(environ, capsys, again=True)
        assert len(fake_provider.ledger) == 2 * asked


def test_no_request_is_sent_before_a_yes(path, capsys, monkeypatch):
    with serving() as fake_provider:
        environ = environ_of(fake_provider, path, "anthropic")
        with pytest.raises(UsageError, match="add --yes"):
            check(environ, capsys, yes=False)
        monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)
        monkeypatch.setattr(command.typer, "confirm", lambda *_, **__: False)
        with pytest.raises(Abort):
            check(environ, capsys, yes=False)
        assert fake_provider.ledger == []
    assert "1 model, 4 to 7 requests, about 0 MB to send\nabout " in capsys.readouterr().out


def test_the_question_says_how_long_it_can_take(path, capsys):
    with serving() as fake_provider:
        environ = environ_of(fake_provider, path, "anthropic", "groq", ANTHROPIC_API_KEY="wrong", GROQ_API_KEY="wrong")
        found = find_candidates(environ)
        counts = Counter(model.target.provider for model in found.models)
        _, out = check(environ, capsys, candidates=found)
        _, briefly = check(environ, capsys, limit=lambda _: 30.0)
    ends = "providers side by side; Ctrl-C keeps what was checked\n"
    assert f"at most 10 minutes a model, {10 * max(counts.values())} minutes in all, {ends}" in out
    assert f"at most 30 seconds a model, {ends}" in briefly
    assert "answers of two or three lines, but nothing limits them to that: models that think write more" in out


def test_the_estimate_covers_what_is_sent(path, capsys):
    with serving() as fake_provider:
        environ = environ_of(fake_provider, path, "anthropic")
        expected = estimate(first_of_each(environ).models, KINDS)
        check(environ, capsys)
        sent = [entry.size for entry in fake_provider.ledger]
    assert expected.requests <= len(sent) <= expected.max_requests
    assert 0.5 * sum(sent) < expected.bytes < 2 * sum(sent)


def test_the_command_stores_what_the_matrix_then_shows(path):
    with serving() as fake_provider:
        environ = environ_of(fake_provider, path, "cohere", CO_API_KEY=fake_provider.environ()["CO_API_KEY"])
        done = CliRunner().invoke(cli.app, ["verify", "--all", "--yes", "--kind", "image"], env=environ)
    assert done.exit_code == 0
    assert "2 of 2 models checked" in done.output
    assert "(verified 20" in markdown(matrix(read_overrides(environ)))


@pytest.mark.parametrize(
    "arguments", [["verify"], ["verify", "inspector", "--all"], ["verify", "--all", "--save", "x"]]
)
def test_one_model_or_all(arguments):
    assert isinstance(CliRunner().invoke(cli.app, arguments).exception, UsageError)
