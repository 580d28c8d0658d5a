"""Runs in a machine of the laboratory: prints a table's journal as JSON, from the disk, beside the program that writes.

{"happened": [event, ...], "outbox": [[seq, id, state], ...]}; nothing in them where there is no journal yet.
"""

import json
import sqlite3
import sys
from pathlib import Path


def read(folder: Path) -> dict[str, list[object]]:
    """Return what the journal holds. Where a device served several tables, it is the one last written."""
    files = sorted(folder.rglob("table.sqlite"), key=lambda file: file.stat().st_mtime)
    if not files:
        return {"happened": [], "outbox": []}
    stored = sqlite3.connect(f"file:{files[-1]}?mode=ro", uri=True)
    happened = [json.loads(event) for (event,) in stored.execute("SELECT event FROM happened ORDER BY number")]
    outbox = [list(row) for row in stored.execute("SELECT seq, id, state FROM outbox ORDER BY seq")]
    return {"happened": happened, "outbox": outbox}


if __name__ == "__main__":
    print(json.dumps(read(Path(sys.argv[1]))))
