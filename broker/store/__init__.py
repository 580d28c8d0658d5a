"""The room's memory: one event's journal, in SQLite or PostgreSQL, and copies of it."""

from broker.read_ahead import SETTING, STORE, gc_paused, has_started
from broker.store.journal import (
    JUDGED_FROM,
    MOST_BYTES,
    MOST_REFUSALS,
    Journal,
    Reader,
    RefusedRow,
    copy_journal,
    fingerprint,
)
from broker.store.location import (
    DatabaseAddress,
    agreed_database,
    connection_parameters,
    database_of,
    event_name,
    open_at,
    open_journal,
    open_reader,
    stand_by,
    witness_of,
    write_address,
)
from broker.store.records import Recorded, decoded, message_of
