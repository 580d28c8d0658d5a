"""The storage layer: an event's journal, in SQLite or PostgreSQL, and backup copies of it."""

from broker.read_ahead import COLUMNS, FIRST_LINK, STORE, TEXTS, CheckedAhead, IntactRow, Rows, gc_paused, has_started
from broker.store.backup import (
    MANIFEST,
    BackupManifest,
    check_copy,
    check_sqlite,
    choose_copy,
    copy_faults,
    copy_file,
    copy_names,
    make_copy,
    read_manifest,
    refuse_nonempty,
    restore_copy,
)
from broker.store.backup_worker import BackupReport, BackupWorker
from broker.store.journal import (
    BIG,
    JUDGED_FROM,
    Journal,
    Reader,
    RefusedRow,
    copy_journal,
    driver_message,
    make_append_only,
    transaction,
)
from broker.store.location import (
    PAUSE_S,
    DatabaseAddress,
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
from broker.store.records import (
    ALTERED,
    BAD_SIGNATURE,
    DESK,
    DEVICES,
    LINK_ALTERED,
    LOST,
    MISSING,
    UNREADABLE_ROW,
    WITNESS_SUFFIX,
    WRONG_POINTS,
    AnchorPlace,
    DeskDecision,
    Entry,
    Fault,
    LogHead,
    Recorded,
    Witness,
    WitnessLine,
    anchor_text,
    facts_of,
    find_anchor,
    link_after,
    message_of,
    source_and_number,
)
from broker.store.second_home import SecondHome, SecondHomeWriter
from broker.store.sqlite import (
    SqliteJournal,
    SqliteReader,
    lock_store,
    open_for_reading,
    open_for_writing,
    sqlite_engine,
)
