"""What the commands advise somebody to do next. Each sentence looks at what there is already, and is true."""

from __future__ import annotations

import os

from showandtell.cli.person import Person
from showandtell.core.capabilities.default_models import CURRENT_MODELS
from showandtell.providers.default_model import choose_default
from showandtell.providers.hosts import Environ, host_of
from showandtell.server.provider_keys.provider_key import usable_providers

WHAT_IT_IS = "It is not a language model: it reports what it receives."


def about_inspector(person: Person, environ: Environ = os.environ) -> str:
    """What the inspector is, and how to talk to a real model."""
    return f"{WHAT_IT_IS} {how_to_a_real_model(person, environ)}"


def how_to_a_real_model(person: Person, environ: Environ = os.environ) -> str:
    """With a key, the option that names a model; else how to store a key or set its variable."""
    best = choose_default((), person.used, usable_providers(person.keys), environ)
    if best.reason != "no key":
        return f"For a real model: --model {best.model}"
    first = CURRENT_MODELS[0].provider
    variable = host_of(first).keys[0][0]
    return f"For a real model, store a key (showandtell keys set {first}) or set its variable, such as {variable}."
