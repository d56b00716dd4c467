"""A server's runs in the database: one at a time for each conversation, and a log of what each has said so far.

The messages of the conversation are the truth, and the log is a cache of what readers were told.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct, structs
from sqlalchemy import Connection, Text, bindparam, delete, exists, insert, or_, select, text, update
from sqlalchemy.exc import IntegrityError

from showandtell.errors import Busy
from showandtell.storage.conversations.access import not_found
from showandtell.storage.database.database import Database
from showandtell.storage.database.lease import BUSY
from showandtell.storage.database.tables import conversations, messages, run_log, upsert
from showandtell.storage.database.tables import runs as r

#: Where PostgreSQL tells every worker that a run has said more, by its id, or shall stop: behind `SHALL_STOP`.
CHANNEL = "showandtell_runs"
RUNNING, ENDED = "running", "ended"
#: The sign of life of a run whose worker has left it.
RELEASED = 0.0


class RunRow(Struct, frozen=True):
    """A run as it is stored; its fields are the columns of `tables.runs`."""

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


class RunEnd(Struct, frozen=True):
    """How a run ended: a status, why in words, and when (epoch seconds; None: when it is stored)."""

    status: str
    reason: str | None
    ended: float | None = None


class RunUpdate(Struct, frozen=True):
    """What is to be stored of a run: pieces of its log by their place, how it ended, and what it answers."""

    run_id: str
    said: tuple[tuple[int, str], ...] = ()
    over: RunEnd | None = None
    message_id: str | None = None


SELECT_RUN = select(r).where(r.c.id == bindparam("run"))
SELECT_BY_CLIENT_ID = select(r).where(
    r.c.conversation_id == bindparam("conversation"), r.c.client_id == bindparam("client")
)
SELECT_RUNNING = select(r).where(r.c.conversation_id == bindparam("conversation"), r.c.state == RUNNING)
#: Of one answer, which goes on after an approval in a run of its own.
SELECT_LAST_OF_MESSAGE = (
    select(r)
    .where(r.c.conversation_id == bindparam("conversation"), r.c.message_id == bindparam("message"))
    .order_by(r.c.created.desc(), r.c.id.desc())
    .limit(1)
)
#: A run that goes on may not know yet what it answers.
SELECT_OF_CONVERSATION = (
    select(r)
    .where(r.c.conversation_id == bindparam("conversation"), or_(r.c.message_id.is_not(None), r.c.state == RUNNING))
    .order_by(r.c.created, r.c.id)
)
SELECT_ALL_RUNNING = select(r).where(r.c.state == RUNNING).order_by(r.c.created)
#: One statement, for who takes a run over begins its log anew.
SELECT_LOG = (
    select(run_log.c.seq, run_log.c.data)
    .join(r, r.c.id == run_log.c.run_id)
    .where(run_log.c.run_id == bindparam("run"), run_log.c.seq > bindparam("after"), r.c.tries == bindparam("tries"))
    .order_by(run_log.c.seq)
)
UPDATE_OWN = update(r).where(
    r.c.id == bindparam("run"), r.c.worker == bindparam("mine", type_=Text), r.c.state == RUNNING
)
BEAT = UPDATE_OWN.values(beat=bindparam("now"), message_id=bindparam("message"))
END = UPDATE_OWN.values(state=ENDED, ended=bindparam("now"), status=bindparam("status"), reason=bindparam("reason"))
UPDATE_STOP = update(r).where(r.c.id == bindparam("run"), r.c.state == RUNNING).values(stop=1)
SELECT_STOPPED = select(r.c.id).where(r.c.worker == bindparam("mine"), r.c.state == RUNNING, r.c.stop == 1)
UPDATE_WORKER = (
    update(r)
    .where(r.c.id == bindparam("run"), r.c.worker == bindparam("old"), r.c.beat == bindparam("last"))
    .where(r.c.state == RUNNING)
    .values(worker=bindparam("mine"), beat=bindparam("now"), tries=r.c.tries + 1)
)
UPDATE_RELEASED = update(r).where(r.c.worker == bindparam("mine"), r.c.state == RUNNING).values(beat=RELEASED)
DELETE_RUN = delete(r).where(r.c.id == bindparam("run"), r.c.worker == bindparam("mine"))
DELETE_LOGS = delete(run_log).where(
    exists().where(r.c.id == run_log.c.run_id, r.c.state == ENDED, r.c.ended < bindparam("before"))
)
SELECT_CONVERSATION = select(conversations.c.id).where(conversations.c.id == bindparam("conversation"))
DELETE_UNUSED_CONVERSATION = delete(conversations).where(
    conversations.c.id == bindparam("conversation"),
    ~exists().where(messages.c.conversation_id == conversations.c.id),
    ~exists().where(r.c.conversation_id == conversations.c.id),
)
SELECT_NOTIFY = text("SELECT pg_notify(:channel, news) FROM unnest(CAST(:news AS text[])) AS news")
#: What stands before the id of a run that shall stop.
SHALL_STOP = "stop "


async def begin(database: Database, row: RunRow) -> tuple[RunRow, bool]:
    """Store that a run begins. The same client's id once more gives the run that it began, and False.

    Raises `Busy` while another one goes on in the conversation, and `NotFound` where that was deleted.
    """

    def work(connection: Connection) -> None:
        try:
            connection.execute(insert(r), structs.asdict(row))
        except IntegrityError:
            raise Busy(BUSY) from None

    try:
        await database.write(work)
    except Busy:
        same = row.client_id and await find_of_client(database, row.conversation_id, row.client_id)
        if same:
            return same, False
        if not await is_there(database, row.conversation_id):
            raise not_found(row.conversation_id) from None
        raise
    return row, True


async def is_there(database: Database, conversation_id: str) -> bool:
    """Whether there is such a conversation, whosever it is: for who has found it a moment ago."""
    return bool(await database.read(SELECT_CONVERSATION, conversation=conversation_id))


async def find(database: Database, run_id: str) -> RunRow | None:
    """A run by its id."""
    return _first(await database.read(SELECT_RUN, run=run_id))


async def find_of_client(database: Database, conversation_id: str, client_id: str) -> RunRow | None:
    """The run that a client's message began."""
    return _first(await database.read(SELECT_BY_CLIENT_ID, conversation=conversation_id, client=client_id))


async def find_running(database: Database, conversation_id: str) -> RunRow | None:
    """The run that goes on in a conversation, if one does."""
    return _first(await database.read(SELECT_RUNNING, conversation=conversation_id))


async def find_last_of(database: Database, conversation_id: str, message_id: str) -> RunRow | None:
    """The run that was begun last to answer a message."""
    return _first(await database.read(SELECT_LAST_OF_MESSAGE, conversation=conversation_id, message=message_id))


async def list_in(database: Database, conversation_id: str) -> tuple[RunRow, ...]:
    """The runs of a conversation, the oldest first. Whoever asks has been found to be allowed to."""
    return tuple(RunRow(*row) for row in await database.read(SELECT_OF_CONVERSATION, conversation=conversation_id))


async def list_running(database: Database) -> tuple[RunRow, ...]:
    """All runs that go on, the oldest first."""
    return tuple(RunRow(*row) for row in await database.read(SELECT_ALL_RUNNING))


def _first(rows: Sequence[Sequence[object]]) -> RunRow | None:
    return RunRow(*rows[0]) if rows else None  # pyright: ignore[reportArgumentType] - the columns have these types


async def write_log(database: Database, worker: str, news: Sequence[RunUpdate], now: float) -> set[str]:
    """Store what runs have said, which of them are over, and that the others go on. Gives those that aren't ours now.

    One transaction for all of a worker's runs: on SQLite each one waits for the disk.
    """

    def work(connection: Connection) -> set[str]:
        lost: set[str] = set()
        for one in news:
            asked = {"run": one.run_id, "mine": worker, "now": now, "message": one.message_id}
            if connection.execute(BEAT, asked).rowcount == 0:
                lost.add(one.run_id)
        mine = [one for one in news if one.run_id not in lost]
        rows = [{"run_id": one.run_id, "seq": seq, "data": data} for one in mine for seq, data in one.said]
        if rows:  # once more, where nobody heard that they were stored
            fresh = upsert(connection, run_log)
            same = fresh.on_conflict_do_update(index_elements=["run_id", "seq"], set_={"data": fresh.excluded.data})
            connection.execute(same, rows)
        for one in mine:
            if one.over is not None:
                over = {"status": one.over.status, "reason": one.over.reason, "now": one.over.ended or now}
                connection.execute(END, {"run": one.run_id, "mine": worker, **over})
        _tell(connection, [one.run_id for one in mine if one.said or one.over])
        return lost

    return await database.write(work)


def _tell(connection: Connection, run_ids: Sequence[str]) -> None:
    """Wake every worker that has readers of these runs, once the transaction is done."""
    if connection.dialect.name != "sqlite" and run_ids:
        connection.execute(SELECT_NOTIFY, {"channel": CHANNEL, "news": [*run_ids]})


async def read_log(database: Database, run_id: str, tries: int, after: int) -> list[tuple[int, str]]:
    """What a run has said behind a piece (-1: all of it); nothing where it was taken over more often than that."""
    return [(row[0], row[1]) for row in await database.read(SELECT_LOG, run=run_id, after=after, tries=tries)]


async def ask_to_stop(database: Database, run_id: str) -> None:
    """Ask whichever worker runs it to stop it."""

    def work(connection: Connection) -> None:
        connection.execute(UPDATE_STOP, {"run": run_id})
        _tell(connection, [SHALL_STOP + run_id])

    await database.write(work)


async def list_stops(database: Database, worker: str) -> list[str]:
    """The runs of a worker that somebody asked to stop."""
    return [row[0] for row in await database.read(SELECT_STOPPED, mine=worker)]


async def take_over(database: Database, row: RunRow, worker: str, now: float) -> bool:
    """Take a run whose worker is gone; False where somebody else was first. Its log begins anew."""
    asked = {"run": row.id, "old": row.worker, "last": row.beat, "mine": worker, "now": now}

    def work(connection: Connection) -> bool:
        if connection.execute(UPDATE_WORKER, asked).rowcount == 0:
            return False
        connection.execute(delete(run_log).where(run_log.c.run_id == row.id))
        _tell(connection, [row.id])
        return True

    return await database.write(work)


async def release(database: Database, worker: str) -> None:
    """Leave a worker's runs to others: it ends."""
    await database.write(lambda connection: connection.execute(UPDATE_RELEASED, {"mine": worker}))


async def forget(database: Database, run_id: str, worker: str) -> None:
    """Drop a run in which nothing was stored, so that the same message can be sent again."""

    def work(connection: Connection) -> None:
        connection.execute(DELETE_RUN, {"run": run_id, "mine": worker})
        _tell(connection, [run_id])

    await database.write(work)


async def drop_unused(database: Database, conversation_id: str) -> None:
    """Drop a conversation in which nothing was ever said, and nobody is about to answer."""
    named = {"conversation": conversation_id}

    def work(connection: Connection) -> None:
        connection.execute(SELECT_CONVERSATION.with_for_update(), named)  # waits for a run that is about to begin
        connection.execute(DELETE_UNUSED_CONVERSATION, named)

    await database.write(work)


async def forget_logs(database: Database, before: float) -> None:
    """Drop the logs of runs that ended before (epoch seconds): the messages say it all."""
    await database.write(lambda connection: connection.execute(DELETE_LOGS, {"before": before}))
