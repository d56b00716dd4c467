"""Text that has a UTF-8 form."""

from __future__ import annotations


def join_surrogates(text: str) -> str:
    """Join surrogate pairs and replace lone ones by U+FFFD, so that the text has a UTF-8 form."""
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text
