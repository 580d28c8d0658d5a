"""Where accounts, sessions, the audit log, orders and keyings are kept: in SQLite or in PostgreSQL, by the same words.

Apart from the scorer's journal: results can be shown, copied and exported without anybody's password hash. The words of
SQL are those that both databases have; `?` stands for a value.
"""

from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import Any, Final, Protocol

FILE: Final = "people.sqlite"
VERSION: Final = 1
PATIENCE_S: Final = 5.0
"""The command `homologue people` may write while the desk does."""

TABLES: Final = ("accounts", "sessions", "audit", "orders", "keyings")
"""All that there is of one event, in an order in which it can be copied."""


class Answer(Protocol):
    """What a statement gives."""

    def fetchone(self) -> Any:  # noqa: ANN401 - a row of whatever the table holds
        """Give the next row, or None."""

    def fetchall(self) -> Any:  # noqa: ANN401 - as above
        """Give all rows that are left."""


class Sql(Protocol):
    """A commit that is open."""

    def execute(self, query: str, values: Sequence[object] = (), /) -> Answer:
        """Do something in it."""


class Store(Protocol):
    """One event's people. Several processes may have it open, and several threads of one process."""

    def close(self) -> None:
        """Close it; may be called twice."""

    def rows(self, query: str, *values: object) -> list[tuple[object, ...]]:
        """Ask. Raises PeopleStoreBroken."""

    def commit(self) -> AbstractContextManager[Sql]:
        """Write as one: all of it is durable at the end, or none. May be nested. Raises PeopleStoreBroken.

        One at a time: what is read inside is as it is until the end.
        """


def all_rows(sql: Sql) -> dict[str, list[tuple[object, ...]]]:
    """Give everything, table by table."""
    return {table: _rows(sql, table) for table in TABLES}


def _rows(sql: Sql, table: str) -> list[tuple[object, ...]]:
    return [tuple(row) for row in sql.execute(f"SELECT * FROM {table} ORDER BY 1").fetchall()]  # noqa: S608 - a name of ours


def put_all(sql: Sql, rows: dict[str, list[tuple[object, ...]]]) -> None:
    """Put everything into empty tables."""
    for table in TABLES:
        for row in rows[table]:
            sql.execute(f"INSERT INTO {table} VALUES ({', '.join('?' * len(row))})", row)  # noqa: S608 - as above
