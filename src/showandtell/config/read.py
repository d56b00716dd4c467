"""Reads the settings that count: options beat variables, variables the nearest file, and that one the user's own.

A file that was found from the current folder may belong to anybody, such as the author of a repository. It sets only
what can't send data elsewhere, run code, or allow more than would be allowed without it (`About.found`). All other keys
count from options, variables, a named file and the user's own file.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias, cast, get_args, get_origin

import msgspec

from showandtell.config.settings import Key, Settings, add_keys_of, keys
from showandtell.config.user_settings import config_folder, read_optional
from showandtell.errors import BadInput

FILE = "showandtell.toml"
VARIABLE = "SHOWANDTELL_CONFIG"
#: Larger files are neither configuration nor instructions.
MAX_BYTES = 1 << 20
ANOTHER_USER = "it belongs to another user"


class Source(NamedTuple):
    """A configuration file, and whether it was only found from the current folder."""

    path: Path
    found: bool = False


class Value(NamedTuple):
    """A valid value of a setting, and where it comes from: a path or the name of a variable."""

    value: Any
    origin: str


@dataclass(frozen=True, slots=True)
class Configuration:
    """What files, and for programs variables, set. `ignored` has the names of what a found file may not set, by path.

    `refused` is a found file that was not read at all.
    """

    values: Mapping[str, Value] = field(default_factory=dict[str, Value], repr=False)
    ignored: Mapping[Path, Sequence[str]] = field(default_factory=dict[Path, Sequence[str]])
    refused: Path | None = None

    @property
    def settings(self) -> Settings:
        """All settings, with their defaults."""
        return build_settings({name: value.value for name, value in self.values.items()})


def read_configuration(
    file: str | Path | None = None,
    *,
    environ: Mapping[str, str] = os.environ,
    folder: Path | None = None,
    variables: bool = True,
) -> Configuration:
    """Merge the user's own file, the named or the nearest file, and the variables. Raises `BadInput`.

    file: in place of the nearest one; default: that of `SHOWANDTELL_CONFIG`. folder: where the search begins; default:
    the current one. variables: False leaves them to the caller.
    """
    sources, refused = find_sources(file, environ, folder or Path.cwd())
    values: dict[str, Value] = {}
    ignored: dict[Path, Sequence[str]] = {}
    for source in sources:
        read = dict(read_file(source))
        values |= (allowed := {name: read[name] for name in read if may_set(source, name, read, values)})
        if left_out := sorted(read.keys() - allowed.keys()):
            ignored[source.path] = left_out
    if variables:
        values |= read_variables(environ)
    return Configuration(values, ignored, refused)


def find_sources(
    file: str | Path | None, environ: Mapping[str, str], folder: Path
) -> tuple[Sequence[Source], Path | None]:
    """The files that exist, the weakest first, and one that belongs to another user."""
    own = config_folder(environ) / FILE
    sources = [Source(own)] if is_file(own) else []
    if file is None and (file := environ.get(VARIABLE)) is not None and not file.strip():
        raise BadInput(empty(VARIABLE))
    if file is not None:
        return [*sources, Source(Path(file).expanduser())], None
    nearest = next((path for at in (folder, *folder.parents) if is_file(path := at / FILE)), None)
    if nearest is None or (sources and nearest.samefile(own)):
        return sources, None
    if not belongs_here(nearest, folder):
        return sources, nearest
    return [*sources, Source(nearest, found=True)], None


def is_file(path: Path) -> bool:
    """Whether a path is a file; False also for one that may not be seen."""
    try:
        return path.is_file()
    except OSError:
        return False


def belongs_here(path: Path, folder: Path) -> bool:
    """Whether a file is of root, the user or the owner of the current folder, not of anybody who can write to /tmp."""
    return path.stat().st_uid in {0, os.geteuid(), folder.stat().st_uid}


def read_file(source: Source) -> Iterator[tuple[str, Value]]:
    """The valid values of a file, by name. Raises `BadInput`, which names file and key, but shows no value."""
    import tomllib  # noqa: PLC0415 - only if there is a file

    path = source.path
    try:
        table = tomllib.loads(read_text(path, "there is no configuration file {path}"))
    except tomllib.TOMLDecodeError as error:
        raise BadInput(f"{path} is not valid TOML: {error}") from None
    for key, value in flatten(table, str(path)):
        text = parse_text(key, value) if isinstance(value, str) else value
        yield (
            key.name,
            Value(located(key, convert(key, text, f"{path}: {key.name}"), path.absolute().parent), str(path)),
        )


def flatten(table: Mapping[str, Any], where: str, prefix: str = "") -> Iterator[tuple[Key, Any]]:
    """The keys of a table and of those in it. Raises `BadInput` for an unknown one, with the nearest known."""
    for name, value in table.items():
        full = f"{prefix}{name}"
        if key := keys().get(full):
            yield key, value
        elif not any(known.startswith(f"{full}.") for known in keys()) and not (
            prefix == "providers." and add_keys_of(name)
        ):
            raise BadInput(f"{where}: unknown key {full}{suggest(full)}")
        elif isinstance(value, dict):
            yield from flatten(cast("dict[str, Any]", value), where, f"{full}.")
        else:
            raise BadInput(f"{where}: {full} must be a table: [{full}]")


def suggest(name: str) -> str:
    """The known key that is nearest to an unknown one, by its full name or its last word."""
    names = {known.rpartition(".")[2]: known for known in reversed([*keys()])}
    names |= {section: f"[{section}]" for known in keys() if (section := known.rpartition(".")[0])}
    names |= {known: known for known in keys()}
    near = get_close_matches(name, names, 1) or get_close_matches(name.rpartition(".")[2], names, 1)
    return f"; did you mean {names[near[0]]}?" if near else ""


def convert(key: Key, value: object, where: str, *, strict: bool = True) -> Any:
    """A value of a key's type. Raises `BadInput`, which says what is expected."""
    try:
        return msgspec.convert(value, key.type, strict=strict)
    except msgspec.ValidationError as error:
        expected = f"expected one of {', '.join(choices)}" if (choices := choices_of(key.type)) else shorten(error)
        raise BadInput(f"{where}: {expected}") from None


def shorten(error: msgspec.ValidationError) -> str:
    """What was expected, in the words of TOML."""
    text = str(error).replace("`", "").replace(" | null", "").replace("array", "list").replace("object", "table")
    return text[:1].lower() + text[1:]


def choices_of(hint: object) -> list[str]:
    """The values of a type that has few."""
    if get_origin(hint) is dict:
        return []
    own = [item for item in get_args(hint) if isinstance(item, str)]
    return own or [choice for part in get_args(hint) for choice in choices_of(part)]


def located(key: Key, value: Any, folder: Path) -> Any:
    """A path of a file is relative to its folder, as is a module that it names."""
    match key.about.path:
        case "yes" if value and "://" not in value:
            return str(folder / Path(value).expanduser())
        case "code" if ":" in value:
            return str(folder / Path(value).expanduser())
        case "text" if is_reference(value):
            return f"@{folder / Path(value[1:]).expanduser()}"
        case _:
            return value


def is_reference(text: str) -> bool:
    """Whether a text is `@FILE`; `@@` begins a text with an @."""
    return text.startswith("@") and not text.startswith("@@")


def may_set(source: Source, name: str, read: Mapping[str, Value], before: Mapping[str, Value]) -> bool:
    """Whether a source may set a key. `before` is what counts without it."""
    key, value = keys()[name], read[name].value
    match key.about.found if source.found else "yes":
        case "yes" if source.found and key.about.path == "text" and is_reference(value):
            return Path(value[1:]).resolve().is_relative_to(source.path.absolute().parent.resolve())
        case "yes":
            return True
        case "less":
            return is_less(value, before[name].value if name in before else key.default)
        case _:
            return False


def is_less(value: Any, before: Any) -> bool:
    """Whether a limit allows no more than another one. None is no limit."""
    if before is None or value is None:
        return before is None
    if isinstance(value, tuple):
        return set(cast("tuple[object, ...]", value)) <= set(before)
    return value <= before


def read_variables(environ: Mapping[str, str]) -> dict[str, Value]:
    """The values of variables. Raises `BadInput` for an empty or invalid one."""
    values: dict[str, Value] = {}
    for key in keys().values():
        if (text := environ.get(key.variable) if key.variable else None) is not None:
            if not text.strip():
                raise BadInput(empty(key.variable))
            values[key.name] = Value(convert(key, parse_text(key, text), key.variable, strict=False), key.variable)
    return values


def empty(variable: str) -> str:
    """The error for a variable that is set to nothing, often by a template."""
    return f"{variable} is set, but empty: give it a value, or unset it"


Parsed: TypeAlias = str | list[str] | dict[str, str]


def parse_text(key: Key, text: str) -> Parsed:
    """A text as the value of a key: `a,b` for a list, `none` for an empty one, `a=b,c=d` for a table."""
    if key.is_list:
        words = [word.strip() for word in text.split(",") if word.strip()]
        return [] if words == ["none"] else words
    if key.name == "file_policy.on_unsupported" and "=" in text:
        pairs = (item.partition("=") for item in text.split(","))
        return {kind.strip(): how.strip() for kind, _, how in pairs}
    return text


def build_settings(values: Mapping[str, Any]) -> Settings:
    """Settings from values by dotted names."""
    table: dict[str, Any] = {}
    for name, value in values.items():
        *sections, last = name.split(".")
        inner = table
        for section in sections:
            inner = inner.setdefault(section, {})
        inner[last] = value
    return msgspec.convert(table, Settings)


def read_instructions(text: str) -> str:
    """Instructions, or those in the file that `@FILE` names; `@@` begins a text with an @. Raises `BadInput`."""
    if not is_reference(text):
        return text[1:] if text.startswith("@@") else text
    return read_text(Path(text[1:]).expanduser(), "there is no file {path} with instructions").strip()


def read_text(path: Path, missing: str) -> str:
    """The text of a file that somebody named, without a byte order mark. Raises `BadInput`; `missing` is a format."""
    data = read_optional(path, MAX_BYTES)
    if data is None:
        raise BadInput(missing.format(path=path))
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise BadInput(f"{path} is not text in UTF-8") from None
