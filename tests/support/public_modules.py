"""The modules that programs import from; everything deeper may move."""

NAMES = ("asgi", "conversations", "errors", "events", "extending", "hosted", "samples", "testing")
MODULES = ("showandtell", *(f"showandtell.{name}" for name in NAMES))
