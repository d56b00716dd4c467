"""`verify --all` over the network: every provider with a key, side by side, whatever the others do."""

import socket

import pytest
from typer import Abort
from typer.testing import CliRunner

from fake_provider import PlannedFault, blind
from fake_provider.faults import stall
from showandtell.cli import commands as cli
from showandtell.cli import verify_all as command
from showandtell.config.user_settings import read_overrides
from showandtell.core.capabilities.matrix import markdown, matrix
from showandtell.errors import UsageError
from showandtell.providers.retry import RetryPolicy
from showandtell.verify.all_models import Candidates, check_all, estimate, find_candidates
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


def test_a_provider_that_refuses_hangs_or_is_down_keeps_no_other_from_being_checked(path, capsys):
    with socket.socket() as nobody, serving(PlannedFault(stall(), host="xai", times=0)) as fake_provider:
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
