"""Reads conversation files from disk."""

from __future__ import annotations

from pathlib import Path

from showandtell.checking.checked import checked
from showandtell.core.messages.conversation_file import parse
from showandtell.core.messages.message import History
from showandtell.errors import BadConversation


@checked
def load(path: str | Path) -> History:
    """Read a conversation file. Raises `BadConversation`, which names the message, or `BadFile` for its files.

    >>> import tempfile
    >>> from pathlib import Path
    >>> from showandtell import load
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "talk.json"
    ...     message = '{"role": "user", "parts": [{"type": "text", "text": "hello"}]}'
    ...     _ = path.write_text(f'{{"version": 1, "messages": [{message}]}}')
    ...     load(path)[0].parts[0].text
    'hello'
    """
    path = Path(path)
    try:
        data = path.read_bytes()
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise BadConversation(f"{path.name} can't be read: {reason}") from error
    return parse(data, path.parent, path.name)
