"""An event's journal: append-only, in SQLite or PostgreSQL, with refused messages stored separately.

A SQLite file holds the journal of one event. The tables in PostgreSQL hold any number of journals, and each row names
its event. Everything else is derived. Both databases must pass the same tests: tests/broker/store/test_journal.py.
"""

import hashlib
import uuid
from collections import Counter
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import Any, Final, TypeVar

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
    bindparam,
    func,
    insert,
    select,
    update,
)
from sqlalchemy.exc import DBAPIError, SQLAlchemyError

from broker.errors import StoreBroken, StoreLost
from broker.protocol import LogMessage, encode, stored_form
from broker.read_ahead import FIRST_LINK, CheckedAhead, IntactRow, Rows, StoredRow
from broker.store.records import (
    DESK,
    LINK_DIGITS,
    LOST,
    DeskDecision,
    Entry,
    Fault,
    Recorded,
    Witness,
    WitnessLine,
    decoded,
    intact_rows,
    link_after,
    message_of,
    source_and_number,
)

T = TypeVar("T", bound=msgspec.Struct)

BIG: Final = BigInteger().with_variant(Integer, "sqlite")
"""STRICT tables in SQLite have only one integer type."""


@contextmanager
def transaction(connection: Connection, begin: str = "BEGIN") -> Iterator[None]:
    """Run a transaction: all or nothing. The connection must not begin transactions by itself."""
    connection.exec_driver_sql(begin)
    try:
        yield
        connection.exec_driver_sql("COMMIT")
    except BaseException:
        with suppress(SQLAlchemyError):  # the database has already rolled back, or does so when the connection closes
            connection.exec_driver_sql("ROLLBACK")
        raise


def driver_message(error: Exception) -> str:
    """Return the database driver's error message in one line. libpq puts no password into it."""
    cause = (isinstance(error, DBAPIError) and error.orig) or error
    return " ".join(str(cause).split()) or type(cause).__name__


def make_append_only(metadata: sa.MetaData, tables: Iterable[Table], text: str) -> None:
    """Make the database refuse updates and deletes on these tables, from their creation on."""
    schema = metadata.schema
    function = f"""CREATE FUNCTION {schema}.append_only() RETURNS trigger LANGUAGE plpgsql AS
    $$ BEGIN RAISE EXCEPTION '{text}'; END $$"""
    _after_create(metadata, "postgresql", function)
    for table in tables:
        _after_create(metadata, "postgresql", append_only_trigger(table, str(schema)))
        for change in ("UPDATE", "DELETE"):
            trigger = f"CREATE TRIGGER {table.name}_append_only_{change.lower()} BEFORE {change} ON {table.name}"
            _after_create(table, "sqlite", f"{trigger} BEGIN SELECT RAISE(ABORT, '{text}'); END")


def append_only_trigger(table: Table, schema: str) -> str:
    """Return the statement that makes PostgreSQL refuse to change or delete rows of a table."""
    trigger = "CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON"
    return f"{trigger} {table.fullname} FOR EACH STATEMENT EXECUTE FUNCTION {schema}.append_only()"


def _after_create(made: sa.MetaData | Table, dialect: str, statement: str) -> None:
    sa.event.listen(made, "after_create", sa.DDL(statement).execute_if(dialect=dialect))  # type: ignore[no-untyped-call] # SQLAlchemy's


class AnyText(sa.TypeDecorator[str]):
    """Text that may contain a NUL, such as a topic. PostgreSQL's text type cannot hold one."""

    impl = LargeBinary
    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: Dialect) -> bytes | None:  # noqa: ARG002 - inherited
        """Encode the text for storage."""
        return None if value is None else value.encode()

    def process_result_value(self, value: bytes | None, dialect: Dialect) -> str | None:  # noqa: ARG002 - inherited
        """Decode the stored text."""
        return None if value is None else value.decode()


class JournalTables:
    """The tables: in a file for one event, or `shared` by all events of a database."""

    def __init__(self, *, shared: bool) -> None:
        self.all = sa.MetaData(schema="homologue" if shared else None)
        key = ["event"] if shared else []
        # for one dialect only: SQLAlchemy loads all modules of every dialect that is named
        where: dict[str, Any] = {f"{'postgresql' if shared else 'sqlite'}_where": sa.text("repairs IS NULL")}

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
            Column("link", LargeBinary, nullable=shared),  # rows of version 1 have none until migration
            Column("repairs", BIG),  # height of the row set aside that this one replaces
            *(sa.Index(name, *key, *columns, unique=True, **where) for name, columns in UNIQUE_ROWS.items()),
        )
        self.set_aside = table(
            "set_aside",
            Column("number", BIG, sa.Identity(always=True), primary_key=True),
            Column("code", Text, nullable=False),
            Column("height", BIG, nullable=False),
            Column("table_no", Integer),
            Column("seq", BIG),
            Column("id", Text),
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
        make_append_only(self.all, [self.journal, self.set_aside], APPEND_ONLY)


APPEND_ONLY: Final = "the journal is append-only"

UNIQUE_ROWS: Final = {"journal_by_number": ("table_no", "seq"), "journal_by_id": ("id",)}
"""Columns that identify a row: no two rows share them, unless one repairs the other."""

VERSION: Final = 2
"""Version 1 had no links and no `set_aside` table."""

MOST_REFUSALS: Final = 1_000
"""Limit of stored refusals per table, and for those of no table. Further ones are only reported, to save disk space."""

MOST_BYTES: Final = 16_384
"""Bytes stored of a refused message's body."""

MOST_BYTES_OF_TABLE: Final = 1_000_000
MOST_BYTES_IN_ALL: Final = 50_000_000
"""Total bytes of refused bodies stored per table, and of all. Beyond them a refusal is stored without its body."""

LONGEST_TOPIC: Final = 200
"""Characters stored of a refused message's topic."""

ROWS_AT_ONCE: Final = 5_000
"""Rows read or written at once, so that a long journal is never held in memory twice."""

ROW: Final = ("height", "received_at", "table_no", "seq", "id", "body", "link", "repairs")
"""Columns of a journal row."""


@dataclass(frozen=True, slots=True)
class RefusedRow:
    """A message that was refused."""

    received_at: int
    code: str
    topic: str
    body: bytes
    table: int | None = None
    seq: int | None = None
    id: str | None = None


Follower = Callable[[Sequence[DeskDecision], Sequence[WitnessLine]], None]
"""Called after each commit with the desk's decisions in it, and the witness lines of all its rows."""

JUDGED_FROM: Final = "judged_from"
"""Key for the number of messages recorded before plays were first judged. Copies have it too."""


class Reader:
    """A journal as it was when opened. A reader changes nothing, takes no locks and does not hinder the scorer."""

    def __init__(self, engine: Engine, tables: JournalTables, event: str) -> None:
        self._engine, self._tables, self.event = engine, tables, event
        self._ahead: CheckedAhead | None = None
        """Rows that were already read and verified ahead of us."""
        self.has_links = True
        """Whether rows have links. A reader also opens stores of version 1, which have none."""
        self._connection = engine.connect()
        self._connection.begin()  # never ended, so that a lost connection is not silently replaced

    def close(self) -> None:
        """Close the reader. May be called twice."""
        if hasattr(self, "_connection"):  # opening may have failed
            self._connection.close()
            self._engine.dispose()

    def entries(self) -> Generator[Entry, None, None]:
        """Yield all accepted messages as stored, in the order in which they were accepted. Raises StoreError.

        Altered rows are skipped.
        """
        with closing(self.intact([])) as rows:
            for _, received_at, body in rows:
                yield received_at, body

    def intact(
        self, faults: list[Fault], height: int = 0, link: bytes = FIRST_LINK
    ) -> Generator[IntactRow, None, None]:
        """Yield all intact rows, and append the faults of the others to `faults`, by height alone.

        `height`, `link`: start after the row at this height, which has this link. Raises StoreError.
        """
        with closing(self.linked_rows(height)) as rows:
            yield from intact_rows(rows, faults, link, height) if self.has_links else (row[:3] for row in rows)

    def columns(self, faults: list[Fault]) -> Generator[Rows, None, None]:
        """Yield the intact rows in columns, beginning with those that were read ahead, if any. Raises StoreError."""
        height, link = 0, FIRST_LINK
        if self._ahead:
            read, height, link = self._ahead.rows()
            self._ahead = None
            if height and self.link_at(height) == link:
                yield from read
            else:
                height, link = 0, FIRST_LINK
        with closing(self.intact(faults, height, link)) as rows:
            while some := [*islice(rows, ROWS_AT_ONCE)]:
                yield Rows.of(some)

    def identify_faults(self, faults: Iterable[Fault]) -> list[Fault]:
        """Return the faults completed with the table, number and id stored in their rows. Raises StoreError."""
        columns = self._tables.journal.c
        wanted = select(columns.table_no, columns.seq, columns.id).where(*self._of_event(self._tables.journal))
        named = []
        with self._errors("the journal cannot be read"):
            for fault in faults:
                row = self._connection.execute(wanted.where(columns.height == fault.height)).first()
                known = isinstance(row and row[0], int) and isinstance(row and row[1], int)
                named.append(Fault(*fault[:2], *row) if row and known and fault.table is None else fault)
        return named

    def faults(self) -> list[Fault]:
        """Return the faults of altered rows that were not repaired, completed by `identify_faults`. Raises StoreError.

        Only links are checked, so a row that was wrong when it was written is not found.
        """
        found: list[Fault] = []
        with closing(self.intact(found)) as rows:
            for _ in rows:
                pass
        return self.unrepaired(found)

    def unrepaired(self, faults: Iterable[Fault]) -> list[Fault]:
        """Return the faults that no other row repairs, completed by `identify_faults`. Raises StoreError."""
        found = list(faults)
        repaired = self.repaired() if found else set()
        return self.identify_faults(fault for fault in found if fault.height not in repaired)

    def recorded_faults(self) -> list[Fault]:
        """Return every fault ever recorded in this journal, repaired or not. Raises StoreError."""
        if not self.has_links:
            return []
        table = self._tables.set_aside
        query = select(table.c.code, table.c.height, table.c.table_no, table.c.seq, table.c.id).order_by(table.c.number)
        return [Fault(*row) for row in self._fetch(table, query, "the recorded faults cannot be read")]

    def repaired(self) -> set[int]:
        """Return the heights of rows that another row replaces. Raises StoreError."""
        if not self.has_links:
            return set()
        journal = self._tables.journal
        query = select(journal.c.repairs).where(journal.c.repairs.is_not(None))
        return {height for (height,) in self._fetch(journal, query)}

    def agrees_with(self, witness: Witness) -> bool:
        """Return whether the journal has the last row of a witness. Raises StoreError."""
        last = witness.last()
        link = self.link_at(last.height) if last else None
        return last is not None and link is not None and link.hex()[:LINK_DIGITS] == last.link

    def has_row(self, height: int, link: bytes) -> bool:
        """Return whether the row at a height has this link, and so the rows before it agree too. Raises StoreError."""
        return self.link_at(height) == link if height else link == FIRST_LINK

    def link_at(self, height: int) -> bytes | None:
        """Return the link of the row at a height, or None if there is no such row."""
        journal = self._tables.journal
        found = self._fetch(journal, select(journal.c.link).where(journal.c.height == height))
        return found[0].link if found else None

    def witness_lines(self, after: int = 0) -> list[WitnessLine]:
        """Return the witness lines of all rows after a height. Raises StoreError."""
        journal = self._tables.journal.c
        query = select(journal.height, journal.table_no, journal.seq, journal.id, journal.link)
        with self._errors("the journal cannot be read"):
            return [WitnessLine.of(*row) for row in self._raw_rows(query, journal.height, after)]

    def lost(self, witness: Witness) -> list[Fault]:
        """Return a fault for each row that the witness lists and this journal lacks. Raises StoreError."""
        journal = self._tables.journal
        ids = {id_ for (id_,) in self._fetch(journal, select(journal.c.id))}
        return [Fault(LOST, *line[:4]) for line in dict.fromkeys(witness.lines()) if line.id not in ids]

    def whole_rows(self, after: int = 0) -> Generator[Sequence[Any], None, None]:
        """Yield all rows after a height, with every column. Raises StoreError."""
        with self._errors("the journal cannot be read"):
            columns = self._tables.journal.c
            yield from self._raw_rows(select(*(columns[name] for name in ROW)), columns.height, after)

    def linked_rows(self, after: int = 0, at_once: int = ROWS_AT_ONCE) -> Generator[StoredRow, None, None]:
        """Yield all rows after a height with their links, altered rows included.

        `at_once`: how many rows to fetch together, for callers that read only some. Raises StoreError.
        """
        columns = self._tables.journal.c
        link = columns.link if self.has_links else sa.null()
        query = select(columns.height, columns.received_at, columns.body, link)
        with self._errors("the journal cannot be read"):
            yield from self._raw_rows(query, columns.height, after, at_once)

    def first_facts(self, after: int) -> dict[int, int]:
        """Return, by table, the lowest sequence number of the facts after a height. Raises StoreError."""
        journal = self._tables.journal
        table_no, seq = journal.c.table_no, func.min(journal.c.seq)
        query = select(table_no, seq).where(journal.c.height > after, table_no > DESK).group_by(table_no)
        return {int(table): int(lowest) for table, lowest in self._fetch(journal, query)}

    def place_of(self, id_: str) -> tuple[int, int] | None:
        """Return the table and sequence number stored with an id, or None if no row has it. Raises StoreError."""
        with self._errors("the journal cannot be read"):
            found = self._connection.execute(self._by_id, {"wanted": id_}).first()
        return (found[0], found[1]) if found else None

    @cached_property
    def _by_id(self) -> sa.Select[Any]:
        """The query for the row with an id, using the index. Cached, because it runs for each new fact."""
        journal = self._tables.journal
        wanted = journal.c.id == bindparam("wanted"), journal.c.repairs.is_(None)
        return select(journal.c.table_no, journal.c.seq).where(*self._of_event(journal), *wanted)

    def last_height(self) -> int:
        """Return the height of the last row. Raises StoreError."""
        journal = self._tables.journal
        ((highest,),) = self._fetch(journal, select(func.max(journal.c.height)))
        return int(highest or 0)

    def last_link(self) -> bytes:
        """Return the link of the last row, which covers all rows. Raises StoreError."""
        journal = self._tables.journal
        last = self._fetch(journal, select(journal.c.link).order_by(journal.c.height.desc()).limit(1))
        return (last and last[0].link) or FIRST_LINK

    def _raw_rows(
        self, query: sa.Select[Any], number: Column[int], after: int = 0, at_once: int = ROWS_AT_ONCE
    ) -> Generator[Any, None, None]:
        """Yield the rows of a query, ordered by its first column (`number`), as the driver returns them."""
        query = query.where(*self._of_event(number.table)).order_by(number)
        if self._connection.dialect.name == "sqlite":  # in one pass, so that a changed number hides no row
            with closing(self._connection.execute(query.where(number > after) if after else query)) as result:
                while rows := result.cursor.fetchmany(at_once):
                    yield from rows
            return
        while rows := self._connection.execute(query.where(number > after).limit(at_once)).cursor.fetchall():
            after = rows[-1][0]
            yield from rows

    def refused(self) -> Iterator[RefusedRow]:
        """Yield all stored refusals, oldest first. Raises StoreError."""
        yield from (row for _, row in self.refused_after(0))

    def refused_after(self, number: int) -> Iterator[tuple[int, RefusedRow]]:
        """Yield the stored refusals after a given number, with their numbers, oldest first. Raises StoreError."""
        table = self._tables.refused
        names = ("number", "received_at", "code", "topic", "body", "table_no", "seq", "id")
        query = select(*(table.c[name] for name in names)).order_by(table.c.number).limit(ROWS_AT_ONCE)
        while rows := self._fetch(table, query.where(table.c.number > number), "the refused messages cannot be read"):
            yield from ((row[0], RefusedRow(*row[1:])) for row in rows)
            number = rows[-1][0]

    def stored_values(self, prefix: str) -> dict[str, str]:
        """Return the values stored beside the journal under keys with this prefix, by the rest of the key."""
        return {key.removeprefix(prefix): value for key, value in self._about().items() if key.startswith(prefix)}

    def stored_structs(self, prefix: str, kind: type[T]) -> dict[str, T]:
        """Decode stored JSON values into structs, skipping those that cannot be decoded."""
        found: dict[str, T] = {}
        for key, text in self.stored_values(prefix).items():
            with suppress(msgspec.DecodeError, UnicodeError):
                if (value := msgspec.json.decode(text, type=kind | None)) is not None:
                    found[key] = value
        return found

    def judged_from(self) -> int | None:
        """Return how many messages were recorded before plays were first judged, or None if they never were."""
        found = self.stored_values(JUDGED_FROM).get("")
        return None if found is None else int(found)

    def _fetch(self, table: Table, query: sa.Select[Any], what: str = "the journal cannot be read") -> Sequence[Any]:
        """Return the rows of our event that a query finds. Raises StoreError with `what` in its message."""
        with self._errors(what):
            return self._connection.execute(query.where(*self._of_event(table))).all()

    def _of_event(self, table: Any) -> list[ColumnElement[bool]]:  # noqa: ANN401 - columns are found by name
        """Return the condition that selects the rows of our event: a database holds several, a file only one."""
        return [table.c.event == self.event] if "event" in table.c else []

    def _about(self) -> dict[str, str]:
        """Return the key-value pairs stored beside the journal."""
        about = self._tables.about
        rows = self._connection.execute(select(about.c.key, about.c.value).where(*self._of_event(about)))
        return {key: value for key, value in rows}  # noqa: C416 - mypy does not see rows as pairs

    @contextmanager
    def _errors(self, what: str) -> Iterator[None]:
        """Convert SQLAlchemy's errors: StoreLost if the connection is gone, StoreBroken otherwise."""
        try:
            yield
        except SQLAlchemyError as error:
            kind = StoreLost if self._connection.closed or self._connection.invalidated else StoreBroken
            raise kind(f"{what}: {driver_message(error)}") from error


class Journal(Reader):
    """One event's store, open for the one active scorer. Not thread-safe."""

    BEGIN = "BEGIN"

    store: str
    """The identity of this store. Another store, or an older copy of this one, has a different one."""

    _witness: Witness | None = None
    _follower: Follower | None = None

    def read_ahead(self, ahead: CheckedAhead) -> None:
        """Use rows that were already read and verified. They are used only once."""
        self._ahead = ahead

    def follow(self, follower: Follower) -> None:
        """Set a function to be called after each commit, on the scorer's thread: it must not block."""
        self._follower = follower

    def close(self) -> None:
        """Close the journal. May be called twice."""
        super().close()
        if self._witness:
            self._witness.close()

    def _load(self, **identity: str) -> None:
        """Load the journal's counters and its end, or initialise a new journal. Raises StoreBroken."""
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
        last = select(journal.c.height, journal.c.link).where(*self._of_event(journal))
        self._height: int
        self._link: bytes
        highest = self._connection.execute(last.order_by(journal.c.height.desc()).limit(1)).first()
        self._height, self._link = highest or (0, FIRST_LINK)
        self._batch: list[dict[str, object]] = []
        self._batch_lines: list[WitnessLine] = []
        self._batch_decisions: list[DeskDecision] = []

    def _follow_witness(self, witness: Witness) -> None:
        """Set aside the rows that the witness lists but the journal lacks; update the witness. Raises StoreError."""
        self._witness = witness
        if self.agrees_with(witness):
            last = witness.last()
            witness.append(self.witness_lines(last.height if last else 0))
            return
        if lost := self.lost(witness):
            with self.commit():
                self.record_faults(lost)
        witness.rewrite(self.witness_lines())

    def last_link(self) -> bytes:
        """Return the link of the last row."""
        return self._link

    @property
    def height(self) -> int:
        """The number of messages in the journal."""
        return self._height

    @contextmanager
    def commit(self) -> Iterator[None]:
        """Write a batch: on exit all of it is durable, or none of it. Raises StoreBroken, StoreLost."""
        before = self._height, self._link
        try:
            with self._errors("nothing of the batch was stored"), transaction(self._connection, self.BEGIN):
                self._hold()
                yield
                self._write()
        except BaseException:
            self._height, self._link = before
            self._batch.clear()
            self._batch_lines.clear()
            self._batch_decisions.clear()
            raise
        lines, decisions, self._batch_lines, self._batch_decisions = self._batch_lines, self._batch_decisions, [], []
        if self._witness:
            self._witness.append(lines)
        if self._follower:
            self._follower(decisions, lines)

    def _hold(self) -> None:
        """Check, during a commit, that this scorer is still the active one. Raises StoreLost."""

    def append(
        self, message: Recorded, received_at: int, body: bytes | None = None, *, repairs: int | None = None
    ) -> None:
        """Append one accepted message. Inside `commit` only.

        `body`: its JSON as it was received, if a signature covers that. `repairs`: the height of a row that was set
        aside.
        """
        table, seq = source_and_number(message)
        body = stored_form(encode(message)) if body is None else body
        link = link_after(self._link, self._height + 1, received_at, body)
        self._add(self._height + 1, received_at, table, seq, message.id, body, link, repairs)
        if not isinstance(message, LogMessage):
            self._batch_decisions.append(DeskDecision(message, received_at, body))

    def copy_row(self, row: Sequence[Any]) -> None:
        """Copy a row of another journal unchanged, with its link, intact or not. Inside `commit` only."""
        self._add(*row)

    def _add(self, *row: Any) -> None:  # noqa: ANN401 - the columns of a row
        self._height, self._link = row[0], row[6]
        self._batch.append(dict(zip(ROW, row, strict=True)))
        if self._witness or self._follower:
            height, _, table, seq, id_, _, link, _ = row
            self._batch_lines.append(WitnessLine.of(height, table, seq, id_, link))
        if len(self._batch) == ROWS_AT_ONCE:
            self._write()

    def record_faults(self, faults: Iterable[Fault]) -> None:
        """Record faults, altered and lost rows alike, each only once. Inside `commit` only."""
        known = {(fault.code, fault.height, fault.id) for fault in self.recorded_faults()}
        for fault in faults:
            if (fault.code, fault.height, fault.id) not in known:
                self._insert(
                    self._tables.set_aside,
                    dict(zip(("code", "height", "table_no", "seq", "id"), fault, strict=True)),
                )

    def _write(self) -> None:
        if self._batch:
            self._insert(self._tables.journal, *self._batch)
            self._batch.clear()

    def _insert(self, table: Table, *rows: dict[str, object]) -> None:
        event = {"event": self.event} if "event" in table.c else {}
        self._connection.execute(insert(table), [event | row for row in rows])

    def refuse(self, row: RefusedRow) -> bool:
        """Store a refused message, unless the same refusal of the same message is stored. Return whether it is new."""
        table, body = self._tables.refused, row.body[:MOST_BYTES]
        same = {"same_id": row.id, "same_code": row.code, "same_body": body}
        if row.id and self._connection.execute(self._same_refusal, same).first():
            return False
        if self._refusals[row.table] < MOST_REFUSALS:
            size = self._refused_bytes
            fits = size[row.table] + len(body) <= MOST_BYTES_OF_TABLE and size.total() + len(body) <= MOST_BYTES_IN_ALL
            body = body if fits else b""
            size[row.table] += len(body)
            self._refusals[row.table] += 1
            topic = row.topic[:LONGEST_TOPIC]
            values = {"received_at": row.received_at, "code": row.code, "topic": topic, "body": body}
            self._insert(table, values | {"table_no": row.table, "seq": row.seq, "id": row.id})
        return True

    @cached_property
    def _same_refusal(self) -> sa.Select[Any]:
        """The query for a refusal already stored. Cached, because a flood of messages would build it for each one."""
        refused = self._tables.refused
        of_body = refused.c.body.in_((bindparam("same_body"), b""))
        about = refused.c.id == bindparam("same_id"), refused.c.code == bindparam("same_code"), of_body
        return select(1).where(*self._of_event(refused), *about)

    def set_value(self, key: str, value: str) -> None:
        """Store a value beside the journal, replacing the key's previous value. Inside `commit` only."""
        about = self._tables.about
        existing = update(about).where(*self._of_event(about), about.c.key == key)
        if not self._connection.execute(existing.values(value=value)).rowcount:
            self._insert(about, {"key": key, "value": value})

    def set_struct(self, key: str, value: msgspec.Struct | None) -> None:
        """Store a struct (or None) as JSON under a key, like `set_value`. Inside `commit` only."""
        self.set_value(key, msgspec.json.encode(value).decode())

    def messages(self) -> Iterator[Recorded]:
        """Yield all accepted messages in the order in which they were accepted. Raises StoreBroken."""
        return decoded(self.entries())

    def check(self) -> None:
        """Show that this scorer is alive, and check that it is still the active one. Raises StoreLost.

        Call it about once a second.
        """


def fingerprint(reader: Reader) -> str:
    """Return a hash of all accepted and refused messages and all faults. Equal journals have equal hashes."""
    digest = hashlib.sha256()
    for _, received_at, body, _ in reader.linked_rows():
        digest.update(repr((received_at, body)).encode())
    for row in (*reader.refused(), *reader.recorded_faults()):
        digest.update(repr(row).encode())
    return digest.hexdigest()


def copy_journal(source: Reader, target: Journal) -> int:
    """Copy a journal into an empty one, all or nothing, and verify it. Return its height. Raises StoreBroken.

    Faulty rows are copied as they are.
    """
    with target.commit():
        if source.has_links:
            for whole in source.whole_rows():
                target.copy_row(whole)
            target.record_faults(source.recorded_faults())
        else:
            for received_at, body in source.entries():
                target.append(message_of(body), received_at, body)
        for row in source.refused():
            target.refuse(row)
        if (judged_from := source.judged_from()) is not None:
            target.set_value(JUDGED_FROM, str(judged_from))
    if fingerprint(target) != fingerprint(source):
        raise StoreBroken("the copy of the journal differs from the original")
    return target.height
