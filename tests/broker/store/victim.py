"""A child process to be killed: `python -m tests.broker.store.victim FOLDER`.

It commits three messages, one per commit, then begins a fourth commit and stays in the middle of it.
"""

import sys
import threading
from pathlib import Path

from broker.store import open_journal
from tests.broker.scorer.small import NAME, whole_log


def main(folder: Path) -> None:
    """Print `committed` after each commit and `open` in the middle of the last, then wait to be killed."""
    journal = open_journal(folder, NAME)
    *first, last = whole_log(1)[:4]
    for message in first:
        with journal.commit():
            journal.append(message, 0)
        print("committed", flush=True)
    with journal.commit():
        journal.append(last, 0)
        print("open", flush=True)
        threading.Event().wait()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
