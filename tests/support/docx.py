"""Minimal Word files."""

from support.fixtures import zipped

RELATION = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument"

WORD = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"

MAIN = "application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"


def word_file(words):
    """The smallest Word file with one paragraph that Word can open."""
    types = (
        '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">'
        '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
        f'<Override PartName="/word/document.xml" ContentType="{MAIN}"/></Types>'
    )
    relations = (
        '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">'
        f'<Relationship Id="rId1" Type="{RELATION}" Target="word/document.xml"/></Relationships>'
    )
    body = f'<w:document xmlns:w="{WORD}"><w:body><w:p><w:r><w:t>{words}</w:t></w:r></w:p></w:body></w:document>'
    parts = {"[Content_Types].xml": types, "_rels/.rels": relations, "word/document.xml": body}
    return zipped({name: part.encode() for name, part in parts.items()})
