"""Runs in a machine of the laboratory, with Debian's Python alone: executes commands from a virtio port.

Input is one JSON line, {"id", "command", "input": base64}; output is one JSON line, {"id", "status", "output": base64}.
For one frequent request, a process each time would be too slow in an emulator: {"id", "journal": folder} returns a
table's journal.
"""

import base64
import json
import os
import sqlite3
import subprocess
import sys
from pathlib import Path


def journal(folder: Path) -> dict[str, list[object]]:
    """Return the content of a table's journal, while the program may be writing it; empty before it exists.

    {"happened": [event, ...], "outbox": [[seq, id, state], ...]}. If a device served several tables, the journal that
    was written last.
    """
    files = sorted(folder.rglob("table.sqlite"), key=lambda file: file.stat().st_mtime)
    if not files:
        return {"happened": [], "outbox": []}
    stored = sqlite3.connect(f"file:{files[-1]}?mode=ro", uri=True)
    try:
        happened = [json.loads(event) for (event,) in stored.execute("SELECT event FROM happened ORDER BY number")]
        outbox = [list(row) for row in stored.execute("SELECT seq, id, state FROM outbox ORDER BY seq")]
    finally:
        stored.close()
    return {"happened": happened, "outbox": outbox}


def answer(line: bytes) -> bytes:
    """Execute one request; return the exit status and the output."""
    asked = json.loads(line)
    if "journal" in asked:
        try:
            status, output = 0, json.dumps(journal(Path(asked["journal"])))
        except sqlite3.Error as error:
            status, output = 1, str(error)
        return _told(asked["id"], status, output.encode())
    done = subprocess.run(
        ["/bin/bash", "-c", asked["command"]],
        input=base64.b64decode(asked.get("input", "")),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        check=False,
    )
    return _told(asked["id"], done.returncode, done.stdout)


def _told(id_: int, status: int, output: bytes) -> bytes:
    told = {"id": id_, "status": status, "output": base64.b64encode(output).decode()}
    return json.dumps(told).encode() + b"\n"


def serve(port: str) -> None:
    """Answer requests until the port is closed."""
    end = os.open(port, os.O_RDWR)
    with os.fdopen(os.dup(end), "rb", buffering=0) as lines:
        pending = b""
        while True:
            piece = lines.read(65536)
            if not piece:  # no client is connected; try again
                os.sched_yield()
                continue
            pending += piece
            while b"\n" in pending:
                line, _, pending = pending.partition(b"\n")
                told = answer(line)
                while told:
                    told = told[os.write(end, told) :]


if __name__ == "__main__":
    serve(sys.argv[1])
