"""An event's journal: append-only, in SQLite or PostgreSQL, and apart from it what was refused.

A file of SQLite's has the journal of one event; tables in PostgreSQL have any number, and each row names its event.
All else is derived. The laws are tests that both databases pass: tests/broker/store/test_journal.py.
"""

import gc
import hashlib
import uuid
from collections import Counter
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from typing import Any, Final

import msgspec
import sqlalchemy as sa
from sqlalchemy import (
    BigInteger,
    Column,
    ColumnElement,
    Connection,
    Dialect,
    Engine,
    Integer,
    LargeBinary,
    Table,
    Text,
    UniqueConstraint,
    func,
    insert,
    select,
    update,
)
from sqlalchemy.exc import DBAPIError, SQLAlchemyError

from broker.errors import StoreBroken, StoreLost
from broker.protocol import UNREADABLE, DeviceRecord, LogMessage, Refused, Ruling, decode, decoder, encode
from broker.protocol.signing import kept_form

BIG: Final = BigInteger().with_variant(Integer, "sqlite")
"""STRICT tables of SQLite know one kind of integer."""


@contextmanager
def transaction(connection: Connection, begin: str = "BEGIN") -> Iterator[None]:
    """Write all or nothing. The connection is one that begins no transaction by itself."""
    connection.exec_driver_sql(begin)
    try:
        yield
        connection.exec_driver_sql("COMMIT")
    except BaseException:
        with suppress(SQLAlchemyError):  # the database did it already, or drops it with the connection
            connection.exec_driver_sql("ROLLBACK")
        raise


def driver_message(error: Exception) -> str:
    """Return what the database's own library says, in one line. libpq puts no password into it."""
    cause = (isinstance(error, DBAPIError) and error.orig) or error
    return " ".join(str(cause).split()) or type(cause).__name__


def make_append_only(metadata: sa.MetaData, tables: Iterable[Table], text: str) -> None:
    """Let the database itself refuse to change or delete rows of these tables, once they have been made."""
    schema = metadata.schema
    function = f"""CREATE FUNCTION {schema}.append_only() RETURNS trigger LANGUAGE plpgsql AS
    $$ BEGIN RAISE EXCEPTION '{text}'; END $$"""
    _after_create(metadata, "postgresql", function)
    for table in tables:
        trigger = "CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON"
        _after_create(
            metadata,
            "postgresql",
            f"{trigger} {table.fullname} FOR EACH STATEMENT EXECUTE FUNCTION {schema}.append_only()",
        )
        for change in ("UPDATE", "DELETE"):
            trigger = f"CREATE TRIGGER {table.name}_append_only_{change.lower()} BEFORE {change} ON {table.name}"
            _after_create(table, "sqlite", f"{trigger} BEGIN SELECT RAISE(ABORT, '{text}'); END")


def _after_create(made: sa.MetaData | Table, dialect: str, statement: str) -> None:
    sa.event.listen(made, "after_create", sa.DDL(statement).execute_if(dialect=dialect))  # type: ignore[no-untyped-call] # the library's


class AnyText(sa.TypeDecorator[str]):
    """Text that may hold a NUL, as a topic may: PostgreSQL keeps none in a text."""

    impl = LargeBinary
    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: Dialect) -> bytes | None:  # noqa: ARG002 - the library's
        """Return what is stored."""
        return None if value is None else value.encode()

    def process_result_value(self, value: bytes | None, dialect: Dialect) -> str | None:  # noqa: ARG002 - as above
        """Return what was stored."""
        return None if value is None else value.decode()


class JournalTables:
    """The tables, in a file of one event or `shared` by the events of a database."""

    def __init__(self, *, shared: bool) -> None:
        self.all = sa.MetaData(schema="homologue" if shared else None)
        key = ["event"] if shared else []

        def table(name: str, *parts: Any) -> Table:  # noqa: ANN401 - columns and constraints
            of_event = [Column(part, Text, primary_key=True) for part in key]
            return Table(name, self.all, *of_event, *parts, sqlite_strict=True)

        self.journal = table(
            "journal",
            Column("height", BIG, primary_key=True),
            Column("received_at", BIG, nullable=False),
            Column("table_no", Integer, nullable=False),
            Column("seq", BIG, nullable=False),
            Column("id", Text, nullable=False),
            Column("body", LargeBinary, nullable=False),
            UniqueConstraint(*key, "table_no", "seq"),
            UniqueConstraint(*key, "id"),
        )
        self.refused = table(
            "refused",
            Column("number", BIG, sa.Identity(always=True), primary_key=True),
            Column("received_at", BIG, nullable=False),
            Column("code", Text, nullable=False),
            Column("topic", AnyText if shared else Text, nullable=False),
            Column("table_no", Integer),
            Column("seq", BIG),
            Column("id", Text),
            Column("body", LargeBinary, nullable=False),
            sa.Index("refused_by_id", *key, "id"),
        )
        self.about = table("about", Column("key", Text, primary_key=True), Column("value", Text, nullable=False))
        make_append_only(self.all, [self.journal], "the journal is append-only")


VERSION: Final = 1

MOST_REFUSALS: Final = 1_000
"""Of one table (or of none); beyond it they are only told, so that nobody can fill the disk with them."""

MOST_BYTES: Final = 16_384
"""Of a refused message's body."""

MOST_BYTES_OF_TABLE: Final = 1_000_000
MOST_BYTES_IN_ALL: Final = 50_000_000
"""Of all bodies of one table, and of all: beyond them a refusal is kept without what was said."""

LONGEST_TOPIC: Final = 200
"""Characters of a refused message's topic that are kept."""

DESK: Final = 0
"""The desk's number where a table's stands: its rulings have an order of their own."""

ROWS_AT_ONCE: Final = 5_000
"""Rows that are read or written together: a long journal is not held in memory twice."""

DEVICES: Final = -1
"""The same of what is decided about devices."""

Recorded = LogMessage | Ruling | DeviceRecord
"""What is accepted: facts of the tables, rulings from the desk, and which devices may speak for which table."""

Entry = tuple[int, bytes]
"""When a message was taken (wall clock, ms since 1970), and its body as it is on the wire."""


@dataclass(frozen=True, slots=True)
class RefusedRow:
    """A message that was not taken."""

    received_at: int
    code: str
    topic: str
    body: bytes
    table: int | None = None
    seq: int | None = None
    id: str | None = None


class Reader:
    """A journal as it was at one moment. Changes nothing, locks nothing, hinders no scorer."""

    def __init__(self, engine: Engine, tables: JournalTables, event: str) -> None:
        self._engine, self._tables, self._event = engine, tables, event
        self._connection = engine.connect()
        self._connection.begin()  # never ended: a connection that is lost is not made anew behind our back

    def close(self) -> None:
        """Let go of it; may be called twice."""
        if hasattr(self, "_connection"):  # it may not have been opened
            self._connection.close()
            self._engine.dispose()

    def entries(self) -> Generator[Entry, None, None]:
        """Return all accepted messages as they are stored, in the order in which they were taken. Raises StoreError."""
        columns = self._tables.journal.c
        with self._errors("the journal cannot be read"):
            for row in self._rows(columns.height, columns.received_at, columns.body):
                yield row[1], row[2]

    def refused(self) -> Iterator[RefusedRow]:
        """Return all kept refusals, oldest first. Raises StoreError."""
        columns = self._tables.refused.c
        wanted = (columns[name] for name in ("received_at", "code", "topic", "body", "table_no", "seq", "id"))
        with self._errors("what was refused cannot be read"):
            for row in self._rows(columns.number, *wanted):
                yield RefusedRow(*row[1:])

    def _rows(self, number: Column[int], *columns: Column[Any]) -> Iterator[tuple[Any, ...]]:
        """Return rows in the order of their number, which is their first column; some at a time."""
        query = select(number, *columns).where(*self._of_event(number.table)).order_by(number).limit(ROWS_AT_ONCE)
        last = 0
        while rows := self._connection.execute(query.where(number > last)).all():
            last = rows[-1][0]
            yield from rows

    def _of_event(self, table: Any) -> list[ColumnElement[bool]]:  # noqa: ANN401 - columns are found by name
        """Return the condition that a row is of our event: a file is of one event, a database of many."""
        return [table.c.event == self._event] if "event" in table.c else []

    def _about(self) -> dict[str, str]:
        """Return what is kept beside the journal."""
        about = self._tables.about
        rows = self._connection.execute(select(about.c.key, about.c.value).where(*self._of_event(about)))
        return {key: value for key, value in rows}  # noqa: C416 - rows are no pairs to mypy

    @contextmanager
    def _errors(self, what: str) -> Iterator[None]:
        """Raise the library's errors as ours: the store is lost with its connection, otherwise it is broken."""
        try:
            yield
        except SQLAlchemyError as error:
            kind = StoreLost if self._connection.closed or self._connection.invalidated else StoreBroken
            raise kind(f"{what}: {driver_message(error)}") from error


class Journal(Reader):
    """One event's store, open for the one scorer that is active. Not for several threads at once."""

    BEGIN = "BEGIN"

    store: str
    """Which store this is: another one, or an older copy of it, has another name."""

    def _load(self, **identity: str) -> None:
        """Take up the work where it was left, or begin it. Raises StoreBroken."""
        identity["version"] = str(VERSION)
        found = self._about()
        new = {key: value for key, value in ({"store": uuid.uuid4().hex} | identity).items() if key not in found}
        for key, value in new.items():
            self._insert(self._tables.about, {"key": key, "value": value})
        about = found | new
        for key, value in identity.items():
            if about[key] != value:
                raise StoreBroken(f"its {key} is {about[key]}, not {value}")
        self.store = about["store"]
        refused, journal = self._tables.refused, self._tables.journal
        bytes_ = func.coalesce(func.sum(func.length(refused.c.body)), 0)
        counts = select(refused.c.table_no, func.count(), bytes_).where(*self._of_event(refused))
        rows = self._connection.execute(counts.group_by(refused.c.table_no)).all()
        self._refusals: Counter[int | None] = Counter({table: count for table, count, _ in rows})
        self._refused_bytes: Counter[int | None] = Counter({table: int(total) for table, _, total in rows})
        highest = select(func.coalesce(func.max(journal.c.height), 0)).where(*self._of_event(journal))
        self._height: int = self._connection.execute(highest).scalar_one()
        self._batch: list[dict[str, object]] = []

    @property
    def height(self) -> int:
        """How many messages are in the journal."""
        return self._height

    @contextmanager
    def commit(self) -> Iterator[None]:
        """Write a batch as one: all of it is durable at the end, or none. Raises StoreBroken, StoreLost."""
        before = self._height
        try:
            with self._errors("nothing of the batch was kept"), transaction(self._connection, self.BEGIN):
                self._hold()
                yield
                self._write()
        except BaseException:
            self._height = before
            self._batch.clear()
            raise

    def _hold(self) -> None:
        """Make sure in a commit that this scorer is the active one. Raises StoreLost."""

    def append(self, message: Recorded, received_at: int, body: bytes | None = None) -> None:
        """Add one accepted message, of a fact its bytes as they were signed. Inside `commit` only."""
        self._height += 1
        table, seq = sequence_of(message)
        row = {"height": self._height, "received_at": received_at, "table_no": table, "seq": seq, "id": message.id}
        self._batch.append(row | {"body": kept_form(encode(message)) if body is None else body})
        if len(self._batch) == ROWS_AT_ONCE:
            self._write()

    def _write(self) -> None:
        if self._batch:
            self._insert(self._tables.journal, *self._batch)
            self._batch.clear()

    def _insert(self, table: Table, *rows: dict[str, object]) -> None:
        event = {"event": self._event} if "event" in table.c else {}
        self._connection.execute(insert(table), [event | row for row in rows])

    def refuse(self, row: RefusedRow) -> bool:
        """Keep one refused message; the same refusal of the same fact is kept once. Return whether it is a new one."""
        table, body = self._tables.refused, row.body[:MOST_BYTES]
        same = (table.c.id == row.id, table.c.code == row.code, table.c.body.in_((body, b"")))
        if row.id and self._connection.execute(select(1).where(*self._of_event(table), *same)).first():
            return False
        if self._refusals[row.table] < MOST_REFUSALS:
            kept = self._refused_bytes
            fits = kept[row.table] + len(body) <= MOST_BYTES_OF_TABLE and kept.total() + len(body) <= MOST_BYTES_IN_ALL
            body = body if fits else b""
            kept[row.table] += len(body)
            self._refusals[row.table] += 1
            topic = row.topic[:LONGEST_TOPIC]
            values = {"received_at": row.received_at, "code": row.code, "topic": topic, "body": body}
            self._insert(table, values | {"table_no": row.table, "seq": row.seq, "id": row.id})
        return True

    def remember(self, key: str, value: str) -> None:
        """Keep beside the journal what is no message, in the place of what this key had. Inside `commit` only."""
        about = self._tables.about
        there = update(about).where(*self._of_event(about), about.c.key == key)
        if not self._connection.execute(there.values(value=value)).rowcount:
            self._insert(about, {"key": key, "value": value})

    def remembered(self, prefix: str) -> dict[str, str]:
        """Return what is kept beside the journal under keys that begin so, by what follows in the key."""
        return {key.removeprefix(prefix): value for key, value in self._about().items() if key.startswith(prefix)}

    def messages(self) -> Iterator[Recorded]:
        """Return all accepted messages in the order in which they were taken. Raises StoreBroken."""
        return decoded(self.entries())

    def check(self) -> None:
        """Show that this scorer is alive, and learn whether it is still the active one. Raises StoreLost.

        To be called every second or so.
        """


def sequence_of(message: Recorded) -> tuple[int, int]:
    """Return whose message it is, and which of theirs: each pair is in a journal once."""
    if isinstance(message, LogMessage):
        return message.table, message.seq
    return (DESK if isinstance(message, Ruling) else DEVICES), message.number


def decoded(entries: Generator[Entry, None, None]) -> Iterator[Recorded]:
    """Return the messages of a journal. Raises StoreBroken."""
    with closing(entries):  # else it would end whenever the interpreter likes, maybe after its connection
        for _, body in entries:
            yield message_of(body)


fact_of: Final[Callable[[bytes], LogMessage]] = decoder(LogMessage).decode


_DEVICE_RECORDS: Final[msgspec.json.Decoder[DeviceRecord]] = msgspec.json.Decoder(DeviceRecord)


def message_of(body: bytes) -> Recorded:
    """Return what is stored as a message: nearly always a fact. Raises StoreBroken."""
    try:
        return fact_of(body)
    except UNREADABLE as no_fact:
        with suppress(Refused):
            return decode(Ruling, body)
        with suppress(*UNREADABLE):
            return _DEVICE_RECORDS.decode(body)
        raise StoreBroken(f"the journal holds what is no message: {str(no_fact)[:300]}") from None


def fingerprint(reader: Reader) -> str:
    """Return a hash of everything that was taken and refused: equal journals have the same one."""
    digest = hashlib.sha256()
    for received_at, body in reader.entries():
        digest.update(b"%d %d " % (received_at, len(body)) + body)
    for row in reader.refused():
        digest.update(repr(row).encode())
    return digest.hexdigest()


def copy_journal(source: Reader, target: Journal) -> int:
    """Copy a journal into an empty one, all or nothing, and read it back; return its height. Raises StoreBroken."""
    with target.commit():
        for received_at, body in source.entries():
            target.append(message_of(body), received_at, body)
        for row in source.refused():
            target.refuse(row)
    if fingerprint(target) != fingerprint(source):
        raise StoreBroken("the copy of the journal does not read back as what was copied")
    return target.height


@contextmanager
def gc_paused() -> Iterator[None]:
    """Look for no cycles meanwhile: to do so again and again while a journal is read takes a third of its time."""
    collecting = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collecting:
            gc.enable()
