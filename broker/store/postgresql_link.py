"""A connection with PostgreSQL on which what is committed is durable, and whose death both ends notice soon."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Final

import psycopg
from psycopg.conninfo import make_conninfo

from broker.store.errors import StoreBroken, StoreLost, StoreUnreachable

CLIENT: Final = {
    "connect_timeout": "5",
    "keepalives_idle": "5",
    "keepalives_interval": "2",
    "keepalives_count": "3",
    "tcp_user_timeout": "10000",
    "application_name": "homologue",
}
"""What our end is told, unless the address says otherwise: a network that is dead is noticed in some ten seconds."""

SERVER: Final = """
SET synchronous_commit = on;
SET tcp_keepalives_idle = 5;
SET tcp_keepalives_interval = 2;
SET tcp_keepalives_count = 3;
"""
"""What the server's end is told; `on` is not to be taken off by anybody's default."""

OLDEST: Final = 140_000
"""PostgreSQL 14: the first that ends a session of a client that has stopped (`idle_session_timeout`)."""


def connect(parameters: Mapping[str, str]) -> psycopg.Connection:
    """Connect. Raises StoreUnreachable, and StoreBroken where the server cannot do what a journal needs."""
    try:
        connection = psycopg.connect(make_conninfo("", **(CLIENT | dict(parameters))), autocommit=True)
    except psycopg.Error as error:
        raise StoreUnreachable(_line(error)) from None
    try:
        _settle(connection)
    except psycopg.Error as error:
        connection.close()
        raise StoreUnreachable(_line(error)) from None
    except StoreBroken:
        connection.close()
        raise
    return connection


def _settle(connection: psycopg.Connection) -> None:
    if connection.info.server_version < OLDEST:
        raise StoreBroken(f"PostgreSQL 14 or later is needed; this is {connection.info.server_version // 10_000}")
    if connection.execute("SHOW fsync").fetchone() == ("off",):
        raise StoreBroken("this server runs with fsync = off: it would lose in a power cut what it said was safe")
    connection.execute(SERVER)


@contextmanager
def told(connection: psycopg.Connection, what: str) -> Iterator[None]:
    """Give the library's errors as ours: the store is lost with its connection, otherwise it is broken."""
    try:
        yield
    except psycopg.Error as error:
        kind = StoreLost if connection.broken or connection.closed else StoreBroken
        raise kind(f"{what}: {_line(error)}") from error


def _line(error: psycopg.Error) -> str:
    """Give its text in one line. libpq puts no password into it."""
    return " ".join(str(error).split()) or type(error).__name__
