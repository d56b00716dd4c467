"""Files that are written out as `data:` URLs: in words, in blocks, in a model's answer and in other people's histories."""

from contextlib import suppress

import pybase64
from atheris import FuzzedDataProvider
from given import choose, read_rest, seed

from showandtell import from_openai
from showandtell.core.collect.data_uris import read_data_uri, split_data_uris
from showandtell.core.collect.entry import collect
from showandtell.core.messages.file import File
from showandtell.core.messages.parts import Text
from showandtell.core.wire.response_files import read_data_url
from showandtell.errors import BadInput
from showandtell.storage.files.file_cache import MAX_DESCRIPTION, clean_description
from support.fixtures import png

#: What is written between a head's type and its data, and between two lines of it.
PARAMETERS = ("", ";charset=utf-8", ";name=kiwi%20%C3%BC.png", ' ; name="a" ')
BREAKS = ("", "\n", "\r\n", "\\r\\n", "\\n", " ")
BLOCKS = (
    lambda url: {"type": "image_url", "image_url": {"url": url}},
    lambda url: {"type": "input_image", "image_url": url},
    lambda url: {"type": "file", "file": {"file_data": url, "filename": url[:9]}},
    lambda url: {"type": "image", "source": {"type": "base64", "media_type": url[:20], "data": url}},
    lambda url: {"type": "resource", "resource": {"uri": url, "blob": url, "mimeType": url[:9]}},
    lambda url: {"type": "text", "text": url},
    lambda url: {url: url},
)


def try_url(data: bytes) -> None:
    """Any text is words and files in their order; bytes that are written out in any way come back as they were."""
    given = FuzzedDataProvider(data)
    block, host, spelling = choose(given, len(BLOCKS)), choose(given, 3), choose(given, 256)
    payload = read_rest(given)
    text = payload.decode("utf-8", "surrogateescape")
    check_pieces(text)
    for value in (text, [text, text], BLOCKS[block](text)):
        check_collected(value)
    described = clean_description(text)
    assert described is None or len(described) <= MAX_DESCRIPTION
    made = read_data_url(text)
    assert bool(made.data) == (made.problem is None)
    with suppress(BadInput):
        from_openai([{"role": "user", "content": [BLOCKS[host](text)]}])
    if payload:
        check_written(payload, spelling)


def check_collected(value: object) -> None:
    """What is collected can be stored, or is refused in words."""
    try:
        parts = collect(value)
    except BadInput as error:
        str(error).encode()
        return
    for part in parts:
        if not isinstance(part, File):
            part.text.encode()


def check_pieces(text: str) -> None:
    """The words are those of the text, in their order, and no file is empty."""
    at = 0
    for piece in split_data_uris(text) or ():
        if isinstance(piece, File):
            assert piece.source
        else:
            at = text.index(piece, at) + len(piece)
    whole = read_data_uri(text)
    assert whole is None or whole.source


def check_written(payload: bytes, spelling: int) -> None:
    """A file that is written out between words is found there, in every spelling."""
    data, line_end = pybase64.b64encode(payload).decode(), BREAKS[(spelling >> 1) % len(BREAKS)]
    if spelling & 1:
        data = data.replace("+", "-").replace("/", "_")
    if line_end:
        data = line_end.join(data[at : at + 76] for at in range(0, len(data), 76))
    elif spelling & 1:  # without padding, the text after a line may be a word
        data = data.rstrip("=")
    url = f"data:image/png{PARAMETERS[(spelling >> 4) % len(PARAMETERS)]};base64,{data}"
    parts = collect(f"before ({url}) after")
    assert [part.text if isinstance(part, Text) else part.source for part in parts] == ["before (", payload, ") after"]
    assert read_data_uri(url).source == payload


PNG = pybase64.b64encode(png()).decode()
URL = f"data:image/png;base64,{PNG}"
TEXTS = [
    URL,
    f"before ![x]({URL}) after, and {URL}",
    f"data:image/png ; base64, {PNG}",
    f"DATA:image\\/png;charset=utf-8;name=a%20b.png;BASE64,{PNG}",
    f'{{"a": "{URL}\\n", "b": ["{URL}"]}}',
    "data:text/plain,hello%20there",
    "data:,",
    "data:;base64,AAAA",
    "data:image/png;base64,???",
    PNG * 2,
    "\n".join(PNG[at : at + 64] for at in range(0, len(PNG), 64)),
    "data:image/png;base64,\n" + "\r\n".join(PNG[at : at + 76] for at in range(0, len(PNG), 76)) + "\r\nwords",
    PNG.replace("+", "%2B").replace("/", "\\/"),
    "https://host/kiwi.png",
]
SEEDS = [seed(text.encode(), at % 3, at % len(BLOCKS), at * 17 % 256) for at, text in enumerate(TEXTS)]
SEEDS += [seed(bytes(range(length)), 0, 0, length) for length in (1, 2, 3, 57, 58, 200)]
RUN = try_url
