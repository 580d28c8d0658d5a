"""SQLAlchemy Core as both databases use it, and the tables of a journal.

A file of SQLite's has the journal of one event; tables in PostgreSQL have any number, and each row names its event.
"""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, Final

import sqlalchemy as sa
from sqlalchemy import BigInteger, Column, Connection, Dialect, Integer, LargeBinary, Table, Text, UniqueConstraint
from sqlalchemy.exc import DBAPIError, SQLAlchemyError

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
