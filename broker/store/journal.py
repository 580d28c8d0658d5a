"""An event's journal: append-only, in SQLite or PostgreSQL, and apart from it what was refused.

A file of SQLite's has the journal of one event; tables in PostgreSQL have any number, and each row names its event.
All else is derived. The laws are tests that both databases pass: tests/broker/store/test_journal.py.
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
    Decided,
    Entry,
    Fault,
    Recorded,
    Witness,
    WitnessLine,
    decoded,
    intact_rows,
    link_after,
    message_of,
    sequence_of,
)

T = TypeVar("T", bound=msgspec.Struct)

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
        _after_create(metadata, "postgresql", append_only_trigger(table, str(schema)))
        for change in ("UPDATE", "DELETE"):
            trigger = f"CREATE TRIGGER {table.name}_append_only_{change.lower()} BEFORE {change} ON {table.name}"
            _after_create(table, "sqlite", f"{trigger} BEGIN SELECT RAISE(ABORT, '{text}'); END")


def append_only_trigger(table: Table, schema: str) -> str:
    """Return the statement with which PostgreSQL refuses to change or delete rows of a table."""
    trigger = "CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON"
    return f"{trigger} {table.fullname} FOR EACH STATEMENT EXECUTE FUNCTION {schema}.append_only()"


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
        # of one dialect alone: SQLAlchemy loads all modules of each that is named
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
            Column("link", LargeBinary, nullable=shared),  # rows of version 1 have none until they are migrated
            Column("repairs", BIG),  # height of a row that was set aside, in place of which this one counts
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
"""What no two rows have in common, unless one repairs the other."""

VERSION: Final = 2
"""Version 1 had no links, and nothing that was set aside."""

MOST_REFUSALS: Final = 1_000
"""Of one table (or of none); beyond it they are only told, so that nobody can fill the disk with them."""

MOST_BYTES: Final = 16_384
"""Of a refused message's body."""

MOST_BYTES_OF_TABLE: Final = 1_000_000
MOST_BYTES_IN_ALL: Final = 50_000_000
"""Of all bodies of one table, and of all: beyond them a refusal is kept without what was said."""

LONGEST_TOPIC: Final = 200
"""Characters of a refused message's topic that are kept."""

ROWS_AT_ONCE: Final = 5_000
"""Rows that are read or written together: a long journal is not held in memory twice."""

ROW: Final = ("height", "received_at", "table_no", "seq", "id", "body", "link", "repairs")
"""The columns of a row."""


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


Follower = Callable[[Sequence[Decided], Sequence[WitnessLine]], None]
"""Hears, after each commit, what was decided in it, and the names of all its rows."""

JUDGED_FROM: Final = "judged_from"
"""Under which key it is kept how many messages are from before plays were judged: a copy has it too."""


class Reader:
    """A journal as it was at one moment. Changes nothing, locks nothing, hinders no scorer."""

    def __init__(self, engine: Engine, tables: JournalTables, event: str) -> None:
        self._engine, self._tables, self.event = engine, tables, event
        self._ahead: CheckedAhead | None = None
        """What has read and verified the rows before us."""
        self.has_links = True
        """Whether rows have links: a reader opens stores of version 1 too."""
        self._connection = engine.connect()
        self._connection.begin()  # never ended: a connection that is lost is not recreated behind our back

    def close(self) -> None:
        """Let go of it; may be called twice."""
        if hasattr(self, "_connection"):  # it may not have been opened
            self._connection.close()
            self._engine.dispose()

    def entries(self) -> Generator[Entry, None, None]:
        """Return all accepted messages as they are stored, in the order in which they were taken. Raises StoreError.

        Those that are not as they were written are passed over.
        """
        with closing(self.intact([])) as rows:
            for _, received_at, body in rows:
                yield received_at, body

    def intact(
        self, faults: list[Fault], height: int = 0, link: bytes = FIRST_LINK
    ) -> Generator[IntactRow, None, None]:
        """Return all rows that are as they were written; what is wrong with others goes into `faults`, unnamed.

        `height`: of these alone that follow the row there, which has this link. Raises StoreError.
        """
        with closing(self.linked_rows(height)) as rows:
            yield from intact_rows(rows, faults, link, height) if self.has_links else (row[:3] for row in rows)

    def columns(self, faults: list[Fault]) -> Generator[Rows, None, None]:
        """Return the same by columns; at first, if somebody reads ahead, what was read there. Raises StoreError."""
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

    def name(self, faults: Iterable[Fault]) -> list[Fault]:
        """Return faults with what their rows say of themselves beside what is written there. Raises StoreError."""
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
        """Return by name the rows that are not as they were written, but those that were repaired. Raises StoreError.

        It is looked at links alone: what was never right has one that fits.
        """
        found: list[Fault] = []
        with closing(self.intact(found)) as rows:
            for _ in rows:
                pass
        return self.unrepaired(found)

    def unrepaired(self, faults: Iterable[Fault]) -> list[Fault]:
        """Return those faults by name in place of which no other row counts. Raises StoreError."""
        found = list(faults)
        repaired = self.repaired() if found else set()
        return self.name(fault for fault in found if fault.height not in repaired)

    def set_aside(self) -> list[Fault]:
        """Return every fault that was ever found here, whether it was repaired or not. Raises StoreError."""
        if not self.has_links:
            return []
        kept = self._tables.set_aside
        query = select(kept.c.code, kept.c.height, kept.c.table_no, kept.c.seq, kept.c.id).order_by(kept.c.number)
        return [Fault(*row) for row in self._fetch(kept, query, "what was set aside cannot be read")]

    def repaired(self) -> set[int]:
        """Return the heights of rows in place of which others count. Raises StoreError."""
        if not self.has_links:
            return set()
        journal = self._tables.journal
        query = select(journal.c.repairs).where(journal.c.repairs.is_not(None))
        return {height for (height,) in self._fetch(journal, query)}

    def agrees_with(self, witness: Witness) -> bool:
        """Return whether the last row that a witness has seen is here. Raises StoreError."""
        last = witness.last()
        link = self.link_at(last.height) if last else None
        return last is not None and link is not None and link.hex()[:LINK_DIGITS] == last.link

    def has_row(self, height: int, link: bytes) -> bool:
        """Return whether the row there has this link: then all before it are the same as well. Raises StoreError."""
        return self.link_at(height) == link if height else link == FIRST_LINK

    def link_at(self, height: int) -> bytes | None:
        """Return the link of a row; None if there is none."""
        journal = self._tables.journal
        found = self._fetch(journal, select(journal.c.link).where(journal.c.height == height))
        return found[0].link if found else None

    def witness_lines(self, after: int = 0) -> list[WitnessLine]:
        """Return the names of all rows after a height. Raises StoreError."""
        journal = self._tables.journal.c
        query = select(journal.height, journal.table_no, journal.seq, journal.id, journal.link)
        with self._errors("the journal cannot be read"):
            return [WitnessLine.of(*row) for row in self._raw_rows(query, journal.height, after)]

    def lost(self, witness: Witness) -> list[Fault]:
        """Return what a witness has seen and this journal has not. Raises StoreError."""
        journal = self._tables.journal
        there = {id_ for (id_,) in self._fetch(journal, select(journal.c.id))}
        return [Fault(LOST, *line[:4]) for line in dict.fromkeys(witness.lines()) if line.id not in there]

    def whole_rows(self, after: int = 0) -> Generator[Sequence[Any], None, None]:
        """Return all rows after a height with all that is stored of them. Raises StoreError."""
        with self._errors("the journal cannot be read"):
            columns = self._tables.journal.c
            yield from self._raw_rows(select(*(columns[name] for name in ROW)), columns.height, after)

    def linked_rows(self, after: int = 0, at_once: int = ROWS_AT_ONCE) -> Generator[StoredRow, None, None]:
        """Return all rows after a height with their links, as they are stored: those too that are not as written.

        `at_once`: how many are read together, for who takes only some. Raises StoreError.
        """
        columns = self._tables.journal.c
        link = columns.link if self.has_links else sa.null()
        query = select(columns.height, columns.received_at, columns.body, link)
        with self._errors("the journal cannot be read"):
            yield from self._raw_rows(query, columns.height, after, at_once)

    def first_facts(self, after: int) -> dict[int, int]:
        """Return the lowest number of the facts after a height, by table. Raises StoreError."""
        journal = self._tables.journal
        table_no, seq = journal.c.table_no, func.min(journal.c.seq)
        query = select(table_no, seq).where(journal.c.height > after, table_no > DESK).group_by(table_no)
        return {int(table): int(lowest) for table, lowest in self._fetch(journal, query)}

    def place_of(self, id_: str) -> tuple[int, int] | None:
        """Return table and number beside which an id is written, in whatever row; None: in none. Raises StoreError."""
        with self._errors("the journal cannot be read"):
            found = self._connection.execute(self._by_id, {"wanted": id_}).first()
        return (found[0], found[1]) if found else None

    @cached_property
    def _by_id(self) -> sa.Select[Any]:
        """A row with an id, as the index has it: made once, since it is looked for with each new fact."""
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
        """Return the rows of a query in the order of their number, its first column, as the driver gives them."""
        query = query.where(*self._of_event(number.table)).order_by(number)
        if self._connection.dialect.name == "sqlite":  # in the order of the file, so that a changed number hides no row
            with closing(self._connection.execute(query.where(number > after) if after else query)) as result:
                while rows := result.cursor.fetchmany(at_once):
                    yield from rows
            return
        while rows := self._connection.execute(query.where(number > after).limit(at_once)).cursor.fetchall():
            after = rows[-1][0]
            yield from rows

    def refused(self) -> Iterator[RefusedRow]:
        """Return all kept refusals, oldest first. Raises StoreError."""
        yield from (row for _, row in self.refused_after(0))

    def refused_after(self, number: int) -> Iterator[tuple[int, RefusedRow]]:
        """Return kept refusals with their numbers, oldest first, those after one of them. Raises StoreError."""
        kept = self._tables.refused
        names = ("number", "received_at", "code", "topic", "body", "table_no", "seq", "id")
        query = select(*(kept.c[name] for name in names)).order_by(kept.c.number).limit(ROWS_AT_ONCE)
        while rows := self._fetch(kept, query.where(kept.c.number > number), "what was refused cannot be read"):
            yield from ((row[0], RefusedRow(*row[1:])) for row in rows)
            number = rows[-1][0]

    def remembered(self, prefix: str) -> dict[str, str]:
        """Return what is kept beside the journal under keys that begin so, by what follows in the key."""
        return {key.removeprefix(prefix): value for key, value in self._about().items() if key.startswith(prefix)}

    def kept(self, prefix: str, kind: type[T]) -> dict[str, T]:
        """Return the same of structs that were kept as JSON; what cannot be read is as if it were not there."""
        found: dict[str, T] = {}
        for key, text in self.remembered(prefix).items():
            with suppress(msgspec.DecodeError, UnicodeError):
                if (value := msgspec.json.decode(text, type=kind | None)) is not None:
                    found[key] = value
        return found

    def judged_from(self) -> int | None:
        """Return how many messages there were when plays were judged first; None: they never were."""
        found = self.remembered(JUDGED_FROM).get("")
        return None if found is None else int(found)

    def _fetch(self, table: Table, query: sa.Select[Any], what: str = "the journal cannot be read") -> Sequence[Any]:
        """Return the rows of our event that a query of a table finds. Raises StoreError, which says `what`."""
        with self._errors(what):
            return self._connection.execute(query.where(*self._of_event(table))).all()

    def _of_event(self, table: Any) -> list[ColumnElement[bool]]:  # noqa: ANN401 - columns are found by name
        """Return the condition that a row is of our event: a file is of one event, a database of many."""
        return [table.c.event == self.event] if "event" in table.c else []

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

    _witness: Witness | None = None
    _follower: Follower | None = None

    def read_ahead(self, ahead: CheckedAhead) -> None:
        """Read once what somebody else has read and verified."""
        self._ahead = ahead

    def follow(self, follower: Follower) -> None:
        """Let somebody hear of each commit. On the scorer's thread: it must not wait."""
        self._follower = follower

    def close(self) -> None:
        """Close it; may be called twice."""
        super().close()
        if self._witness:
            self._witness.close()

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
        last = select(journal.c.height, journal.c.link).where(*self._of_event(journal))
        self._height: int
        self._link: bytes
        highest = self._connection.execute(last.order_by(journal.c.height.desc()).limit(1)).first()
        self._height, self._link = highest or (0, FIRST_LINK)
        self._batch: list[dict[str, object]] = []
        self._noted: list[WitnessLine] = []
        self._decided: list[Decided] = []

    def _follow_witness(self, witness: Witness) -> None:
        """Set aside by name what the witness has seen and the journal has no more. Raises StoreError."""
        self._witness = witness
        if self.agrees_with(witness):
            last = witness.last()
            witness.note(self.witness_lines(last.height if last else 0))
            return
        if lost := self.lost(witness):
            with self.commit():
                self.put_aside(lost)
        witness.rewrite(self.witness_lines())

    def last_link(self) -> bytes:
        """Return the link of the last row."""
        return self._link

    @property
    def height(self) -> int:
        """How many messages are in the journal."""
        return self._height

    @contextmanager
    def commit(self) -> Iterator[None]:
        """Write a batch as one: all of it is durable at the end, or none. Raises StoreBroken, StoreLost."""
        before = self._height, self._link
        try:
            with self._errors("nothing of the batch was kept"), transaction(self._connection, self.BEGIN):
                self._hold()
                yield
                self._write()
        except BaseException:
            self._height, self._link = before
            self._batch.clear()
            self._noted.clear()
            self._decided.clear()
            raise
        noted, decided, self._noted, self._decided = self._noted, self._decided, [], []
        if self._witness:
            self._witness.note(noted)
        if self._follower:
            self._follower(decided, noted)

    def _hold(self) -> None:
        """Make sure in a commit that this scorer is the active one. Raises StoreLost."""

    def append(
        self, message: Recorded, received_at: int, body: bytes | None = None, *, repairs: int | None = None
    ) -> None:
        """Add one accepted message. Inside `commit` only.

        `body`: its JSON as it came, where a signature covers that. `repairs`: the height of a row that was set aside.
        """
        table, seq = sequence_of(message)
        body = stored_form(encode(message)) if body is None else body
        link = link_after(self._link, self._height + 1, received_at, body)
        self._add(self._height + 1, received_at, table, seq, message.id, body, link, repairs)
        if not isinstance(message, LogMessage):
            self._decided.append(Decided(message, received_at, body))

    def copy_row(self, row: Sequence[Any]) -> None:
        """Add one row of another journal as it is, with its link, whole or not. Inside `commit` only."""
        self._add(*row)

    def _add(self, *row: Any) -> None:  # noqa: ANN401 - as they are stored
        self._height, self._link = row[0], row[6]
        self._batch.append(dict(zip(ROW, row, strict=True)))
        if self._witness or self._follower:
            height, _, table, seq, id_, _, link, _ = row
            self._noted.append(WitnessLine.of(height, table, seq, id_, link))
        if len(self._batch) == ROWS_AT_ONCE:
            self._write()

    def put_aside(self, faults: Iterable[Fault]) -> None:
        """Keep what is wrong with rows, or that they are gone; each once. Inside `commit` only."""
        known = {(fault.code, fault.height, fault.id) for fault in self.set_aside()}
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
        """Keep one refused message; the same refusal of the same fact is kept once. Return whether it is a new one."""
        table, body = self._tables.refused, row.body[:MOST_BYTES]
        same = {"same_id": row.id, "same_code": row.code, "same_body": body}
        if row.id and self._connection.execute(self._same_refusal, same).first():
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

    @cached_property
    def _same_refusal(self) -> sa.Select[Any]:
        """A refusal that is kept: made once, since who floods a scorer would have it made for each message."""
        refused = self._tables.refused
        of_body = refused.c.body.in_((bindparam("same_body"), b""))
        about = refused.c.id == bindparam("same_id"), refused.c.code == bindparam("same_code"), of_body
        return select(1).where(*self._of_event(refused), *about)

    def remember(self, key: str, value: str) -> None:
        """Keep beside the journal what is no message, in place of what this key had. Inside `commit` only."""
        about = self._tables.about
        there = update(about).where(*self._of_event(about), about.c.key == key)
        if not self._connection.execute(there.values(value=value)).rowcount:
            self._insert(about, {"key": key, "value": value})

    def keep(self, key: str, value: msgspec.Struct | None) -> None:
        """Keep a struct in the same way, or None for none. Inside `commit` only."""
        self.remember(key, msgspec.json.encode(value).decode())

    def messages(self) -> Iterator[Recorded]:
        """Return all accepted messages in the order in which they were taken. Raises StoreBroken."""
        return decoded(self.entries())

    def check(self) -> None:
        """Show that this scorer is alive, and learn whether it is still the active one. Raises StoreLost.

        To be called every second or so.
        """


def fingerprint(reader: Reader) -> str:
    """Return a hash of everything that was taken and refused: equal journals have the same one."""
    digest = hashlib.sha256()
    for _, received_at, body, _ in reader.linked_rows():
        digest.update(repr((received_at, body)).encode())
    for row in (*reader.refused(), *reader.set_aside()):
        digest.update(repr(row).encode())
    return digest.hexdigest()


def copy_journal(source: Reader, target: Journal) -> int:
    """Copy a journal into an empty one, all or nothing, and read it back; return its height. Raises StoreBroken.

    What is wrong with it stays wrong: a copy hides nothing.
    """
    with target.commit():
        if source.has_links:
            for whole in source.whole_rows():
                target.copy_row(whole)
            target.put_aside(source.set_aside())
        else:
            for received_at, body in source.entries():
                target.append(message_of(body), received_at, body)
        for row in source.refused():
            target.refuse(row)
        if (judged_from := source.judged_from()) is not None:
            target.remember(JUDGED_FROM, str(judged_from))
    if fingerprint(target) != fingerprint(source):
        raise StoreBroken("the copy of the journal does not read back as what was copied")
    return target.height
