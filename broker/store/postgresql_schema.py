"""The tables in PostgreSQL: the journals of any number of events, in a schema of their own."""

from typing import Final, LiteralString

import psycopg

SCHEMA: Final[LiteralString] = """
CREATE SCHEMA IF NOT EXISTS homologue;
CREATE TABLE homologue.journal (
    event       text    NOT NULL,
    height      bigint  NOT NULL,
    received_at bigint  NOT NULL,
    table_no    integer NOT NULL,
    seq         bigint  NOT NULL,
    id          text    NOT NULL,
    body        bytea   NOT NULL,
    PRIMARY KEY (event, height),
    UNIQUE (event, table_no, seq),
    UNIQUE (event, id)
);
CREATE TABLE homologue.refused (
    event       text    NOT NULL,
    number      bigint  GENERATED ALWAYS AS IDENTITY,
    received_at bigint  NOT NULL,
    code        text    NOT NULL,
    topic       bytea   NOT NULL, -- a text here cannot hold everything that a topic may
    table_no    integer,
    seq         bigint,
    id          text,
    body        bytea   NOT NULL,
    PRIMARY KEY (event, number)
);
CREATE INDEX refused_by_id ON homologue.refused (event, id);
CREATE TABLE homologue.about (
    event text NOT NULL,
    key   text NOT NULL,
    value text NOT NULL,
    PRIMARY KEY (event, key)
);
CREATE FUNCTION homologue.append_only() RETURNS trigger LANGUAGE plpgsql AS
    $$ BEGIN RAISE EXCEPTION 'the journal is append-only'; END $$;
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON homologue.journal
    FOR EACH STATEMENT EXECUTE FUNCTION homologue.append_only();
"""

ONE_AT_A_TIME: Final = 0x686F6D6F6C6F67
"""Lock under which the tables are made: "homolog" in ASCII. Those of events are hashes."""


def ensure(connection: psycopg.Connection) -> None:
    """Make the tables where there are none; whoever may only use them is not asked to."""
    with connection.transaction():
        connection.execute("SELECT pg_advisory_xact_lock(%s)", (ONE_AT_A_TIME,))
        if not exists(connection):
            connection.execute(SCHEMA)


def exists(connection: psycopg.Connection) -> bool:
    """Say whether there are tables."""
    return connection.execute("SELECT to_regclass('homologue.about')").fetchone() != (None,)
