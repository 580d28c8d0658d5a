"""The journal in PostgreSQL: the same laws as in SQLite, for several events and for scorers on several machines."""

import uuid
from collections import Counter
from collections.abc import Generator, Iterator, Mapping
from contextlib import contextmanager
from typing import Final

from broker.contract.wire import encode
from broker.store import postgresql_schema
from broker.store.errors import StoreBroken, StoreError
from broker.store.journal import MOST_BYTES, MOST_REFUSALS, VERSION, Entry, Kept, RefusedRow, decoded, numbered
from broker.store.lease import Lease
from broker.store.postgresql_link import connect, told
from broker.store.postgresql_reading import entries_in, refused_in

ABOUT: Final = "INSERT INTO homologue.about VALUES (%s, %s, %s) ON CONFLICT DO NOTHING"

REMEMBER: Final = """
INSERT INTO homologue.about VALUES (%s, %s, %s) ON CONFLICT (event, key) DO UPDATE SET value = EXCLUDED.value
"""

REMEMBERED: Final = "SELECT key, value FROM homologue.about WHERE event = %s AND starts_with(key, %s)"

APPEND: Final = "COPY homologue.journal (event, height, received_at, table_no, seq, id, body) FROM STDIN"

AT_ONCE: Final = 5_000
"""Messages that are sent together; a commit may have more."""

SAME: Final = "SELECT 1 FROM homologue.refused WHERE event = %s AND id = %s AND code = %s AND body = %s"

REFUSE: Final = """
INSERT INTO homologue.refused (event, received_at, code, topic, table_no, seq, id, body)
VALUES (%s, %s, %s, %s, %s, %s, %s, %s)
"""


class PostgresJournal:
    """One event's journal, open for the scorer that is active."""

    def __init__(self, parameters: Mapping[str, str], event: str) -> None:
        """Become the active scorer. Raises StoreInUse, StoreUnreachable, StoreBroken."""
        self._event = event
        self._connection = connect(parameters)
        try:
            with told(self._connection, "the store cannot be opened"):
                self._open()
        except StoreError:
            self.close()
            raise

    def _open(self) -> None:
        postgresql_schema.ensure(self._connection)
        self._lease = Lease(self._connection, self._event)
        for key, value in (("version", str(VERSION)), ("store", uuid.uuid4().hex)):
            self._connection.execute(ABOUT, (self._event, key, value))
        rows = self._connection.execute("SELECT key, value FROM homologue.about WHERE event = %s", (self._event,))
        about: dict[str, str] = dict(rows.fetchall())
        if about["version"] != str(VERSION):
            raise StoreBroken(f"its version is {about['version']}, not {VERSION}")
        self.store: str = about["store"]
        counted = "SELECT table_no, count(*) FROM homologue.refused WHERE event = %s GROUP BY table_no"
        self._refusals: Counter[int | None] = Counter(
            dict(self._connection.execute(counted, (self._event,)).fetchall())
        )
        self._height = self._count()
        self._batch: list[tuple[Kept, int]] = []

    def _count(self) -> int:
        highest = "SELECT coalesce(max(height), 0) FROM homologue.journal WHERE event = %s"
        row = self._connection.execute(highest, (self._event,)).fetchone()
        return int(row[0]) if row else 0

    def close(self) -> None:
        """Close it, and be active no more; may be called twice."""
        self._connection.close()

    @contextmanager
    def commit(self) -> Iterator[None]:
        """Write a batch as one: all of it is durable at the end, or none."""
        self._batch.clear()
        before = self._height
        try:
            with told(self._connection, "nothing of the batch was kept"), self._connection.transaction():
                self._lease.hold()
                yield
                self._write()
        except BaseException:
            self._height = before
            raise

    def _write(self) -> None:
        if not self._batch:
            return
        with self._connection.cursor().copy(APPEND) as rows:
            for height, (message, received_at) in enumerate(self._batch, self._height + 1):
                told_by = (*numbered(message), message.id)
                rows.write_row((self._event, height, received_at, *told_by, encode(message)))
        self._height += len(self._batch)
        self._batch.clear()

    @property
    def height(self) -> int:
        """How many messages are in the journal."""
        return self._height

    def append(self, message: Kept, received_at: int) -> None:
        """Add one accepted message."""
        self._batch.append((message, received_at))
        if len(self._batch) == AT_ONCE:
            self._write()

    def refuse(self, row: RefusedRow) -> bool:
        """Keep one refused message; the same refusal of the same fact is kept once. Tell whether it is a new one."""
        body = row.body[:MOST_BYTES]
        if row.id and self._connection.execute(SAME, (self._event, row.id, row.code, body)).fetchone():
            return False
        if self._refusals[row.table] < MOST_REFUSALS:
            self._refusals[row.table] += 1
            about = (row.received_at, row.code, row.topic.encode(), row.table, row.seq, row.id)
            self._connection.execute(REFUSE, (self._event, *about, body))
        return True

    def remember(self, key: str, value: str) -> None:
        """Keep beside the journal what is no message, in the place of what this key had."""
        self._connection.execute(REMEMBER, (self._event, key, value))

    def remembered(self, prefix: str) -> dict[str, str]:
        """Give what is kept beside the journal under keys that begin so, by what follows in the key."""
        rows = self._connection.execute(REMEMBERED, (self._event, prefix)).fetchall()
        return {key.removeprefix(prefix): value for key, value in rows}

    def messages(self) -> Iterator[Kept]:
        """Give all accepted messages in the order in which they were taken. Raises StoreBroken."""
        return decoded(self.entries())

    def entries(self) -> Generator[Entry, None, None]:
        """Give all accepted messages as they are stored. Raises StoreBroken, StoreLost."""
        return entries_in(self._connection, self._event)

    def refused(self) -> Iterator[RefusedRow]:
        """Give all kept refusals, oldest first."""
        return refused_in(self._connection, self._event)

    def check(self) -> None:
        """Say that we are alive, and learn whether we are still the active one. Raises StoreLost."""
        self._lease.pulse()
