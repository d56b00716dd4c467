"""Split text into the chunks of a stream."""

#: Characters per chunk of text. Call arguments come in chunks of a quarter of it.
CHUNK_SIZE = 48


def split_text(text: str, size: int) -> list[str]:
    """Split text into pieces of at most `size` characters. No piece is empty."""
    return [text[at : at + size] for at in range(0, len(text), size)]
