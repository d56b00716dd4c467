"""Agents for tests: settings one by one, and a provider that is put in place of the real one."""

from dataclasses import dataclass, fields

from showandtell import Agent, Connection, FilePolicy, ModelSettings, RunLimits
from showandtell.providers.exchange import Exchange


@dataclass(frozen=True, slots=True, kw_only=True)
class ExchangeConnection(Connection):
    """A connection that is there already."""

    exchange: Exchange

    def open(self, target, transport):  # noqa: ARG002 - as in `Connection`
        return self.exchange


GROUPS = {"model_settings": ModelSettings, "limits": RunLimits, "file_policy": FilePolicy, "connection": Connection}
GROUP_OF = {field.name: group for group, kind in GROUPS.items() for field in fields(kind)}


def make_agent(model, tools=(), instructions="", *, exchange=None, **settings):
    """An agent; a field of a group of settings may be given by its own name."""
    grouped = {group: {} for group in GROUPS}
    rest = {}
    for name, value in settings.items():
        (grouped[GROUP_OF[name]] if name in GROUP_OF else rest)[name] = value
    given = {group: GROUPS[group](**values) for group, values in grouped.items() if values}
    if exchange is not None:
        given["connection"] = ExchangeConnection(exchange=exchange, **grouped["connection"])
    return Agent(model, tools, instructions, **given, **rest)
