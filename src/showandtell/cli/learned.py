"""`showandtell models`: what the answers of hosts have taught about models, and how to clear it."""

from __future__ import annotations

from typing import Annotated

import msgspec
import typer

from showandtell.config.learned_models import LearnedModel, learned_models
from showandtell.core.display.words import short


def models(
    model: Annotated[str | None, typer.Argument(metavar="[MODEL]", help="provider:model; default: all")] = None,
    clear: Annotated[bool, typer.Option("--clear", help="forget it, so that the next request tries again")] = False,
    json: Annotated[bool, typer.Option("--json", help="one JSON array")] = False,
) -> None:
    """List learned file support, message fields and context windows of models, or forget them."""
    learned = learned_models()
    chosen = tuple(known for known in learned.all if model in {None, known.key.model})
    if clear:
        learned.forget(model)
    if json:
        typer.echo(msgspec.json.format(msgspec.json.encode(chosen)).decode())
        return
    lines = [line for known in chosen for line in describe(known)] or ["nothing has been learned"]
    typer.echo("\n".join(lines))
    if clear and chosen:
        typer.echo("forgotten")


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
