"""Text in the chunks that a stream brings."""

#: Characters in a chunk of text. Arguments of calls come in quarters of it.
PIECE = 48


def cut_text(text: str, size: int) -> list[str]:
    """Text in pieces of `size`, none empty."""
    return [text[at : at + size] for at in range(0, len(text), size)]
