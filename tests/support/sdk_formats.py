"""How SDKs spell names and base64."""

URL_SAFE = str.maketrans("-_", "+/")


def camel(key):
    first, *rest = key.split("_")
    return first + "".join(word.title() for word in rest)
