"""The chat server as an ASGI application, for your own ASGI server or to mount in another application.

from showandtell.asgi import Config, make_app

app = make_app(Config())
"""

from showandtell.server.app import make_app
from showandtell.server.config import Config

__all__ = ["Config", "make_app"]
