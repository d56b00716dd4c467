"""The command `doctor`: what this installation can do on this machine, what it lacks, and what follows from that.

It changes nothing and makes no folder.
"""

from __future__ import annotations

import os
import platform
import shutil
import sqlite3
import stat
import warnings
from collections.abc import Callable, Iterator
from contextlib import closing
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Literal, NamedTuple, TypeAlias

import typer
from msgspec import ValidationError, convert

from showandtell.agent.named import TOOLS
from showandtell.cli.configured import with_settings
from showandtell.cli.sessions import place_of
from showandtell.config.settings import Settings
from showandtell.config.user_settings import data_folder
from showandtell.core.capabilities import apis, registry
from showandtell.core.display.words import plain
from showandtell.core.media_types import converters
from showandtell.core.wire.parsers import PackageParser, parser_of
from showandtell.core.wire.renderers import Renderer, renderer_of
from showandtell.errors import ShowAndTellError
from showandtell.installation import install_command
from showandtell.media.gate import COMMAND
from showandtell.media.sandbox import Walls
from showandtell.media.worker import ChildFailed, MediaWorker
from showandtell.plugins import PREFIX, list_packages, list_plugins, load_plugin
from showandtell.storage.blobs import object_store
from showandtell.version import VERSION

State: TypeAlias = Literal["ok", "lacks", "BROKEN"]

PAGE = Path(__file__).parent.parent / "server" / "page" / "index.html"
#: What packages can add, besides tools.
REGISTRIES = (registry.REGISTRY, apis.REGISTRY, converters.REGISTRY, object_store.REGISTRY)
DATABASE_FILE = "showandtell.db"
#: Less free space than this stops uploads soon.
LITTLE_SPACE = 1 << 30
START_SECONDS, CONNECT_SECONDS = 30.0, 5
#: For each wall of the decoder: its name, what it stops, and what a hostile file could do without it.
WALLS = {
    "seccomp": (
        "filter of system calls (seccomp)",
        "opens no sockets, starts nothing, deletes nothing and signals no others",
        "a hostile file that takes over a decoder could open connections and run programs",
    ),
    "landlock": (
        "files (Landlock)",
        "reads one file, writes one folder",
        "a hostile file that takes over a decoder could read all files of this user, and write some of them",
    ),
    "namespaces": (
        "network of its own (namespaces)",
        "has no network device",
        "only the filter of system calls keeps the decoder from the network",
    ),
    "privileges": (
        "no privileges",
        "has no capabilities and can gain none",
        "neither the filter of system calls nor Landlock can be used",
    ),
}
#: A module of each extra, and what is not possible without it.
EXTRAS = {
    "asr": ("pocketsphinx", "speech can't be written down"),
    "av": ("av", "audio and video can't be read"),
    "bedrock": ("botocore", "AWS's profiles and roles can't be used"),
    "history": ("sqlalchemy", "conversations can't be stored"),
    "images": ("resvg_py", "HEIC and SVG can't be read"),
    "ocr": ("rapidocr", "the inspector can't read text in images"),
    "office": ("mammoth", "Word, Excel and PowerPoint files can't be read"),
    "postgres": ("psycopg", "PostgreSQL can't be used"),
    "remote": ("obstore", "files can't be stored in S3, GCS or Azure"),
    "server": ("fastapi", "the chat server can't be started"),
    "telemetry": ("opentelemetry.sdk", "traces can't be exported"),
    "vertex": ("google.auth", "Google's credentials can't be used"),
}


class Finding(NamedTuple):
    """One line of the report; only `BROKEN` lets the command fail."""

    state: State
    name: str
    words: str


@with_settings("storage.data", "storage.database")
def doctor(settings: Settings) -> None:
    """Check this installation: versions, the decoder's sandbox, the data folder, the database, the page.

    Exit status: 0 if all of it works, even with less protection than Linux can give, 1 if something is broken.
    """
    place = place_of(settings)
    findings = [
        *check_versions(),
        *check_decoder(),
        *check_data(place.data or data_folder(), place.database),
        check_page(),
        *check_packages(),
    ]
    for state, name, words in findings:
        typer.echo(plain(f"{state:<6}  {name}: {words}"))
    raise typer.Exit(1 if any(finding.state == "BROKEN" for finding in findings) else 0)


def check_versions() -> Iterator[Finding]:
    """The versions, the extras that are missing, and the command that adds them."""
    yield Finding("ok", "version", f"showandtell {VERSION}, Python {platform.python_version()}")
    yield Finding("ok", "system", f"{platform.system()} {platform.release()}, {platform.machine()}")
    missing = {extra: words for extra, (module, words) in EXTRAS.items() if not is_installed(module)}
    yield from (Finding("lacks", extra, words) for extra, words in missing.items())
    if missing:
        yield Finding("lacks", "extras", f"to add them, or some of them: {install_command(*missing)}")


def check_packages() -> Iterator[Finding]:
    """What installed packages add, and what of it can't be used."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for registry in REGISTRIES:
            registry.all()
        for name in list_plugins(TOOLS):
            load_plugin(TOOLS, name)
    mistakes = [str(warning.message).partition(": ") for warning in caught]
    groups = {TOOLS, *(registry.group for registry in REGISTRIES)}
    for package, names in list_packages().items():
        words = [
            f"{group.removeprefix(PREFIX)} {', '.join(sorted(names[group]))}" for group in sorted(groups & names.keys())
        ]
        if words:
            yield Finding("ok", f"package {package}", f"declares {'; '.join(words)}")
        others = f"there are {', '.join(sorted(groups))}"
        yield from (
            Finding("lacks", f"package {package}", f"nothing reads the entry points of {group}; {others}")
            for group in names.keys() - groups
        )
        yield from (Finding("lacks", f"package {package}", words) for name, _, words in mistakes if name == package)
    yield from check_apis()


def check_apis() -> Iterator[Finding]:
    """What is wrong with the APIs of packages, and with those that their providers name."""
    for api in {*apis.REGISTRY.all(), *(known.api for known in registry.REGISTRY.all().values())}:
        for check in (check_renderer, check_parser, check_rules):
            try:
                check(api)
            except ShowAndTellError as error:
                yield Finding("lacks", f"API {api}", str(error))


def check_renderer(api: str) -> None:
    """Raise our errors for an API whose requests can't be written."""
    renderer = renderer_of(api)
    for name in vars(Renderer):
        if not name.startswith("_"):
            getattr(renderer, name)


def check_parser(api: str) -> None:
    """Raise our errors for an API whose answers can't be read."""
    parser = parser_of(api)
    if isinstance(parser, PackageParser):
        parser.check()


def check_rules(api: str) -> None:
    """Raise our errors for an API whose rules can't be imported."""
    known = apis.REGISTRY.find(api)
    if known is not None and known.is_strict:
        with apis.reported_mistakes(api, apis.RULES):
            iter(import_module(f"{known.package}.{apis.RULES}").HOSTS)


def is_installed(module: str) -> bool:
    """Whether a module is there, without importing it."""
    try:
        return find_spec(module) is not None
    except ModuleNotFoundError:  # not even the package that it is in
        return False


def check_decoder(command: tuple[str, ...] = COMMAND) -> Iterator[Finding]:
    """Start the decoder, and ask it which walls stand."""
    worker = MediaWorker(command)
    try:
        walls = convert(worker.ask({"task": "walls", "path": None}, START_SECONDS)["result"], Walls)
    except (ChildFailed, OSError, KeyError, ValidationError) as error:
        yield Finding("BROKEN", "decoder", f"no file can be read: the process that decodes fails ({error})")
        return
    finally:
        worker.stop()
    yield Finding("ok", "decoder", "starts, and decodes each file in a process of its own")
    for field, (name, effect, loss) in WALLS.items():
        detail = f", version {walls.landlock}" if field == "landlock" else ""
        stands = getattr(walls, field)
        words = f"the decoder {effect}{detail}" if stands else f"missing on this system: {loss}"
        yield Finding("ok" if stands else "lacks", name, words)


def check_data(folder: Path, database: str | None) -> Iterator[Finding]:
    """The data folder, as far as it is needed, and the database."""
    folder = folder.expanduser()
    if folder.exists():
        yield from check_folder(folder)
    else:
        yield Finding("ok", "data folder", f"{folder} isn't there yet; it is created when it is needed")
    if is_installed(EXTRAS["history"][0]):
        yield check("database", lambda: check_database(folder, database))


def check_folder(folder: Path) -> Iterator[Finding]:
    """Who can read the data folder, whether it can be written, and how much space is left."""
    mode = stat.S_IMODE(folder.stat().st_mode)
    if not folder.is_dir() or not os.access(folder, os.R_OK | os.W_OK | os.X_OK):
        yield Finding("BROKEN", "data folder", f"{folder} can't be written by this user: change its owner or mode")
    elif mode & 0o077:
        yield Finding("lacks", "data folder", f"{folder} is open to other users ({mode:04o}): chmod 700 {folder}")
    else:
        yield Finding("ok", "data folder", f"{folder}, readable by its owner only")
    free = shutil.disk_usage(folder).free
    words = f"{free / 1e9:.1f} GB are free"
    yield Finding("ok" if free > LITTLE_SPACE else "lacks", "disk", words)


def check_database(folder: Path, url: str | None) -> str:
    """Read from the database, and say what it is; raises what its driver raises."""
    from sqlalchemy import create_engine, text  # noqa: PLC0415 - its libraries are an extra, and large

    from showandtell.storage.database.database import read_url  # noqa: PLC0415 - the same

    parsed = read_url(url or f"sqlite:///{(folder / DATABASE_FILE).absolute()}")
    if parsed.get_backend_name() == "sqlite":
        return check_sqlite(Path(parsed.database or ""))
    engine = create_engine(parsed, hide_parameters=True, connect_args={"connect_timeout": CONNECT_SECONDS})
    with engine.connect() as connection:
        connection.execute(text("SELECT 1"))
    engine.dispose()
    return f"{parsed.set(query={}).render_as_string(hide_password=True)} answers"


def check_sqlite(path: Path) -> str:
    """Read from a database file without writing to it."""
    if not path.exists():
        return f"{path} isn't there yet; it is created when it is needed"
    with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as connection:
        connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()
    return f"{path} can be read; `showandtell fsck` checks all of it"


def check(name: str, task: Callable[[], str]) -> Finding:
    """What a task says, or why it failed."""
    try:
        return Finding("ok", name, task())
    except ShowAndTellError as error:
        return Finding("BROKEN", name, str(error))
    except Exception as error:  # noqa: BLE001 - drivers raise anything, and the report continues
        reason = getattr(error, "orig", None) or error  # without what SQLAlchemy adds
        return Finding("BROKEN", name, f"can't be used ({' '.join(str(reason).split())[:300]})")


def check_page() -> Finding:
    """Whether the page that `serve` shows is part of this installation. Node is only needed to build it."""
    if PAGE.is_file():
        return Finding("ok", "page", "is built; Node isn't needed")
    return Finding("BROKEN", "page", "isn't built: run `make page`, or install a release; the API works without it")
