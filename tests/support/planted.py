"""Rows of every table with a word of its own in every column of text, made from the tables themselves."""

import io
from pathlib import Path

from sqlalchemy import Text, cast, insert, select

from showandtell.core.messages.attachments import Facts
from showandtell.core.messages.derivations import Derivative
from showandtell.storage.blobs.base import owner_key
from showandtell.storage.blobs.zstd import SUFFIX, zstd_module
from showandtell.storage.database.ownership import belongs, place_of, short_name
from showandtell.storage.database.rows import serialize_outcome
from showandtell.storage.database.tables import Place, metadata

#: Columns that hold their word in a form of their own, because the product reads them when it deletes.
FORMS = {"known.record": lambda word: serialize_outcome(Derivative(file_id=word))}
TABLES = [table for table in metadata.sorted_tables if place_of(table) is not Place.SERVER]


class Garden:
    """A store, and which words were planted there for whom: their places by word."""

    def __init__(self, store):
        self.store = store
        self.words = {}

    def word(self, person, place):
        """A new word of a person. A column that is added to a table gets one by itself."""
        words = self.words.setdefault(person, {})
        word = f"{person}-word{len(words):04}-planted"
        words[word] = place
        return word

    async def plant(self, person):
        """A row in each table, and the bytes of a file, stored as they are, and compressed."""
        rows, sha256 = {}, self.bytes_of(person)
        for table in (table for table in TABLES if table.info["person"] in {"", person}):
            rows[table] = {column.name: self.value(person, column, rows, sha256) for column in table.c}
        await self.insert(rows)

    async def insert(self, rows):
        """Store a row in each of these tables."""

        def transaction(connection):
            for table, row in rows.items():
                connection.execute(insert(table), row)

        await self.store.database.write(transaction)

    def bytes_of(self, person):
        """The sha256 of a stored file, and one that a killed process has left without a row."""
        blobs = self.store.blobs.for_owner(person)
        for place in ("a file that is left over", "a file"):
            data = self.word(person, place).encode() * 40
            sha256, _ = blobs.store(lambda data=data: io.BytesIO(data), "note.txt", len(data))
            blobs.compress(Facts(sha256, "text/plain", len(data)))
            self.words[person][sha256] = f"the name of {place}"
        return sha256

    def value(self, person, column, rows, sha256):
        """What is planted in a column, beside the rows of the tables before it."""
        place = f"{short_name(column.table)}.{column.name}"
        if "person" in column.info:
            return person
        if place == "blobs.sha256":
            return sha256
        if column.foreign_keys:
            parent = next(iter(column.foreign_keys)).column
            return rows[parent.table][parent.name]
        return FORMS.get(place, str)(self.word(person, place)) if isinstance(column.type, Text) else 7

    def places(self, person):
        """What was planted for a person, but for the file of no row, and what was deleted before."""
        return {place for place in self.words[person].values() if not place.startswith(("the name of", "a file "))}

    def in_files(self, person, folder):
        """The places whose words are in the files of a folder, also compressed, or in their names."""
        found = set()
        for path in (path for path in Path(folder).rglob("*") if path.is_file()):
            data = path.name.encode() + path.read_bytes()
            data += zstd_module().decompress(path.read_bytes()) if path.suffix == SUFFIX else b""
            found |= {place for word, place in self.words[person].items() if word.encode() in data}
        return found

    async def in_tables(self, person):
        """The places whose words are in any table."""
        found = set()
        for table in metadata.sorted_tables:
            rows = await self.store.database.read(select(*(cast(column, Text) for column in table.c)))
            found |= {place for word, place in self.words[person].items() if word in str(rows)}
        return found

    async def rows_of(self, person):
        """All rows of a person by table."""
        rows = {}
        for table in TABLES:
            found = await self.store.database.read(select(table).where(belongs(table)), who=person)
            rows[table.name] = sorted(map(str, found))
        return rows


def bytes_of(person, folder):
    """The stored files of a person, as they are on the disk."""
    return {path: path.read_bytes() for path in Path(folder, "blobs", owner_key(person)).rglob("*") if path.is_file()}
