"""`showandtell models`: which models can be used, which is the default, and what answers of hosts taught about them."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from typing import Annotated

import msgspec
import typer

from showandtell.cli.configured import STORE, with_settings
from showandtell.cli.person import Person
from showandtell.cli.sessions import person_at, place_of
from showandtell.config.learned_models import LearnedModel, learned_models
from showandtell.config.settings import Settings
from showandtell.core.capabilities.resolve import resolve
from showandtell.core.display.words import plain, short
from showandtell.providers.default_model import STORED, DefaultModel
from showandtell.server.model_catalog import ModelCatalog

NOTHING = "nothing has been learned"
#: What comes before what was learned about models that aren't listed here.
OTHERS = "learned about models that can't be used now:"


@with_settings("model", *STORE)
def models(
    settings: Settings,
    name: Annotated[str | None, typer.Argument(metavar="[MODEL]", help="provider:model; default: all")] = None,
    clear: Annotated[
        bool, typer.Option("--clear", help="forget what was learned, so that the next request tries again")
    ] = False,
    json: Annotated[bool, typer.Option("--json", help="what was learned, as one JSON array")] = False,
) -> None:
    """List the models that you can use, the default one, and what was learned about each from its host.

    That is file support, message fields and context windows.
    """
    learned = learned_models()
    chosen = tuple(known for known in learned.all if name in {None, known.key.model})
    if name is not None and not chosen:
        resolve(name)  # an unknown provider is an error
    if clear:
        learned.forget(name)
    if json:
        typer.echo(msgspec.json.format(msgspec.json.encode(chosen)).decode())
    elif clear:
        lines = [line for known in chosen for line in describe(known)]
        typer.echo("\n".join([*lines, "forgotten"] if lines else [NOTHING]))
    else:
        person = asyncio.run(person_at(place_of(settings)))
        default = person.choose(settings)
        usable = dict.fromkeys((resolve(default.model).name, *asyncio.run(list_usable(person))))
        listed = [model for model in usable if name in {None, model}]
        for line in [*write_usable(listed, default, chosen), *write_others(listed, chosen)] or [NOTHING]:
            typer.echo(plain(line))


async def list_usable(person: Person) -> Sequence[str]:
    """The models that can be asked, as their hosts list them, else those of the table."""
    entries = await ModelCatalog().fetch(person.keys)
    return [entry.id for entry in entries if entry.available]


def write_usable(usable: Sequence[str], default: DefaultModel, learned: Sequence[LearnedModel]) -> Iterator[str]:
    """A line for each model, with a mark at the default one, and below it what was learned about it."""
    name = resolve(default.model).name
    for model in usable:
        yield f"{model}  (default: {explain(default)})" if model == name else model
        for known in (one for one in learned if one.key.model == model):
            heading, *facts = describe(known)
            yield f"  {heading.removeprefix(f'{model} ')}"
            yield from (f"  {fact}" for fact in facts)


def write_others(usable: Sequence[str], learned: Sequence[LearnedModel]) -> Iterator[str]:
    """What was learned about models that aren't among those."""
    others = [known for known in learned if known.key.model not in usable]
    if others and usable:
        yield OTHERS
    for known in others:
        yield from describe(known)


def explain(default: DefaultModel) -> str:
    """Why a model is the default one."""
    match default.reason:
        case "configured":
            return "it is configured"
        case "used":
            return "you used it last"
        case "key":
            return "by the stored key" if default.source == STORED else f"by the key of {default.source}"
        case "no key":
            return "no provider has a key"


def describe(known: LearnedModel) -> list[str]:
    """A model with its base URL, then one line for each kind of file and each field, and one for its window."""
    kinds = (
        f"  {modality.kind}: {'taken' if modality.takes else 'not taken'}: {short(modality.evidence)}"
        for modality in known.modalities
    )
    states = {"refused": "not sent back", "required": "always sent"}
    fields = (f"  {field.name}: {states[field.state]}: {short(field.evidence)}" for field in known.fields)
    window = known.window
    held = [] if window is None else [f"  context window: {window.tokens:,} tokens: {short(window.evidence)}"]
    return [f"{known.key.model} at {known.key.base_url}", *kinds, *fields, *held]
