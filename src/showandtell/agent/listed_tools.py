"""The tools of a run whose toolsets may change them between two steps."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from showandtell.agent.configure import RunSettings
from showandtell.agent.tools import Tool
from showandtell.agent.toolsets import OpenToolsets, merged
from showandtell.errors import BadInput, ToolError

log = logging.getLogger("showandtell.tools")


@dataclass(slots=True)
class ListedTools:
    """The tools of a run with toolsets: its own, and those that the toolsets list, which may change."""

    own: Mapping[str, Tool]
    toolsets: OpenToolsets
    settings_for: Callable[[Mapping[str, Tool]], RunSettings]
    _is_listed: bool = False

    async def changed_settings(self) -> RunSettings | None:
        """The settings with the tools of now; None if they are as before.

        Raises `ToolError` if the first list fails, and `BadInput` for two tools with one name, or a tool choice that
        there isn't. If a later list fails, the run continues with the tools before.
        """
        if not self.toolsets.has_changed:
            return None
        try:
            settings = self.settings_for(merged(self.own, await self.toolsets.list()))
        except (ToolError, BadInput) as error:
            if not self._is_listed:
                raise
            log.warning("a changed toolset is used as it was before: %s", error)
            return None
        self._is_listed = True
        return settings
