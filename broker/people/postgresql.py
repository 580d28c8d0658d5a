"""Accounts in PostgreSQL, next to the event's journal, so that an active scorer and its standby share them.

The tables are in their own schema and hold the accounts of all events. Views show those of one event.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Final

import psycopg
import sqlalchemy as sa
from psycopg.errors import InsufficientPrivilege
from sqlalchemy import Column, Connection, Text
from sqlalchemy.exc import DBAPIError
from sqlalchemy.schema import CreateSchema

from broker.errors import StoreError
from broker.people.database import (
    ADDED_LATER,
    APPEND_ONLY,
    APPEND_ONLY_TEXT,
    PATIENCE_S,
    SESSIONS,
    TABLES,
    VERSION,
    PeopleDatabase,
)
from broker.people.errors import PeopleStoreBroken
from broker.store import make_append_only, transaction
from broker.store.postgresql import lock_number, open_session, postgresql_engine

SESSION: Final = """
SELECT set_config('homologue.event', %s, false), set_config('search_path', 'homologue_people', false),
       set_config('lock_timeout', %s, false)
"""


class PostgresPeople(PeopleDatabase):
    """The accounts and logs of one event in PostgreSQL. A lost connection is reopened on the next use."""

    def __init__(self, parameters: Mapping[str, str], event: str, witness: Path | None = None) -> None:
        """Connect, and create the tables if there are none. Raises PeopleStoreBroken."""
        self._parameters, self._event = parameters, event
        self._key = lock_number(f"homologue event people {event}")
        super().__init__(postgresql_engine(self._session, poolclass=sa.QueuePool, pool_pre_ping=True), witness)
        try:
            with self._connected() as connection:
                ensure_people_schema(connection)
        except PeopleStoreBroken as error:
            self.close()
            cause = error.__cause__
            if isinstance(cause, DBAPIError) and isinstance(cause.orig, InsufficientPrivilege):
                raise PeopleStoreBroken(f"only another database user may create these tables: {error}") from None
            raise

    def _session(self) -> psycopg.Connection:
        try:
            session = open_session(self._parameters)
        except StoreError as error:
            raise PeopleStoreBroken(str(error)) from None
        if session.execute("SHOW server_encoding").fetchone() != ("UTF8",):
            session.close()
            raise PeopleStoreBroken("names are kept in UTF8: recreate the database with that encoding")
        session.execute(SESSION, (self._event, f"{PATIENCE_S:.0f}s"))
        return session

    def _exclude_others(self, connection: Connection) -> None:
        connection.execute(sa.select(sa.func.pg_advisory_xact_lock(self._key)))


SCHEMA: Final = "homologue_people"
CURRENT_EVENT: Final = "current_setting('homologue.event')"
SHARED: Final = sa.MetaData(schema=SCHEMA)
ABOUT: Final = sa.Table("about", SHARED, Column("version", sa.Integer, nullable=False))


def _shared_table(table: sa.Table, *constraints: sa.Constraint) -> sa.Table:
    """Return the table that holds the rows of all events, with the event as part of its key."""
    return sa.Table(
        f"all_{table.name}",
        SHARED,
        Column("event", Text, primary_key=True, server_default=sa.text(CURRENT_EVENT)),
        *(
            Column(one.name, one.type, primary_key=one.primary_key, nullable=False, server_default=one.server_default)
            for one in table.c
        ),
        *(sa.UniqueConstraint("event", one.name) for one in table.c if one.unique),
        *constraints,
    )


ACCOUNT_KEY: Final = [f"{SCHEMA}.all_accounts.event", f"{SCHEMA}.all_accounts.name"]
CONSTRAINTS: Final = {SESSIONS: [sa.ForeignKeyConstraint(["event", "name"], ACCOUNT_KEY)]}
SHARED_TABLES: Final = {table: _shared_table(table, *CONSTRAINTS.get(table, [])) for table in TABLES}
make_append_only(SHARED, [SHARED_TABLES[table] for table in APPEND_ONLY], APPEND_ONLY_TEXT)

SCHEMA_LOCK: Final = 0x686F6D6F70656F
"""Advisory lock under which the tables are created: "homopeo" in ASCII."""


def ensure_people_schema(connection: Connection) -> None:
    """Create missing tables; if none are missing, no right to create tables is needed. Raises PeopleStoreBroken."""
    if _version(connection) == VERSION and not _missing(connection):
        return
    with transaction(connection):
        connection.execute(sa.select(sa.func.pg_advisory_xact_lock(SCHEMA_LOCK)))
        found = _version(connection)
        if found not in {0, VERSION}:
            raise PeopleStoreBroken(f"the tables of people are of version {found}, not {VERSION}")
        _make_tables(connection, fresh=not found)


def _missing(connection: Connection) -> list[sa.Table]:
    """Return the later tables that this database does not have yet."""
    found = {table: sa.func.to_regclass(f"{SCHEMA}.{SHARED_TABLES[table].name}") for table in ADDED_LATER}
    return [table for table in ADDED_LATER if connection.execute(sa.select(found[table])).scalar() is None]


def _version(connection: Connection) -> int:
    """Return the version of the tables; 0 if there are none."""
    if connection.execute(sa.select(sa.func.to_regclass(f"{SCHEMA}.about"))).scalar() is None:
        return 0
    return connection.execute(sa.select(ABOUT.c.version)).scalar() or 0


def _make_tables(connection: Connection, *, fresh: bool) -> None:
    """Create the schema with all its tables if it is `fresh`, else the missing tables."""
    missing = TABLES if fresh else _missing(connection)
    if fresh:
        connection.execute(CreateSchema(SCHEMA))
        SHARED.create_all(connection, checkfirst=False)
        connection.execute(sa.insert(ABOUT).values(version=VERSION))
    else:
        for table in missing:
            SHARED_TABLES[table].create(connection)
    for table in missing:
        columns = ", ".join(f'"{column.name}"' for column in table.c)
        connection.exec_driver_sql(
            f"CREATE VIEW {SCHEMA}.{table.name} AS SELECT {columns} "  # noqa: S608 - constant names
            f"FROM {SCHEMA}.all_{table.name} WHERE event = {CURRENT_EVENT}"
        )
