"""The tables of stored conversations. Records are JSON text; file bytes are in the blob store."""

from __future__ import annotations

from enum import StrEnum

from sqlalchemy import (
    BigInteger,
    Column,
    Double,
    ForeignKey,
    ForeignKeyConstraint,
    Index,
    Integer,
    MetaData,
    Table,
    Text,
    UniqueConstraint,
)
from sqlalchemy.schema import SchemaItem

#: What the names of our tables begin with: a database may have tables of other programs.
PREFIX = "showandtell_"
#: The newest revision in migrations/prefixed/versions. A database at this revision needs no migration.
HEAD = "showandtell_0007"

metadata = MetaData(
    naming_convention={
        "pk": "pk_%(table_name)s",
        "fk": "fk_%(table_name)s_%(column_0_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
    }
)


#: The revision of the tables, as one row. Alembic makes it, so that it is not among `metadata`.
revisions = Table(f"{PREFIX}version", MetaData(), Column("version_num", Text, primary_key=True))


#: The person of a server without accounts.
SINGLE_USER = "local"


class Place(StrEnum):
    """Where `showandtell users export` writes the rows of a table."""

    ARCHIVES = "archives"  # in the exported conversations, with the bytes of the files
    ACCOUNT = "account"  # in account.json
    DERIVED = "derived"  # nowhere: the other rows contain it, or nobody could read it
    SERVER = "server"  # nowhere: the rows belong to no person


def _table(name: str, place: Place, *items: SchemaItem, person: str = "") -> Table:
    """A table of ours. `person` is the one to whom all rows belong, if no column says that (see `ownership`)."""
    return Table(f"{PREFIX}{name}", metadata, *items, info={"place": place, "person": person})


def _person(name: str = "owner", *, key: bool = False) -> Column[str]:
    """A column with the id of the person to whom the row belongs."""
    return Column(name, Text, primary_key=key, nullable=False, info={"person": True})


def _secret(name: str, *, key: bool = False, nullable: bool = True) -> Column[str]:
    """A column that no export shows."""
    return Column(name, Text, primary_key=key, nullable=nullable and not key, info={"secret": True})


def _of_conversation(*, key: bool = False) -> Column[str]:
    conversation = ForeignKey(f"{PREFIX}conversations.id", ondelete="CASCADE")
    return Column("conversation_id", Text, conversation, primary_key=key, nullable=False)


def _of_blob(column: str = "sha256", name: str | None = None, ondelete: str | None = None) -> ForeignKeyConstraint:
    blob = [f"{PREFIX}blobs.owner", f"{PREFIX}blobs.sha256"]
    return ForeignKeyConstraint(["owner", column], blob, name=name, ondelete=ondelete)


#: `head` is the last message of the current branch, `next_seq` the seq of the newest message of all branches, `version`
#: counts every change. The lease columns say which writer holds which token until when (epoch seconds).
#: `metadata` is a JSON object of the program's own, `settings` a JSON record of what its owner set for it alone.
#: `pinned` and `archived` are when its owner did that (epoch seconds), or NULL.
conversations = _table(
    "conversations",
    Place.ARCHIVES,
    Column("id", Text, primary_key=True),
    _person("owner"),
    Column("title", Text, nullable=False),
    Column("head", Text),
    Column("next_seq", Integer, nullable=False),
    Column("version", Integer, nullable=False),
    Column("created", Double, nullable=False),
    Column("changed", Double, nullable=False),
    Column("lease_holder", Text),
    _secret("lease_token"),
    Column("lease_until", Double),
    Column("metadata", Text),
    Column("settings", Text),
    Column("pinned", Double),
    Column("archived", Double),
    Index(None, "owner", "changed"),
)

#: `seq` counts from 1 without gaps. `step` is set on assistant messages: usage, and the receipts that changed.
#: `created` is in epoch seconds; the record doesn't contain it.
messages = _table(
    "messages",
    Place.ARCHIVES,
    _of_conversation(),
    Column("seq", Integer, nullable=False),
    Column("id", Text, primary_key=True),
    Column("parent_id", Text),
    Column("created", Double, nullable=False),
    Column("record", Text, nullable=False),
    Column("step", Text),
    UniqueConstraint("conversation_id", "seq"),
)

#: Words by which its owner finds a conversation again.
tags = _table(
    "tags",
    Place.ARCHIVES,
    _of_conversation(key=True),
    Column("tag", Text, primary_key=True),
)

#: `sha256` is that of the stored bytes and `address` the hash of an address: one of them is set, or neither if the file
#: has a problem or was deleted. The owner is the conversation's. `state` is ready, missing, quarantined or
#: deleted, as in the record; a deleted file stays so.
#: `words` (name and description in lower case), `media_type`, `date` (ISO 8601) and `size` (NULL without stored bytes)
#: repeat the record, to find, filter and sort files. So do `name` (the first 100 characters in lower case) and `added`:
#: the moment in UTC, such as 2026-11-27T15:04:05.123, or the date of a file that was added before it was stored here.
attachments = _table(
    "attachments",
    Place.ARCHIVES,
    Column("id", Text, primary_key=True),
    _of_conversation(),
    _person("owner"),
    Column("number", Integer, nullable=False),
    Column("sha256", Text),
    Column("address", Text),
    Column("state", Text, nullable=False),
    Column("record", Text, nullable=False),
    Column("words", Text),
    Column("media_type", Text),
    Column("date", Text),
    Column("size", BigInteger),
    Column("name", Text),
    Column("added", Text),
    UniqueConstraint("conversation_id", "number"),
    _of_blob(),
    Index(None, "owner", "address"),
    Index(f"ix_{PREFIX}attachments_equal", "owner", "sha256", "added", "conversation_id", "number"),
    Index(f"ix_{PREFIX}attachments_newest", "owner", "added", "conversation_id", "number"),
    Index(None, "owner", "size", "id"),
    Index(None, "owner", "name", "id"),
)

#: `size` is that of the original bytes, `state` ready or deleting, `touched` when the bytes were last referenced,
#: `pins` the number of references that no message or conversion has used yet.
blobs = _table(
    "blobs",
    Place.ARCHIVES,
    _person("owner", key=True),
    Column("sha256", Text, primary_key=True),
    Column("size", BigInteger, nullable=False),
    Column("state", Text, nullable=False),
    Column("touched", Double, nullable=False),
    Column("pins", Integer, nullable=False),
)

#: Which blob was converted from which. A derived blob is kept as long as its source.
derivations = _table(
    "derivations",
    Place.DERIVED,
    _person("owner", key=True),
    Column("sha256", Text, primary_key=True),
    Column("source", Text, primary_key=True),
    Column("recipe", Text, primary_key=True),
    _of_blob(),
    _of_blob("source", name=f"fk_{PREFIX}derivations_source", ondelete="CASCADE"),
    Index(None, "owner", "source"),
)

#: Conversions, uploads and rejections; `at` is empty if it doesn't apply.
known = _table(
    "known",
    Place.DERIVED,
    _person("owner", key=True),
    Column("sha256", Text, primary_key=True),
    Column("recipe", Text, primary_key=True),
    Column("at", Text, primary_key=True),
    Column("record", Text, nullable=False),
)

#: Tool calls that were started and have no stored result. The call id is stored as a JSON string. `started` is in epoch
#: seconds.
intents = _table(
    "intents",
    Place.DERIVED,
    _of_conversation(key=True),
    Column("call_id", Text, primary_key=True),
    Column("started", Double, nullable=False),
)

#: Other users with access to a conversation: `access` is reader or writer.
shares = _table(
    "shares",
    Place.ACCOUNT,
    _of_conversation(key=True),
    _person("user_id", key=True),
    Column("access", Text, nullable=False),
)

#: A client's own id of a conversation, such as the `id` of a stock chat client.
aliases = _table(
    "aliases",
    Place.ACCOUNT,
    _person("owner", key=True),
    Column("alias", Text, primary_key=True),
    _of_conversation(),
    Index(None, "conversation_id"),
)

#: Uploaded files that belong to no message yet. `created` is in epoch seconds; `record` holds the probed facts.
uploads = _table(
    "uploads",
    Place.ACCOUNT,
    Column("id", Text, primary_key=True),
    _person("owner"),
    Column("sha256", Text, nullable=False),
    Column("created", Double, nullable=False),
    Column("record", Text, nullable=False),
    _of_blob(),
    Index(None, "owner", "sha256"),
    Index(None, "created"),
)

#: Messages that wait until the answers before them have ended, by `position`. `client_id` is the client's id of the
#: message, `revision` counts its edits, `problem` says why it couldn't be sent. `sender` is the process that sends it
#: now, since `claimed` (epoch seconds).
pending_messages = _table(
    "pending_messages",
    Place.ACCOUNT,
    Column("id", Text, primary_key=True),
    _of_conversation(),
    _person("user_id"),
    Column("client_id", Text, nullable=False),
    Column("position", Integer, nullable=False),
    Column("revision", Integer, nullable=False),
    Column("created", Double, nullable=False),
    Column("sender", Text),
    Column("claimed", Double),
    Column("problem", Text),
    Column("record", Text, nullable=False),
    UniqueConstraint("conversation_id", "client_id"),
)

#: Uploads that belong to a pending message: they are kept as long as it is.
pending_files = _table(
    "pending_files",
    Place.DERIVED,
    Column("upload_id", Text, ForeignKey(f"{PREFIX}uploads.id", ondelete="CASCADE"), primary_key=True),
    Column("pending_id", Text, ForeignKey(f"{PREFIX}pending_messages.id", ondelete="CASCADE"), nullable=False),
    Index(None, "pending_id"),
)

#: Runs of a server. `client_id` is the id of the client's message, so that a repeated message doesn't start a second
#: run; `message_id` is the stored message it answers, `before` the head when it started. `state` is running or ended;
#: `worker` is the process that runs it, `beat` its last heartbeat (epoch seconds), `tries` how often it was taken over;
#: `stop` is 1 once a stop was requested. `status` and `reason` describe how it ended. `settings` is a JSON record of
#: what it was started with; None for runs that older versions stored.
runs = _table(
    "runs",
    Place.ACCOUNT,
    Column("id", Text, primary_key=True),
    _of_conversation(),
    _person("user_id"),
    Column("client_id", Text),
    Column("message_id", Text),
    Column("before", Text),
    Column("model", Text, nullable=False),
    Column("state", Text, nullable=False),
    Column("stop", Integer, nullable=False),
    Column("worker", Text, nullable=False),
    Column("beat", Double, nullable=False),
    Column("tries", Integer, nullable=False),
    Column("created", Double, nullable=False),
    Column("ended", Double),
    Column("status", Text),
    Column("reason", Text),
    Column("settings", Text),
    UniqueConstraint("conversation_id", "client_id"),
    Index(None, "ended"),
)
#: At most one running run per conversation. Partial on PostgreSQL, too: so the migrations make it. To say it here would
#: load that dialect for SQLite as well.
Index(
    f"ix_{PREFIX}runs_running",
    runs.c.conversation_id,
    unique=True,
    sqlite_where=runs.c.state == "running",
)

#: The output of a run so far, in chunks as they were written: its stream, as text.
run_log = _table(
    "run_log",
    Place.DERIVED,
    Column("run_id", Text, ForeignKey(f"{PREFIX}runs.id", ondelete="CASCADE"), primary_key=True),
    Column("seq", Integer, primary_key=True),
    Column("data", Text, nullable=False),
)

#: Each user's settings, as one JSON record.
preferences = _table(
    "preferences",
    Place.ACCOUNT,
    _person("owner", key=True),
    Column("record", Text, nullable=False),
)

#: Named settings that a user can give to conversations. `record` is JSON as that of conversations has it,
#: `revision` counts its changes.
presets = _table(
    "presets",
    Place.ACCOUNT,
    Column("id", Text, primary_key=True),
    _person("owner"),
    Column("name", Text, nullable=False),
    Column("record", Text, nullable=False),
    Column("revision", Integer, nullable=False),
    UniqueConstraint("owner", "name"),
)


#: People who have signed in with an account: `name` is what others see, `seen` their last sign-in (epoch seconds),
#: `is_admin` 1 if the issuer's claims made them administrators then.
users = _table(
    "users",
    Place.ACCOUNT,
    _person("id", key=True),
    Column("name", Text, nullable=False),
    Column("seen", Double, nullable=False),
    Column("is_admin", Integer),
)

#: Sessions in browsers. `ended` is set when it was signed out. `issuer_session` is the `sid` of the accounts' issuer,
#: `refresh_token` its encrypted token, `confirmed_until` when the issuer has to confirm the user again (epoch seconds).
sessions = _table(
    "sessions",
    Place.ACCOUNT,
    _secret("id", key=True),
    _person("user_id"),
    Column("created", Double, nullable=False),
    Column("seen", Double, nullable=False),
    Column("ended", Double),
    _secret("issuer_session"),
    _secret("refresh_token"),
    Column("confirmed_until", Double),
    Index(None, "user_id"),
    Index(None, "issuer_session"),
    Index(None, "seen"),
)

#: Codes that sign in once: only their hashes. `until` is in epoch seconds; None: until it is used.
login_codes = _table(
    "login_codes",
    Place.ACCOUNT,
    _secret("sha256", key=True),
    Column("created", Double, nullable=False),
    Column("until", Double),
    person=SINGLE_USER,
)

#: Keys of providers and their base URLs, encrypted as one record. The owner is a user, or empty for all users.
#: `changed` is in epoch seconds.
provider_keys = _table(
    "provider_keys",
    Place.ACCOUNT,
    _person("owner", key=True),
    Column("provider", Text, primary_key=True),
    _secret("encrypted", nullable=False),
    Column("changed", Double, nullable=False),
)

#: Settings that all workers share and that commands may change, such as the generation of the token.
server_settings = _table(
    "server_settings",
    Place.SERVER,
    Column("name", Text, primary_key=True),
    Column("value", Text, nullable=False),
)
