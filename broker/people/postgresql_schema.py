"""Tables of the people of any number of events in PostgreSQL, beside those of the journals, in a schema of their own.

What is asked for is asked of views that show one event, the session's (`homologue.event`), so that the words of SQL
are SQLite's. A user needs no right on the tables beneath. A change of the tables is one more entry of MIGRATIONS.
"""

from typing import Final, LiteralString

import psycopg

from broker.people.errors import PeopleStoreBroken

FIRST: Final[LiteralString] = """
CREATE SCHEMA homologue_people;
CREATE TABLE homologue_people.about (version integer NOT NULL);
INSERT INTO homologue_people.about VALUES (0);
CREATE TABLE homologue_people.all_accounts (
    event    text    NOT NULL DEFAULT current_setting('homologue.event'),
    name     text    NOT NULL,
    "full"   text    NOT NULL,
    role     text    NOT NULL,
    password text    NOT NULL,
    disabled integer NOT NULL DEFAULT 0,
    made_at  bigint  NOT NULL,
    PRIMARY KEY (event, name)
);
CREATE TABLE homologue_people.all_sessions (
    event   text   NOT NULL DEFAULT current_setting('homologue.event'),
    key     text   NOT NULL,
    name    text   NOT NULL,
    made_at bigint NOT NULL,
    seen_at bigint NOT NULL,
    agent   text   NOT NULL,
    address text   NOT NULL,
    PRIMARY KEY (event, key),
    FOREIGN KEY (event, name) REFERENCES homologue_people.all_accounts
);
CREATE TABLE homologue_people.all_audit (
    event   text   NOT NULL DEFAULT current_setting('homologue.event'),
    number  bigint NOT NULL,
    at      bigint NOT NULL,
    who     text   NOT NULL,
    address text   NOT NULL,
    action  text   NOT NULL,
    about   text   NOT NULL,
    detail  text   NOT NULL,
    digest  text   NOT NULL,
    PRIMARY KEY (event, number)
);
CREATE TABLE homologue_people.all_orders (
    event  text   NOT NULL DEFAULT current_setting('homologue.event'),
    number bigint NOT NULL,
    id     text   NOT NULL,
    at     bigint NOT NULL,
    tables text   NOT NULL,
    who    text   NOT NULL,
    body   bytea  NOT NULL,
    PRIMARY KEY (event, number),
    UNIQUE (event, id)
);
CREATE TABLE homologue_people.all_keyings (
    event    text    NOT NULL DEFAULT current_setting('homologue.event'),
    number   bigint  NOT NULL,
    at       bigint  NOT NULL,
    who      text    NOT NULL,
    whose    text    NOT NULL,
    round    integer NOT NULL,
    table_no integer NOT NULL,
    after    text    NOT NULL,
    body     bytea   NOT NULL,
    reason   text    NOT NULL,
    PRIMARY KEY (event, number)
);
CREATE VIEW homologue_people.accounts AS SELECT name, "full", role, password, disabled, made_at
    FROM homologue_people.all_accounts WHERE event = current_setting('homologue.event');
CREATE VIEW homologue_people.sessions AS SELECT key, name, made_at, seen_at, agent, address
    FROM homologue_people.all_sessions WHERE event = current_setting('homologue.event');
CREATE VIEW homologue_people.audit AS SELECT number, at, who, address, action, about, detail, digest
    FROM homologue_people.all_audit WHERE event = current_setting('homologue.event');
CREATE VIEW homologue_people.orders AS SELECT number, id, at, tables, who, body
    FROM homologue_people.all_orders WHERE event = current_setting('homologue.event');
CREATE VIEW homologue_people.keyings AS SELECT number, at, who, whose, round, table_no, after, body, reason
    FROM homologue_people.all_keyings WHERE event = current_setting('homologue.event');
CREATE FUNCTION homologue_people.append_only() RETURNS trigger LANGUAGE plpgsql AS
    $$ BEGIN RAISE EXCEPTION 'audit log, orders and keyings are append-only'; END $$;
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON homologue_people.all_audit
    FOR EACH STATEMENT EXECUTE FUNCTION homologue_people.append_only();
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON homologue_people.all_orders
    FOR EACH STATEMENT EXECUTE FUNCTION homologue_people.append_only();
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON homologue_people.all_keyings
    FOR EACH STATEMENT EXECUTE FUNCTION homologue_people.append_only();
"""

MIGRATIONS: Final[tuple[LiteralString, ...]] = (FIRST,)
"""Statements that lead from one version to the next; none is ever changed once it was shipped."""

ONE_AT_A_TIME: Final = 0x686F6D6F70656F
"""Lock under which the tables are made: "homopeo" in ASCII."""


def ensure(connection: psycopg.Connection) -> None:
    """Bring the tables to our version; whoever may only use them is not asked to. Raises PeopleStoreBroken."""
    if _version(connection) == len(MIGRATIONS):
        return
    with connection.transaction():
        connection.execute("SELECT pg_advisory_xact_lock(%s)", (ONE_AT_A_TIME,))
        found = _version(connection)
        if found > len(MIGRATIONS):
            raise PeopleStoreBroken(f"the tables of people are of version {found}, not {len(MIGRATIONS)}")
        for statements in MIGRATIONS[found:]:
            connection.execute(statements)
            connection.execute("UPDATE homologue_people.about SET version = version + 1")


def _version(connection: psycopg.Connection) -> int:
    """Give the version of the tables; 0 where there are none."""
    if connection.execute("SELECT to_regclass('homologue_people.about')").fetchone() == (None,):
        return 0
    row = connection.execute("SELECT version FROM homologue_people.about").fetchone()
    return int(row[0]) if row else 0
