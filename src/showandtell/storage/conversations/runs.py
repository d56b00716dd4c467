"""A server's runs in the database: at most one at a time per conversation, each with a log of its output.

The stored messages are authoritative; the log is a cache of what was streamed to readers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from msgspec import Struct, structs
from sqlalchemy import (
    Connection,
    Text,
    bindparam,
    delete,
    exists,
    func,
    insert,
    literal_column,
    select,
    text,
    update,
)
from sqlalchemy.exc import IntegrityError
from sqlalchemy.sql import Executable

from showandtell.errors import Busy
from showandtell.storage.database.database import Database
from showandtell.storage.database.lease import BUSY
from showandtell.storage.database.prepared import Prepared
from showandtell.storage.database.tables import conversations, messages, run_log
from showandtell.storage.database.tables import runs as r
from showandtell.storage.database.upserts import upsert_in

#: PostgreSQL channel that notifies every worker of new output (the run's id), or of a stop (`STOP_PREFIX` and the id).
CHANNEL = "showandtell_runs"
RUNNING, ENDED = "running", "ended"
#: The heartbeat of a run that its worker has released.
RELEASED = 0.0


class RunRow(Struct, frozen=True):
    """A stored run. Its fields are the columns of `tables.runs`.

    `settings` is only read by `find_last_of` and `take_over`: it holds a user's instructions, which may be long.
    """

    id: str
    conversation_id: str
    user_id: str
    client_id: str | None
    message_id: str | None
    before: str | None
    model: str
    state: str
    stop: int
    worker: str
    beat: float
    tries: int
    created: float
    ended: float | None
    status: str | None = None
    reason: str | None = None
    settings: str | None = None


class RunEnd(Struct, frozen=True):
    """How a run ended: status, reason, and when (epoch seconds; None: when it is stored)."""

    status: str
    reason: str | None
    ended: float | None = None


class RunUpdate(Struct, frozen=True):
    """What to store of a run: numbered chunks of its log, its end, and the id of the message that it answers."""

    run_id: str
    chunks: tuple[tuple[int, str], ...] = ()
    end: RunEnd | None = None
    message_id: str | None = None


#: The columns of `RunRow` but `settings`.
RUN_COLUMNS = tuple(column for column in r.c if column is not r.c.settings)
SELECT_RUNS = select(*RUN_COLUMNS)
SELECT_RUN = SELECT_RUNS.where(r.c.id == bindparam("run"))
SELECT_BY_CLIENT_ID = SELECT_RUNS.where(
    r.c.conversation_id == bindparam("conversation"), r.c.client_id == bindparam("client")
)
SELECT_BY_PREFIX = (
    SELECT_RUNS.where(r.c.conversation_id == bindparam("conversation"))
    .where(func.substr(r.c.client_id, 1, bindparam("length")) == bindparam("prefix"))
    .order_by(r.c.created.desc())
    .limit(1)
)
SELECT_RUNNING = SELECT_RUNS.where(r.c.conversation_id == bindparam("conversation"), r.c.state == RUNNING)
#: After an approval, the same answer continues in a new run.
SELECT_LAST_OF_MESSAGE = (
    select(r)
    .where(r.c.conversation_id == bindparam("conversation"), r.c.message_id == bindparam("message"))
    .order_by(r.c.created.desc(), r.c.id.desc())
    .limit(1)
)
#: With a literal, so that it can use the index of running runs: every worker asks this every second.
SELECT_ALL_RUNNING = SELECT_RUNS.where(r.c.state == literal_column(f"'{RUNNING}'")).order_by(r.c.created)
#: Checks `tries` in the same statement, because a takeover restarts the log.
SELECT_LOG = (
    select(run_log.c.seq, run_log.c.data)
    .join(r, r.c.id == run_log.c.run_id)
    .where(run_log.c.run_id == bindparam("run"), run_log.c.seq > bindparam("after"), r.c.tries == bindparam("tries"))
    .order_by(run_log.c.seq)
)
INSERT_RUN = Prepared(insert(r))
UPDATE_OWN = update(r).where(
    r.c.id == bindparam("run"), r.c.worker == bindparam("mine", type_=Text), r.c.state == RUNNING
)
BEAT = UPDATE_OWN.values(beat=bindparam("now"), message_id=bindparam("message"))
UPDATE_HEARTBEAT = Prepared(BEAT)
UPDATE_ENDED = Prepared(
    BEAT.values(state=ENDED, ended=bindparam("ended"), status=bindparam("status"), reason=bindparam("reason"))
)
UPDATE_STOP = update(r).where(r.c.id == bindparam("run"), r.c.state == RUNNING).values(stop=1)
SELECT_STOPPED = select(r.c.id).where(r.c.worker == bindparam("mine"), r.c.state == RUNNING, r.c.stop == 1)
UPDATE_WORKER = (
    update(r)
    .where(r.c.id == bindparam("run"), r.c.worker == bindparam("old"), r.c.beat == bindparam("last"))
    .where(r.c.state == RUNNING)
    .values(worker=bindparam("mine"), beat=bindparam("now"), tries=r.c.tries + 1)
    .returning(r)
)
UPDATE_RELEASED = update(r).where(r.c.worker == bindparam("mine"), r.c.state == RUNNING).values(beat=RELEASED)
DELETE_RUN = delete(r).where(r.c.id == bindparam("run"), r.c.worker == bindparam("mine"))
DELETE_LOGS = delete(run_log).where(
    exists().where(r.c.id == run_log.c.run_id, r.c.state == ENDED, r.c.ended < bindparam("before"))
)
SELECT_CONVERSATION = select(conversations.c.id).where(conversations.c.id == bindparam("conversation"))
#: Without messages and runs. One that was created at another time than its first run was created by somebody else.
DELETE_UNUSED_CONVERSATION = delete(conversations).where(
    conversations.c.id == bindparam("conversation"),
    conversations.c.created == bindparam("created"),
    ~exists().where(messages.c.conversation_id == conversations.c.id),
    ~exists().where(r.c.conversation_id == conversations.c.id),
)
SELECT_NOTIFY = Prepared(text("SELECT pg_notify(:channel, news) FROM unnest(CAST(:news AS text[])) AS news"))
#: Prefix of a notification that asks to stop a run.
STOP_PREFIX = "stop "


class RunRefused(Busy):
    """Another run is in progress, the client's message has started one already, or the conversation is gone."""


def insert_run(connection: Connection, row: RunRow, create: Callable[[Connection, float], None] | None = None) -> None:
    """Store a new run. `create` stores a new conversation before it, at the run's time.

    Raises the errors of `create`, and `RunRefused`.
    """
    if create is not None:
        create(connection, row.created)
    try:
        INSERT_RUN.execute(connection, structs.asdict(row))
    except IntegrityError:
        raise RunRefused(BUSY) from None


async def conversation_exists(database: Database, conversation_id: str) -> bool:
    """Whether a conversation exists. Doesn't check access: the caller has done so."""
    return bool(await database.read(SELECT_CONVERSATION, conversation=conversation_id))


async def find(database: Database, run_id: str) -> RunRow | None:
    """A run by its id."""
    return _first(await database.read(SELECT_RUN, run=run_id))


async def find_of_client(database: Database, conversation_id: str, client_id: str) -> RunRow | None:
    """The run started by a client's message."""
    return _first(await database.read(SELECT_BY_CLIENT_ID, conversation=conversation_id, client=client_id))


async def find_last_with_prefix(database: Database, conversation_id: str, prefix: str) -> RunRow | None:
    """The newest run whose client id begins like this."""
    return _first(
        await database.read(SELECT_BY_PREFIX, conversation=conversation_id, prefix=prefix, length=len(prefix))
    )


async def find_running(database: Database, conversation_id: str) -> RunRow | None:
    """The current run of a conversation, or None."""
    return _first(await database.read(SELECT_RUNNING, conversation=conversation_id))


async def find_last_of(database: Database, conversation_id: str, message_id: str) -> RunRow | None:
    """The latest run that answered a message, with its settings."""
    return _first(await database.read(SELECT_LAST_OF_MESSAGE, conversation=conversation_id, message=message_id))


async def list_running(database: Database) -> tuple[RunRow, ...]:
    """All running runs, oldest first."""
    return tuple(RunRow(*row) for row in await database.read(SELECT_ALL_RUNNING))


def _first(rows: Sequence[Sequence[object]]) -> RunRow | None:
    return RunRow(*rows[0]) if rows else None  # pyright: ignore[reportArgumentType] - the columns have these types


async def write_log(database: Database, worker: str, updates: Sequence[RunUpdate], now: float) -> set[str]:
    """Store output, ends and heartbeats of a worker's runs. Returns the ids of runs that it no longer owns.

    One transaction for all of them, since on SQLite each commit waits for the disk.
    """
    return await database.write(lambda connection: store_updates(connection, worker, updates, now))


def store_updates(connection: Connection, worker: str, updates: Sequence[RunUpdate], now: float) -> set[str]:
    """Do what `write_log` does, in a transaction of the caller."""
    lost: set[str] = set()
    for item in updates:
        parameters = {"run": item.run_id, "mine": worker, "now": now, "message": item.message_id}
        if item.end is not None:
            end = {"status": item.end.status, "reason": item.end.reason, "ended": item.end.ended or now}
            changed = UPDATE_ENDED.execute(connection, {**parameters, **end})
        else:
            changed = UPDATE_HEARTBEAT.execute(connection, parameters)
        if changed.rowcount == 0:
            lost.add(item.run_id)
    owned = [item for item in updates if item.run_id not in lost]
    rows = [{"run_id": item.run_id, "seq": seq, "data": data} for item in owned for seq, data in item.chunks]
    if rows:
        UPSERT_LOG.execute(connection, *rows)
    _notify(connection, [item.run_id for item in owned if item.chunks or item.end])
    return lost


def upsert_log(dialect: str) -> Executable:
    """Store chunks of logs. A retry after a lost reply writes them again."""
    fresh = upsert_in(dialect, run_log)
    return fresh.on_conflict_do_update(index_elements=["run_id", "seq"], set_={"data": fresh.excluded.data})


UPSERT_LOG = Prepared(upsert_log)


def _notify(connection: Connection, run_ids: Sequence[str]) -> None:
    """Notify the workers with readers of these runs once the transaction commits."""
    if connection.dialect.name != "sqlite" and run_ids:
        SELECT_NOTIFY.execute(connection, {"channel": CHANNEL, "news": [*run_ids]})


async def read_log(database: Database, run_id: str, tries: int, after: int) -> list[tuple[int, str]]:
    """The log of a run after a chunk (-1: all of it). Empty if the run was taken over since `tries`."""
    return [(row[0], row[1]) for row in await database.read(SELECT_LOG, run=run_id, after=after, tries=tries)]


async def request_stop(database: Database, run_id: str) -> None:
    """Ask the worker of a run to stop it."""

    def transaction(connection: Connection) -> None:
        connection.execute(UPDATE_STOP, {"run": run_id})
        _notify(connection, [STOP_PREFIX + run_id])

    await database.write(transaction)


async def list_stops(database: Database, worker: str) -> list[str]:
    """The runs of a worker for which a stop was requested."""
    return [row[0] for row in await database.read(SELECT_STOPPED, mine=worker)]


async def take_over(database: Database, row: RunRow, worker: str, now: float) -> RunRow | None:
    """Take over the run of a dead worker and restart its log. Returns it with its settings, or None if it was taken."""
    parameters = {"run": row.id, "old": row.worker, "last": row.beat, "mine": worker, "now": now}

    def transaction(connection: Connection) -> RunRow | None:
        taken = _first(connection.execute(UPDATE_WORKER, parameters).fetchall())
        if taken is None:
            return None
        connection.execute(delete(run_log).where(run_log.c.run_id == row.id))
        _notify(connection, [row.id])
        return taken

    return await database.write(transaction)


async def release(database: Database, worker: str) -> None:
    """Release a worker's runs, because it is shutting down."""
    await database.write(lambda connection: connection.execute(UPDATE_RELEASED, {"mine": worker}))


async def delete_run(database: Database, row: RunRow) -> None:
    """Delete a worker's run that stored nothing, so that its message can be sent again.

    Its conversation is deleted, too, if it was created for this run and nothing else is in it.
    """
    parameters = {"conversation": row.conversation_id, "created": row.created}

    def transaction(connection: Connection) -> None:
        connection.execute(SELECT_CONVERSATION.with_for_update(), parameters)  # waits for a run that is just starting
        if connection.execute(DELETE_RUN, {"run": row.id, "mine": row.worker}).rowcount:
            connection.execute(DELETE_UNUSED_CONVERSATION, parameters)
        _notify(connection, [row.id])

    await database.write(transaction)


async def delete_logs(database: Database, before: float) -> None:
    """Delete the logs of runs that ended before `before` (epoch seconds). The messages contain everything."""
    await database.write(lambda connection: connection.execute(DELETE_LOGS, {"before": before}))
