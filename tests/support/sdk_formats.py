"""Camel case and URL-safe base64, as SDKs write them."""

URL_SAFE = str.maketrans("-_", "+/")


def camel(key):
    first, *rest = key.split("_")
    return first + "".join(word.title() for word in rest)
