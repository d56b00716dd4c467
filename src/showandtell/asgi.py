"""The chat for your own program: an ASGI application to mount, and what its own routes need.

One line mounts it::

    from showandtell.asgi import chat_app

    app.mount("/assistant", chat_app(store, agent, user=current_user))
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from showandtell.lazy import lazy_names

if TYPE_CHECKING:
    from showandtell.agent.ag_ui_streams import ag_ui_stream
    from showandtell.agent.streams import ui_stream
    from showandtell.server.app import make_app
    from showandtell.server.chat_app import chat_app, chat_router
    from showandtell.server.config import Config

#: The public names by module. Modules are imported on first use of a name: most need the extra `server`.
MODULE_OF = {
    "Config": "server.config",
    "ag_ui_stream": "agent.ag_ui_streams",
    "chat_app": "server.chat_app",
    "chat_router": "server.chat_app",
    "make_app": "server.app",
    "ui_stream": "agent.streams",
}

__all__ = ["Config", "ag_ui_stream", "chat_app", "chat_router", "make_app", "ui_stream"]

__getattr__, __dir__ = lazy_names(__name__, MODULE_OF)
