"""A process that plays a table's day into a journal, one event for each line that it reads, and can be killed."""

import sys
from pathlib import Path

from kiosk.journal import TableJournal
from kiosk.table import Phase
from tests.kiosk.journals import OURS, core
from tests.kiosk.tables import sitting_in


def main(path: Path) -> None:
    """Play the rest of the day."""
    journal = TableJournal(path, OURS)
    table = core(journal)
    left = sitting_in(Phase.FINISHED).events[len([*journal.events()]) :]
    print("ready", flush=True)
    for event in left:
        if not sys.stdin.readline():
            return
        table.apply(event)
        print("accepted", flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
