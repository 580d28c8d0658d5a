"""How long a scorer takes from opening a long journal to a page that can be shown: `... restart [TABLES ROUNDS]`."""

import gc
import sys
import tempfile
import time
from contextlib import closing
from pathlib import Path

from broker.scorer.collecting import uncollected
from broker.scorer.service import Scorer
from broker.store.sqlite import SqliteJournal
from tests.benchmarks.scorer.large import NAME, large_event, plays


def main(tables: int = 1_000, rounds: int = 160) -> None:
    """Print the times in s."""
    event = large_event(tables, rounds)
    with tempfile.TemporaryDirectory() as folder:
        store = Path(folder) / "scorer.sqlite"
        with closing(SqliteJournal(store, NAME)) as journal, journal.commit():
            for message in plays(event):
                journal.append(message, 0)
        start = time.monotonic()
        with closing(SqliteJournal(store, NAME)) as journal:
            read = sum(1 for _ in journal.messages())
            loaded = time.monotonic()
            with uncollected():
                scorer = Scorer(event, journal, Path(folder), lambda: 0)
                gc.freeze()  # as `homologue scorer` does
            done = time.monotonic()
            shown = scorer.feed.current.plays_in
        print(f"| {shown} plays, {read} messages | read and decoded {loaded - start:.2f} s |", end=" ")
        print(f"scorer ready {done - loaded:.2f} s | {store.stat().st_size / 1e6:.0f} MB |")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
