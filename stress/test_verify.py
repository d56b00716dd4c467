"""`verify --all` with a provider that reads the pictures of the check by OCR: seconds for each model."""

from typer.testing import CliRunner

from showandtell.cli import commands as cli
from showandtell.config.user_settings import read_overrides
from showandtell.core.capabilities.matrix import markdown, matrix
from support.faulty_provider import serving


def test_ocr_reads_every_picture_of_the_check(tmp_path):
    with serving() as fake_provider:
        known = fake_provider.environ()
        environ = {name: known[name] for name in known if name.startswith(("CO_", "SHOWANDTELL_COHERE_"))}
        environ |= {"NO_PROXY": "127.0.0.1", "SHOWANDTELL_OVERRIDES": str(tmp_path / "mine.json")}
        done = CliRunner().invoke(cli.app, ["verify", "--all", "--yes", "--kind", "image"], env=environ)
    assert done.exit_code == 0
    assert "2 of 2 models checked" in done.output
    assert "(verified 20" in markdown(matrix(read_overrides(environ)))
